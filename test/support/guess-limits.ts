// Limits of attempts at passwords and codes, counted in memory.

import { type GuessLimits, makeGuessLimits } from '../../src/actors/runtime/index.ts'
import type { Config } from '../../src/config/index.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { makeLimitStore } from '../../src/platform/limit-stores.ts'

export const memoryGuessLimits = ({ clock, config }: { clock: Clock; config: () => Config }): GuessLimits =>
  makeGuessLimits({ store: makeLimitStore({ redis: undefined, prefix: '', clock }), config })
