// Watches the event loop: what one piece of work computes without a pause, all others wait for. Names the work in the log and in the
// figures.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'
import type { Telemetry } from './telemetry.ts'

export interface LoopWatch {
  /** Does work under the name by which it is reported. Names are few: they become labels of figures. */
  run<T>(name: string, work: () => T): T
  /** Notes that the caller's work goes on after it waited, so that what it computes from now on is reported as its own. */
  resumed(): void
  start(): void
  stop(): void
}

const LOOK_EVERY_MS = 50
/** What is reported (ms). */
const LONG_MS = 100
/** Names that are remembered between two looks. */
const MARKS = 64
const UNKNOWN = 'other'

export function makeLoopWatch(deps: { logger: Logger; telemetry?: Telemetry | undefined }): LoopWatch {
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
    // The last one counts most: it may hold the loop until the next look.
    if (marks.length === MARKS) marks.pop()
    marks.push({ name, at: performance.now() })
  }

  function look(): void {
    const now = performance.now()
    const before = computed
    computed = computedMs()
    const heldMs = now - lookedAt - LOOK_EVERY_MS
    // A process that gets no processor is late too; that is nobody's work.
    const computedInTurn = computed - before
    if (heldMs >= LONG_MS && computedInTurn >= LONG_MS) {
      const work = longest(now)
      held?.add({ work }, computedInTurn / 1000)
      logger.warn({ work, heldMs: Math.round(heldMs), computedMs: Math.round(computedInTurn) }, 'the event loop was held')
    }
    marks.length = 0
    lookedAt = performance.now()
  }

  /** Whose time to the next mark was the longest. */
  function longest(now: number): string {
    const times = marks.map(({ name, at }, index) => ({ name, ms: (marks[index + 1]?.at ?? now) - at }))
    const found = times.reduce((most, one) => (one.ms > most.ms ? one : most), { name: UNKNOWN, ms: 0 })
    return found.ms >= LONG_MS / 2 ? found.name : UNKNOWN
  }

  return {
    run: (name, work) =>
      names.run(name, () => {
        mark(name)
        return work()
      }),
    resumed() {
      const name = names.getStore()
      if (name !== undefined) mark(name)
    },
    start() {
      lookedAt = performance.now()
      computed = computedMs()
      timer ??= setInterval(look, LOOK_EVERY_MS).unref()
    },
    stop: () => clearInterval(timer),
  }
}

function computedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
