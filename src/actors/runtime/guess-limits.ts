// Limits on wrong passwords and codes, per subject: changing the IP address does not help.

import type { Config } from '../../config/index.ts'
import type { LimitStore } from '../../platform/limit-stores.ts'
import { DomainError } from './domain-error.ts'

export interface GuessLimits {
  /**
   * Runs the check of a secret, at most as often as `rates_limit.login` allows for one `subject` (such as `code:7`). A check that passes
   * does not count. Throws `too_many` when the limit is reached.
   */
  check<R>(subject: string, check: () => Promise<R>): Promise<R>
}

export function makeGuessLimits({ store, config }: { store: LimitStore; config: () => Config }): GuessLimits {
  return {
    async check(subject, check) {
      const { max, window } = config().rates_limit.login
      const key = `guess:${subject}`
      // Counted before the result is known: otherwise many concurrent guesses would pass.
      const { current, ttl } = await store.add(key, window)
      if (current > max) throw tooManyGuesses(ttl)
      const result = await check()
      await store.giveBack(key)
      return result
    },
  }
}

/** `waitMs`: how long no further check is made. */
export const tooManyGuesses = (waitMs: number): DomainError =>
  new DomainError('too_many', 'Too many wrong passwords or codes, please try again later.', {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  })
