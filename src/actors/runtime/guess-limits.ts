// Limits on wrong passwords and codes, per subject: changing the IP address does not help.

import type { Config } from '../../config/index.ts'
import type { LimitStore } from '../../platform/limit-stores.ts'
import { DomainError, type ErrorKind } from './domain-error.ts'

export type GuessLimits = ReturnType<typeof makeGuessLimits>

export function makeGuessLimits({ store, config }: { store: LimitStore; config: () => Config }) {
  return {
    /**
     * Runs the check of a secret, at most as often as `rates_limit.login` allows for one `subject` (such as `code:7`). A check that passes
     * does not count, nor does one whose error is no wrong guess: by default a failure of this server. Throws `too_many` when the limit is
     * reached.
     */
    async check<R>(subject: string, check: () => Promise<R>, isWrong: (error: unknown) => boolean = isRefusal): Promise<R> {
      const { max, window } = config().rates_limit.login
      const key = `guess:${subject}`
      // Counted before the result is known: otherwise many concurrent guesses would pass.
      const { current, ttl } = await store.add(key, window)
      if (current > max) throw tooManyGuesses(ttl)
      let isGuess = false
      try {
        return await check()
      } catch (error) {
        isGuess = isWrong(error)
        throw error
      } finally {
        if (!isGuess) await store.giveBack(key)
      }
    },
  }
}

/** Kinds of errors of a server that cannot check the secret now. */
const FAILURES: readonly ErrorKind[] = ['busy', 'unavailable']

const isRefusal = (error: unknown): boolean => error instanceof DomainError && !FAILURES.includes(error.kind)

/** `waitMs`: how long no further check is made. */
export const tooManyGuesses = (waitMs: number): DomainError =>
  new DomainError('too_many', 'Too many wrong passwords or codes, please try again later.', {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  })
