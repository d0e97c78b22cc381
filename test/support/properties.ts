// fast-check with the seed of the tests, and with the error of a failed property in its report.

import fc from 'fast-check'
import { SEED } from './seed.ts'

fc.configureGlobal({ seed: SEED, includeErrorInReport: true })

export default fc
