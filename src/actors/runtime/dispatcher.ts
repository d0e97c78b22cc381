// Hands lanes of one kind to the workers of this process: so many at once, each lane once. Who only waits for another
// server lends its place to others after a moment, so that servers that hang do not stop the lanes of the healthy ones.

export interface Slot {
  /** Runs `work`, which waits for others most of the time; the place is given away meanwhile, and taken again after it. */
  patiently<T>(work: () => Promise<T>): Promise<T>
}

export interface Dispatcher {
  /** Resolves when the lane was worked; at once when it is in line already. */
  run(key: string): Promise<void>
  /** Takes no more, and forgets who is in line. */
  stop(): void
}

/** How long a place is kept by who waits, and how many may wait without a place. */
export interface Patience {
  ms: number
  atMost: number
}

/** More lanes than this are left to the sweeper. */
const LONGEST_LINE = 20_000

export function makeDispatcher(options: {
  concurrency: () => number
  patience: () => Patience
  work: (key: string, slot: Slot) => Promise<void>
}): Dispatcher {
  const line = new Map<string, (() => void)[]>()
  const atWork = new Set<string>()
  /** Lanes that were hinted while they were worked. */
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
    // While too many are away already, it is tried again.
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
    run(key) {
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
    stop() {
      stopped = true
      for (const done of line.values()) for (const tell of done) tell()
      line.clear()
    },
  }
}
