// A stored file as an answer: conditions, ranges, HEAD, types and caching. The bytes are streamed from the store.

import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { type ByteRange, contentTypeOf, type FileRef, type FileStat, MediaError, type OpenedFile, type Store } from '../../media/index.ts'
import { isFresh } from '../plugins/conditional.ts'
import { corsHeaders } from '../plugins/cors.ts'
import { HttpError } from '../plugins/http-error.ts'
import { parseRange, rangeCounts } from './byte-range.ts'
import type { Caching } from './caching.ts'

export const typeOf = contentTypeOf

export interface ServeOptions {
  store: Store
  /** The places to look at, in this order. */
  refs: readonly FileRef[]
  caching: Caching
  type?: string
  /** Content-Disposition of a download. */
  disposition?: string
  /** Where a web server in front that is to send the bytes holds the folders of the store, and how long a reader may read nothing. */
  delivery: Pick<Config['vireo']['delivery'], 'x_accel_location' | 'stall_timeout'>
  /** What is thrown when there is no such file; `not_found` by default. */
  absent?: () => Error
}

/** What players on other sites need to see of an answer to a range. */
const EXPOSED = `${corsHeaders['access-control-expose-headers']}, Accept-Ranges, Content-Range, ETag`

/** How often a file is looked at that is replaced by another one of its name, or moved, each time. */
const LOOKS = 3

/**
 * Sends the first of the files that exists. Throws `not_found`, 412 when it is not the version that the client wants, and
 * 416 for a range beyond the end.
 */
export async function serveFile(request: FastifyRequest, reply: FastifyReply, options: ServeOptions): Promise<FastifyReply> {
  const { absent = missing } = options
  let outcome: Outcome | undefined
  for (let look = 1; look <= LOOKS; look += 1) {
    outcome = await serveOnce(request, reply, { ...options, absent })
    if (outcome === 'sent') return reply
  }
  if (outcome === 'gone') throw absent()
  throw new HttpError(503, 'The file is being replaced.', { headers: { 'retry-after': '1' } })
}

/**
 * What became of the file between the look at it and its opening. One that was replaced may have another length, and one that
 * is gone may be in the next of the places.
 */
type Outcome = 'sent' | 'replaced' | 'gone'

async function serveOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ServeOptions & Required<Pick<ServeOptions, 'absent'>>,
): Promise<Outcome> {
  const { store, refs, caching, type, disposition, delivery, absent } = options
  const accelerated = delivery.x_accel_location
  const found = await locate(store, refs)
  if (!found) throw absent()
  const { ref, stat } = found
  if (disposition !== undefined) reply.header('content-disposition', disposition)
  if (accelerated && (await store.placeOf(ref)) === 'file-system') {
    reply
      .headers(caching)
      .header('content-type', type ?? typeOf(ref.name))
      .header('x-accel-redirect', acceleratedPath(accelerated, ref))
      .send()
    return 'sent'
  }
  const headers = {
    'accept-ranges': 'bytes',
    'access-control-expose-headers': EXPOSED,
    ...caching,
    etag: stat.etag,
    'last-modified': stat.modifiedAt.toUTCString(),
  }
  if (isAnotherVersion(request, stat)) throw new HttpError(412, 'Precondition Failed', { headers })
  if (isUnchanged(request, stat)) {
    reply.code(304).headers(headers).send()
    return 'sent'
  }

  const { range: asked, 'if-range': ifRange } = request.headers
  // Ranges are for GET alone (RFC 9110, 14.2).
  const isPart = request.method === 'GET' && rangeCounts(typeof ifRange === 'string' ? ifRange : undefined, stat)
  const range = isPart ? parseRange(asked, stat.size) : 'whole'
  if (range === 'unsatisfiable') {
    throw new HttpError(416, 'Range Not Satisfiable', {
      code: 'RangeNotSatisfiableError',
      headers: { ...headers, 'content-range': `bytes */${stat.size}` },
    })
  }
  const bytes = range === 'whole' ? undefined : range
  const length = bytes ? bytes.end - bytes.start + 1 : stat.size
  const isSent = request.method !== 'HEAD' && length > 0
  const opened = isSent ? await openThere(store, ref, bytes) : undefined
  if (isSent && !opened) return 'gone'
  if (opened && opened.stat.etag !== stat.etag) {
    opened.stream.destroy()
    return 'replaced'
  }
  reply
    .code(bytes ? 206 : 200)
    .headers(headers)
    .header('content-type', type ?? typeOf(ref.name))
    .header('content-length', length)
  if (bytes) reply.header('content-range', `bytes ${bytes.start}-${bytes.end}/${stat.size}`)
  if (opened) endWhenStalled(reply.raw, delivery.stall_timeout)
  if (opened?.sendTo) await sendAtOnce(reply, opened.sendTo)
  else reply.send(opened?.stream)
  return 'sent'
}

