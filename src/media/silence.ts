// Ends a transfer in which nothing comes for too long, however long the whole may take.

import { Transform } from 'node:stream'
import { FetchError } from '../platform/fetch/index.ts'

export interface SilenceGuard {
  /** Set by silence, with its reason. */
  signal: AbortSignal
  /** What comes goes through it, and is heard. */
  ear: Transform
  /** Nobody listens any more. */
  end(): void
}

/** It listens at once: the first silence is that before the answer. */
export function silenceGuard(url: string, silenceMs: number): SilenceGuard {
  const silent = new AbortController()
  const silence = new FetchError('timeout', url, { message: 'nothing came for too long' })
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
  // It may fail before its reader has begun, who then hears of it all the same.
  ear.on('error', () => {})
  heard()
  return { signal: silent.signal, ear, end: () => clearTimeout(timer) }
}
