// Moments that look random and can be had again. VIREO_CHAOS_SEED chooses others.

/** The same numbers in [0, 1) for the same seed. */
export function seededRandom(seed = Number(process.env.VIREO_CHAOS_SEED ?? 1)): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
