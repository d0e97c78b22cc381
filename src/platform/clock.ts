// The clock is a port, so that tests can control time.

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
