// Downloads a media file at a direct address: one request, read further if the response is a media file. A download that a dead process
// began is resumed if the other side still has the same file.

import { createWriteStream } from 'node:fs'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { FetchError, type FetchedStream, type GuardedFetch, toFetchError } from '../../platform/fetch/index.ts'
import { randomToken } from '../../platform/ids.ts'
import { silenceGuard } from '../silence.ts'
import { completePath } from './completed-download.ts'
import type { DownloadedVideo, DownloadOptions } from './download.ts'
import { DownloadError, isDiskFull, tooLarge } from './download-error.ts'

export type Direct =
  | { isMedia: true; download(): Promise<DownloadedVideo> }
  /** Another program may support the address. */
  | { isMedia: false; refusal: DownloadError }

export interface DirectOptions extends DownloadOptions {
  http: Pick<GuardedFetch, 'stream'>
  /** Longest silence of the other side, in ms. */
  silenceMs: number
}

/** A partial download, as identified by the other side. */
interface Begun {
  url: string
  etag: string
  /** The file with the partial content. */
  part: string
}

/** Longest download, in ms: a safety net, since the import has its own timeout. */
const LONGEST_MS = 24 * 3_600_000
/** Unique per attempt, so that a late one does not find its file any more. */
const PART = /^direct-\w+\.part$/
const BEGUN = 'direct.json'

/** Throws FetchError, and DownloadError if no other program can help. */
export async function openDirect(url: string, options: DirectOptions): Promise<Direct> {
  const { http, folder, maxBytes, signal, silenceMs } = options
  const before = await leftOf(folder, url)
  const guard = silenceGuard(url, silenceMs)
  let answer: FetchedStream
  try {
    answer = await http.stream(url, {
      maxBytes: maxBytes + 1,
      timeoutMs: LONGEST_MS,
      signal: AbortSignal.any([signal, guard.signal]),
      headers: {
        accept: 'video/*, audio/*, */*;q=0.5',
        // A range refers to the unencoded bytes.
        'accept-encoding': 'identity',
        ...(before ? { range: `bytes=${before.size}-`, 'if-range': before.etag } : {}),
      },
    })
  } catch (error) {
    guard.end()
    throw guard.signal.aborted ? guard.signal.reason : error
  }
  const from = startOf(answer, before)
  const refusal = refusalOf(answer)
  if (from !== undefined && !refusal) {
    return { isMedia: true, download: () => receive({ ...options, url, answer, guard, from, left: before?.part }) }
  }
  guard.end()
  answer.body.on('error', () => {}).destroy()
  if (from === undefined && before) {
    // It was complete, or has changed.
    await rm(join(folder, BEGUN), { force: true })
    return await openDirect(url, options)
  }
  return {
    isMedia: false,
    refusal: refusal ?? new DownloadError('failed', 'The other server sent a part of the file that was not requested.'),
  }
}

interface Receiving extends DirectOptions {
  url: string
  answer: FetchedStream
  guard: ReturnType<typeof silenceGuard>
  /** Bytes that exist already. */
  from: number
  /** The file of an earlier attempt. */
  left: string | undefined
}

async function receive(receiving: Receiving): Promise<DownloadedVideo> {
  const { url, answer, guard, from, left, folder, maxBytes, onProgress } = receiving
  const { headers, body } = answer
  const name = `direct-${randomToken(8)}.part`
  const part = join(folder, name)
  try {
    const contentLength = Number(headers['content-length'] ?? Number.NaN)
    const total = Number.isFinite(contentLength) && contentLength >= 0 ? from + contentLength : undefined
    if (total !== undefined && total > maxBytes) throw tooLarge()
    if (from > 0 && left !== undefined) await rename(join(folder, left), part)
    else await removeParts(folder)
    await note(folder, { url, etag: headers.etag, part: name })
    let received = from
    const count = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received += chunk.length
        if (received > maxBytes) return done(tooLarge())
        if (total) onProgress((received / total) * 100)
        done(null, chunk)
      },
    })
    // At its position, where a concurrent attempt writes the same bytes.
    await pipeline(body, guard.ear, count, createWriteStream(part, from > 0 ? { flags: 'r+', start: from } : {}))
    if ((await stat(part)).size !== received) throw new FetchError('reset', url, { message: 'another try wrote too' })
    if (total !== undefined && received !== total && headers['content-encoding'] === undefined) {
      throw new FetchError('reset', url, { message: 'the file ended too early' })
    }
  } catch (error) {
    body.on('error', () => {}).destroy()
    if (guard.signal.aborted) throw guard.signal.reason
    throw error instanceof DownloadError || isDiskFull(error) ? error : toFetchError(error, url)
  } finally {
    guard.end()
  }
  const path = completePath(folder)
  await rename(part, path)
  await rm(join(folder, BEGUN), { force: true })
  return { path, fileName: fileNameOf(answer), metadata: {} }
}

