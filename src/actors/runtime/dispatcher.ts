// Runs the lanes of one kind in this process, with limited concurrency and each lane at most once at a time. A lane that waits for another
// server gives its slot to others after a moment, so that hanging servers do not stop the lanes of healthy ones.

export interface Slot {
  /** Runs `work`, which mostly waits for others; the slot is released meanwhile and taken again afterwards. */
  patiently<T>(work: () => Promise<T>): Promise<T>
}

/** How long a waiting lane keeps its slot, and how many may wait without a slot. */
export interface Patience {
  ms: number
  atMost: number
}

/** Lanes beyond this length are left to the sweeper. */
const LONGEST_LINE = 20_000

export type Dispatcher = ReturnType<typeof makeDispatcher>

export function makeDispatcher(options: {
  concurrency: () => number
  patience: () => Patience
  work: (key: string, slot: Slot) => Promise<void>
}) {
  const line = new Map<string, (() => void)[]>()
  const atWork = new Set<string>()
  /** Lanes that got a hint while they were being drained. */
  const again = new Set<string>()
  const returning: (() => void)[] = []
  let taken = 0
  let patient = 0
  let stopped = false

  function pump(): void {
    while (taken < options.concurrency()) {
      const back = returning.shift()
      if (back) {
        taken += 1
        back()
        continue
      }
      const [next] = line
      if (!next) return
      line.delete(next[0])
      taken += 1
      void workOn(...next)
    }
  }

  async function workOn(key: string, done: (() => void)[]): Promise<void> {
    atWork.add(key)
    try {
      await options.work(key, { patiently })
    } finally {
      taken -= 1
      atWork.delete(key)
      if (again.delete(key) && !stopped) line.set(key, done)
      else for (const tell of done) tell()
      pump()
    }
  }

  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const { ms, atMost } = options.patience()
    let away = false
    // While too many are waiting without a slot, try again.
    const timer = setInterval(() => {
      if (away || patient >= atMost) return
      away = true
      patient += 1
      taken -= 1
      pump()
    }, ms)
    try {
      return await work()
    } finally {
      clearInterval(timer)
      if (away) {
        patient -= 1
        await new Promise<void>((resolve) => {
          returning.push(resolve)
          pump()
        })
      }
    }
  }

  return {
    /** Resolves when the lane was drained; at once if it is queued already. */
    run(key: string): Promise<void> {
      return new Promise((resolve) => {
        if (stopped || line.has(key)) return resolve()
        if (atWork.has(key)) {
          again.add(key)
          return resolve()
        }
        if (line.size >= LONGEST_LINE) return resolve()
        line.set(key, [resolve])
        pump()
      })
    },
    /** Accepts no more lanes and clears the queue. */
    stop(): void {
      stopped = true
      for (const done of line.values()) for (const tell of done) tell()
      line.clear()
    },
  }
}
