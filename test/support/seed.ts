// The seed of random choices in tests: the same in every run, so that a failure is due to a change. VIREO_TEST_SEED sets another one.

/** Seed for generators of test data. */
export const SEED = Number(process.env.VIREO_TEST_SEED ?? 1)
