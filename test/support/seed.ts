// What tests choose at random is the same in every run, so that a change is not blamed for what another seed finds.
// VIREO_TEST_SEED chooses otherwise.

/** A number, for generators of test data. */
export const SEED = Number(process.env.VIREO_TEST_SEED ?? 1)
