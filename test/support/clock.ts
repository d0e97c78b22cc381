// A clock that stands still until a test moves it.

import type { Clock } from '../../src/platform/clock.ts'

export interface FakeClock extends Clock {
  /** Moves on by so many milliseconds. */
  pass(ms: number): void
}

export function fakeClock(start = new Date()): FakeClock {
  let now = start.getTime()
  return {
    now: () => new Date(now),
    pass(ms) {
      now += ms
    },
  }
}
