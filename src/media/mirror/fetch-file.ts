// Large remote files as streams: with the guards of the fetcher, and a timeout for silence instead of the duration.

import { pipeline, type Readable } from 'node:stream'
import type { GuardedFetch } from '../../platform/fetch/index.ts'
import { MediaError } from '../errors.ts'
import { silenceGuard } from '../silence.ts'

export interface RemoteFileSource {
  http: Pick<GuardedFetch, 'stream'>
  /** Longest silence of a server, in ms. */
  silenceMs: number
  signal: AbortSignal
}

/** Longest fetch of one file, in ms: a server that sends a byte now and then must not block forever. */
const LONGEST_MS = 12 * 3_600_000

/**
 * The bytes of a file, at most `maxBytes`. Throws FetchError, and MediaError `failed` for any response but 200; the stream fails with the
 * same.
 */
export async function streamRemoteFile(
  url: string,
  { http, silenceMs, signal, maxBytes }: RemoteFileSource & { maxBytes: number },
): Promise<Readable> {
  const { signal: silent, ear } = silenceGuard(url, silenceMs)
  try {
    const signals = AbortSignal.any([silent, signal])
    const answer = await http.stream(url, { maxBytes, timeoutMs: LONGEST_MS, signal: signals })
    pipeline(answer.body, ear, () => {})
    if (answer.status !== 200) throw new MediaError('failed', `${url} answered ${answer.status}.`)
    return ear
  } catch (error) {
    ear.destroy()
    throw silent.aborted ? silent.reason : error
  }
}

/** The bytes of a small file. */
export async function readRemoteFile(url: string, source: RemoteFileSource & { maxBytes: number }): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of await streamRemoteFile(url, source)) parts.push(part)
  return Buffer.concat(parts)
}