/** The partial file of an earlier attempt, if the other side can identify it. */
async function leftOf(folder: string, url: string): Promise<(Begun & { size: number }) | undefined> {
  try {
    const begun = begunSchema.parse(JSON.parse(await readFile(join(folder, BEGUN), 'utf8')))
    const { size } = await stat(join(folder, begun.part))
    return begun.url === url && size > 0 ? { ...begun, size } : undefined
  } catch {
    return undefined
  }
}

const begunSchema = z.object({ url: z.string(), etag: z.string(), part: z.string().regex(PART) })

async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (PART.test(name)) await rm(join(folder, name), { force: true })
}

/** Only a strong ETag identifies bytes. */
async function note(folder: string, { url, etag, part }: Omit<Begun, 'etag'> & { etag?: string | undefined }) {
  if (etag?.startsWith('"')) await writeFile(join(folder, BEGUN), JSON.stringify({ url, etag, part } satisfies Begun))
  else await rm(join(folder, BEGUN), { force: true })
}

/** The position of its first byte; undefined if it is not the expected one. */
function startOf({ status, headers }: FetchedStream, before: { size: number } | undefined): number | undefined {
  if (status === 416 && before) return undefined
  if (status !== 206) return 0
  const first = /^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1]
  return Number(first) === (before?.size ?? 0) ? Number(first) : undefined
}

function refusalOf({ status, headers, url }: FetchedStream): DownloadError | undefined {
  if (status === 404 || status === 410) return new DownloadError('unusable', 'Nothing was found at this address.')
  if (status !== 200 && status !== 206) {
    return new DownloadError('failed', `The other server answered with the status ${status}.`)
  }
  if (isMediaType(headers['content-type'], url)) return undefined
  return new DownloadError(
    'no-program',
    'There is no video file at this address. For pages with videos, yt-dlp has to be installed on this server.',
  )
}

const MEDIA_NAME = /\.(mp4|m4v|webm|ogv|ogg|mkv|mov|avi|flv|wmv|mpg|mpeg|ts|m2ts|mts|3gp|mxf|mp3|m4a|flac|wav|aac|oga|opus)$/i

/** A stream's playlist or manifest is not a video file. */
const isPlaylist = (type: string): boolean => /mpegurl|dash\+xml|scpls/.test(type)

const typeOf = (contentType: string | undefined): string => (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

function isMediaType(contentType: string | undefined, url: string): boolean {
  const type = typeOf(contentType)
  if (isPlaylist(type)) return false
  if (/^(video|audio)\//.test(type)) return true
  const saysNothing = ['', 'application/octet-stream', 'binary/octet-stream', 'application/ogg', 'application/mp4']
  return saysNothing.includes(type) && MEDIA_NAME.test(new URL(url).pathname)
}

/** Extensions of types whose addresses often have none. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'video/mp4': '.mp4',
  'video/webm': '.webm',
  'video/ogg': '.ogv',
  'video/quicktime': '.mov',
  'video/x-matroska': '.mkv',
  'video/mp2t': '.ts',
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'audio/ogg': '.ogg',
  'audio/opus': '.opus',
  'audio/flac': '.flac',
  'audio/wav': '.wav',
}

function fileNameOf({ url, headers }: FetchedStream): string {
  const last = decoded(new URL(url).pathname.split('/').at(-1) ?? '') || 'video'
  if (MEDIA_NAME.test(last)) return last
  return last + (EXTENSIONS[typeOf(headers['content-type'])] ?? '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
