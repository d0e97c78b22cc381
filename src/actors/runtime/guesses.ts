// Limits on wrong passwords and codes, by what they are for: whoever changes the address goes on guessing, but not about this.

import type { Config } from '../../config/index.ts'
import type { LimitStore } from '../../platform/limit-stores.ts'
import { DomainError } from './domain-error.ts'

export interface Guesses {
  /**
   * Runs the check of a secret, at most as often as `rates_limit.login` says for one `subject` (such as `code:7`). A check that
   * passes is not counted. Throws `too_many` in its place.
   */
  check<R>(subject: string, check: () => Promise<R>): Promise<R>
}

export function makeGuesses({ store, config }: { store: LimitStore; config: () => Config }): Guesses {
  return {
    async check(subject, check) {
      const { max, window } = config().rates_limit.login
      const key = `guess:${subject}`
      // Counted before it is known to be wrong: many at once would all be let in otherwise.
      const { current, ttl } = await store.add(key, window)
      if (current > max) throw tooManyGuesses(ttl)
      const result = await check()
      await store.giveBack(key)
      return result
    },
  }
}

/** `waitMs`: how long nothing more is checked. */
export const tooManyGuesses = (waitMs: number): DomainError =>
  new DomainError('too_many', 'Too many wrong passwords or codes, please try again later.', {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  })
