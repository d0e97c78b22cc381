// Back-off: an initial delay that doubles with each attempt, up to a maximum.

/** Durations in ms. */
export interface BackOff {
  initial_backoff: number
  max_backoff: number
}

/** The wait in ms after the `tries`-th failure (1 is the first): `initial_backoff` doubled each time, at most `max_backoff`. */
export function backOff(settings: BackOff, tries: number): number {
  return Math.min(settings.max_backoff, settings.initial_backoff * 2 ** Math.min(Math.max(tries - 1, 0), 40))
}
