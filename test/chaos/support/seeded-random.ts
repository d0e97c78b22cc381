// Reproducible pseudo-random numbers.

import { SEED } from '../../support/seed.ts'

/** Returns the same numbers in [0, 1) for the same seed. */
export function seededRandom(seed = SEED): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