/** Opens the first of the files that exists, which may be moved from one of the places to another meanwhile. */
export async function openFirst(store: Store, refs: readonly FileRef[]): Promise<OpenedFile | undefined> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const found = await locate(store, refs)
    const opened = found && (await openThere(store, found.ref))
    if (!found || opened) return opened
  }
  return undefined
}

/** Undefined when it was removed, or moved, after it was looked at. */
async function openThere(store: Store, ref: FileRef, bytes?: ByteRange): Promise<OpenedFile | undefined> {
  return await store.open(ref, bytes).catch((error: unknown) => {
    if (error instanceof MediaError && error.reason === 'not-found') return undefined
    throw error
  })
}

/** A reader that takes nothing holds a file, buffers and a connection. The time of the next answer is its own. */
function endWhenStalled(raw: ServerResponse, stallMs: number): void {
  if (raw.socket instanceof Socket) raw.setTimeout(stallMs)
}

/** Past the hooks of answers, none of which looks at files. */
async function sendAtOnce(reply: FastifyReply, sendTo: NonNullable<OpenedFile['sendTo']>): Promise<void> {
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]): OutgoingHttpHeader[] =>
    value === undefined ? [] : [name, value],
  )
  reply.hijack()
  const { raw } = reply
  raw.writeHead(reply.statusCode, headers)
  try {
    await sendTo(raw)
    raw.end()
  } catch (error) {
    const { id: reqId, log } = reply.request
    if (!raw.destroyed) log.warn({ reqId, err: error }, 'a file was cut off')
    raw.destroy()
  }
}

/** The first of the places where there is a file. One that is moved while it is looked for is in an earlier place at the end. */
export async function locate(store: Store, refs: readonly FileRef[]): Promise<{ ref: FileRef; stat: FileStat } | undefined> {
  for (const ref of [...refs, ...refs.slice(0, -1)]) {
    const stat = await store.stat(ref).catch((error: unknown) => {
      if (error instanceof MediaError && error.reason === 'invalid-name') return undefined
      throw error
    })
    if (stat) return { ref, stat }
  }
  return undefined
}

/** If-Match decides alone where it is sent, by a strong comparison (RFC 9110, 13.1.1, 13.1.4 and 13.2.2). */
function isAnotherVersion(request: FastifyRequest, stat: FileStat): boolean {
  const { 'if-match': tags, 'if-unmodified-since': since } = request.headers
  if (tags !== undefined) return tags.trim() !== '*' && !tags.split(',').some((tag) => tag.trim() === stat.etag)
  return since !== undefined && secondsOf(stat.modifiedAt) > Date.parse(since)
}

/** If-None-Match decides alone where it is sent; dates have only seconds (RFC 9110, 13.2.2). */
function isUnchanged(request: FastifyRequest, stat: FileStat): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers
  if (tags !== undefined) return isFresh(tags, stat.etag)
  return since !== undefined && secondsOf(stat.modifiedAt) <= Date.parse(since)
}

/** In ms, as exactly as a header tells it. */
const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000) * 1000

const missing = (): Error => notFound('File not found')

/** Ranges, conditions and the length are then for the web server to see to (nginx: `X-Accel-Redirect`). */
const acceleratedPath = (location: string, { kind, name }: FileRef): string =>
  [folderIn(location, kind), ...name.split('/').map(encodeURIComponent)].join('/')

/** A folder of the internal location, which operators may write with a slash at its end. */
export const folderIn = (location: string, folder: string): string => `${location.replace(/\/+$/, '')}/${folder}`
