// Watches the event loop: a long synchronous computation delays all other work. Reports the work by name in the log and in the metrics.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'
import type { Telemetry } from './telemetry.ts'

export type LoopWatch = ReturnType<typeof makeLoopWatch>

const LOOK_EVERY_MS = 50
/** Reporting threshold (ms). */
const LONG_MS = 100
/** Marks that are stored between two checks. */
const MARKS = 64
const UNKNOWN = 'other'

export function makeLoopWatch(deps: { logger: Logger; telemetry?: Telemetry | undefined }) {
  const { logger, telemetry } = deps
  const names = new AsyncLocalStorage<string>()
  const held = telemetry?.counter({
    name: 'vireo_event_loop_held_seconds_total',
    help: `Time in which work computed for more than ${LONG_MS} ms without a pause, by the work`,
    labels: ['work'],
  })
  const marks: { name: string; at: number }[] = []
  let lookedAt = 0
  let computed = 0
  let timer: NodeJS.Timeout | undefined

  const mark = (name: string): void => {
    // The last one matters most: it may block the loop until the next check.
    if (marks.length === MARKS) marks.pop()
    marks.push({ name, at: performance.now() })
  }

  function look(): void {
    const now = performance.now()
    const before = computed
    computed = computedMs()
    const heldMs = now - lookedAt - LOOK_EVERY_MS
    // A process without processor time is late too, but no work is to blame.
    const computedInTurn = computed - before
    if (heldMs >= LONG_MS && computedInTurn >= LONG_MS) {
      const work = longest(now)
      held?.add({ work }, computedInTurn / 1000)
      logger.warn({ work, heldMs: Math.round(heldMs), computedMs: Math.round(computedInTurn) }, 'the event loop was blocked')
    }
    marks.length = 0
    lookedAt = performance.now()
  }

  /** The mark with the longest time to the next one. */
  function longest(now: number): string {
    const times = marks.map(({ name, at }, index) => ({ name, ms: (marks[index + 1]?.at ?? now) - at }))
    const found = times.reduce((most, one) => (one.ms > most.ms ? one : most), { name: UNKNOWN, ms: 0 })
    return found.ms >= LONG_MS / 2 ? found.name : UNKNOWN
  }

  return {
    /** Runs work under the name by which it is reported. Names are few: they become labels of metrics. */
    run<T>(name: string, work: () => T): T {
      return names.run(name, () => {
        mark(name)
        return work()
      })
    },
    /** Marks that the caller's work continues after a wait, so that its further computation is attributed to it. */
    resumed() {
      const name = names.getStore()
      if (name !== undefined) mark(name)
    },
    start() {
      lookedAt = performance.now()
      computed = computedMs()
      timer ??= setInterval(look, LOOK_EVERY_MS).unref()
    },
    stop() {
      clearInterval(timer)
    },
  }
}

function computedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
