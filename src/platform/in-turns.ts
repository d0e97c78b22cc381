// Long work in several turns of the event loop, so that others are served in between.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** Of one turn (ms); what a single item takes comes on top. */
const TURN_MS = 5

export interface Turns {
  /** Lets others in when this turn was long enough. */
  pause(): Promise<void>
}

export function makeTurns(): Turns {
  let begun = performance.now()
  return {
    async pause() {
      if (performance.now() - begun < TURN_MS) return
      await nextTurn()
      begun = performance.now()
    },
  }
}

/** What is made of each item, in their order. */
export async function mapInTurns<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const turns = makeTurns()
  const made: Made[] = []
  for (const item of items) {
    await turns.pause()
    made.push(make(item))
  }
  return made
}

/** Runs the work to its end, and lets others in where it yields. */
export async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  const turns = makeTurns()
  while (true) {
    const step = work.next()
    if (step.done) return step.value
    await turns.pause()
  }
}
