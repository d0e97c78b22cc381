// Splits long work over several turns of the event loop, so that other work runs in between.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** Duration of a turn (ms); a single item may exceed it. */
const TURN_MS = 5

export interface TimeSlices {
  /** Yields if this turn was long enough. */
  pause(): Promise<void>
}

export function makeTimeSlices(): TimeSlices {
  let begun = performance.now()
  return {
    async pause() {
      if (performance.now() - begun < TURN_MS) return
      await nextTurn()
      begun = performance.now()
    },
  }
}

/** Maps the items in order. */
export async function mapInSlices<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const turns = makeTimeSlices()
  const made: Made[] = []
  for (const item of items) {
    await turns.pause()
    made.push(make(item))
  }
  return made
}

/** Runs the work to its end, and yields to the event loop where it yields. */
export async function runInSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  const turns = makeTimeSlices()
  while (true) {
    const step = work.next()
    if (step.done) return step.value
    await turns.pause()
  }
}
