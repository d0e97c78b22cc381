// Circuit breaker for an object storage that accepts connections but does not respond. After a timeout, requests fail at once for a while,
// except for one at a time that probes the storage, so that they do not delay work that is possible without it.

import { StorageOutage } from '../errors.ts'
import { isSilence } from './s3-client.ts'

/** Ms. */
export interface Patience {
  /** Timeout for the start of the response to a small request. */
  answer: number
  /** How long requests fail at once after a timeout. */
  rest: number
}

export const PATIENCE: Patience = { answer: 10_000, rest: 5_000 }

export function makeSilenceGuard({ rest }: Pick<Patience, 'rest'>) {
  let silentUntil: number | undefined
  let isTried = false

  /** Throws like `ask`, for requests whose duration depends on their size. */
  const assertSpeaking = (): void => {
    if (silentUntil !== undefined && (isTried || performance.now() < silentUntil)) {
      throw new StorageOutage('Object storage did not answer a moment ago.')
    }
  }

  return {
    assertSpeaking,
    /** Runs a request, or throws StorageOutage at once after a recent timeout. Errors are those of the library. */
    async ask<T>(request: () => Promise<T>): Promise<T> {
      assertSpeaking()
      const isTrial = silentUntil !== undefined
      isTried = isTrial
      try {
        const answer = await request()
        silentUntil = undefined
        return answer
      } catch (error) {
        silentUntil = isSilence(error) ? performance.now() + rest : undefined
        throw error
      } finally {
        if (isTrial) isTried = false
      }
    },
  }
}
