// Large files of other servers, as streams: under the guards of the fetcher, ended by silence and not by duration.

import { type Readable, Transform } from 'node:stream'
import { FetchError, type GuardedFetch } from '../../platform/fetch/index.ts'
import { MediaError } from '../errors.ts'

export interface RemoteFileSource {
  http: Pick<GuardedFetch, 'stream'>
  /** How long a server may send nothing, in ms. */
  silenceMs: number
  signal: AbortSignal
}

/** Longest fetch of one file, in ms: whoever sends a byte now and then is not waited for for ever. */
const LONGEST_MS = 12 * 3_600_000

/**
 * The bytes of a file, at most `maxBytes` of them. Throws FetchError, and MediaError `failed` for any answer but 200; the
 * stream fails with the same.
 */
export async function streamRemoteFile(
  url: string,
  { http, silenceMs, signal, maxBytes }: RemoteFileSource & { maxBytes: number },
): Promise<Readable> {
  const silent = new AbortController()
  const listen = () => setTimeout(() => silent.abort(new FetchError('timeout', url)), silenceMs)
  let timer = listen()
  const heard = () => {
    clearTimeout(timer)
    timer = listen()
  }
  const over = () => clearTimeout(timer)
  try {
    const answer = await http.stream(url, {
      maxBytes,
      timeoutMs: LONGEST_MS,
      signal: AbortSignal.any([silent.signal, signal]),
    })
    if (answer.status !== 200) {
      answer.body.on('error', () => {}).destroy()
      throw new MediaError('failed', `${url} answered ${answer.status}.`)
    }
    const ear = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        heard()
        done(null, chunk)
      },
    })
    ear.once('close', over)
    return joined(answer.body, ear)
  } catch (error) {
    over()
    throw error
  }
}

/** The bytes of a small file, whole. */
export async function readRemoteFile(url: string, source: RemoteFileSource & { maxBytes: number }): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of await streamRemoteFile(url, source)) parts.push(part)
  return Buffer.concat(parts)
}

/** An error of either side ends both. */
function joined(from: Readable, to: Transform): Readable {
  from.once('error', (error) => to.destroy(error))
  to.once('close', () => from.destroy())
  return from.pipe(to)
}
