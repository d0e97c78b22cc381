// Splits long work over several turns of the event loop, so that other work runs in between.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** Duration of a turn (ms); a single item may exceed it. */
const TURN_MS = 5

/** The returned function is awaited in the loops of a computation: it yields if this turn was long enough. */
export function makeTimeSlices(): () => Promise<void> {
  let begun = performance.now()
  return async () => {
    if (performance.now() - begun < TURN_MS) return
    await nextTurn()
    begun = performance.now()
  }
}

/** Maps the items in order. */
export async function mapInSlices<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const pause = makeTimeSlices()
  const made: Made[] = []
  for (const item of items) {
    await pause()
    made.push(make(item))
  }
  return made
}

/** Runs the work to its end, and yields to the event loop where it yields. */
export async function runInSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  const pause = makeTimeSlices()
  while (true) {
    const step = work.next()
    if (step.done) return step.value
    await pause()
  }
}
