// Aborts a transfer after a silence, however long the whole may take.

import { Transform } from 'node:stream'
import { FetchError } from '../platform/fetch/index.ts'

export interface SilenceGuard {
  /** Aborted by silence, with its reason. */
  signal: AbortSignal
  /** The transfer's bytes pass through it. */
  ear: Transform
  /** Stops the timer. */
  end(): void
}

/** Starts at once: the first silence is the one before the response. */
export function silenceGuard(url: string, silenceMs: number): SilenceGuard {
  const silent = new AbortController()
  const silence = new FetchError('timeout', url, { message: 'nothing was received for too long' })
  let timer: NodeJS.Timeout | undefined
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      ear.destroy(silence)
      silent.abort(silence)
    }, silenceMs)
  }
  const ear = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      heard()
      done(null, chunk)
    },
  })
  ear.once('close', () => clearTimeout(timer))
  // It may fail before its reader begins, which gets the error anyway.
  ear.on('error', () => {})
  heard()
  return { signal: silent.signal, ear, end: () => clearTimeout(timer) }
}
