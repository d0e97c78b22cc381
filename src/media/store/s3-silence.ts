// Object storage that takes connections and does not answer. Each request to it waits for long, and with it whatever could be had
// without it; so after such a wait it is left alone for a while, but for one request at a time that finds out how it is.

import { StorageOutage } from '../errors.ts'
import { isSilence } from './s3-client.ts'

/** Ms. */
export interface Patience {
  /** Until the answer to a request begins whose work is small. */
  answer: number
  /** For how long nothing is asked after one that was waited for in vain. */
  rest: number
}

export const PATIENCE: Patience = { answer: 10_000, rest: 5_000 }

export interface Asking {
  /** Runs a request, or throws StorageOutage at once while the last one was waited for in vain. Errors are those of the library. */
  ask<T>(request: () => Promise<T>): Promise<T>
  /** Throws as `ask` does, for requests that tell nothing: how long they take is up to what they carry. */
  assertSpeaking(): void
}

export function makeAsking({ rest }: Pick<Patience, 'rest'>): Asking {
  let silentUntil: number | undefined
  let isTried = false

  const assertSpeaking = (): void => {
    if (silentUntil !== undefined && (isTried || performance.now() < silentUntil)) {
      throw new StorageOutage('Object storage did not answer a moment ago.')
    }
  }

  return {
    assertSpeaking,
    async ask(request) {
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
