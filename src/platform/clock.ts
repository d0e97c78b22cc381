// The clock is a port, so that tests can hold time still.

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
