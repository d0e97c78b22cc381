// A fake clock that only tests advance.

import type { Clock } from '../../src/platform/clock.ts'

export interface FakeClock extends Clock {
  /** Advances the clock by this many milliseconds. */
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
