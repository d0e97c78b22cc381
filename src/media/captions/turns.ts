// Long work on a text, in slices between which the event loop does other things.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds of a slice. */
const TURN_MS = 10

/** Runs the work to its end; it yields where it can be interrupted. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  let began = performance.now()
  while (true) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() - began < TURN_MS) continue
    await nextTurn()
    began = performance.now()
  }
}
