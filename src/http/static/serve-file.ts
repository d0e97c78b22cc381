// Serves a stored file: conditional requests, ranges, HEAD, types and caching. The bytes are streamed from the store.

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
  /** Possible locations, in order. */
  refs: readonly FileRef[]
  caching: Caching
  type?: string
  /** Content-Disposition of a download. */
  disposition?: string
  /** Location of the store's folders in a web server that sends the bytes, and the timeout of stalled readers. */
  delivery: Pick<Config['vireo']['delivery'], 'x_accel_location' | 'stall_timeout'>
  /** The error for a missing file; `not_found` by default. */
  absent?: () => Error
}

/** Headers that players on other sites need to read of a range. */
const EXPOSED = `${corsHeaders['access-control-expose-headers']}, Accept-Ranges, Content-Range, ETag`

/** How often a file is looked up again if it is replaced or moved meanwhile. */
const LOOKS = 3

/** Sends the first existing file. Throws `not_found`, 412 if the client requires another version, and 416 for a range beyond the end. */
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
 * The fate of the file between look-up and opening. A replaced one may have another length, and a missing one may be in the next location.
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
  // Ranges are for GET only (RFC 9110, 14.2).
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

/** Opens the first existing file, which may be moved between the locations meanwhile. */
export async function openFirst(store: Store, refs: readonly FileRef[]): Promise<OpenedFile | undefined> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const found = await locate(store, refs)
    const opened = found && (await openThere(store, found.ref))
    if (!found || opened) return opened
  }
  return undefined
}

/** Undefined if it was removed or moved after the look-up. */
async function openThere(store: Store, ref: FileRef, bytes?: ByteRange): Promise<OpenedFile | undefined> {
  return await store.open(ref, bytes).catch((error: unknown) => {
    if (error instanceof MediaError && error.reason === 'not-found') return undefined
    throw error
  })
}

/** A stalled reader occupies a file, buffers and a connection. The timeout ends with the response. */
function endWhenStalled(raw: ServerResponse, stallMs: number): void {
  if (raw.socket instanceof Socket) raw.setTimeout(stallMs)
}

/** Bypasses the response hooks, none of which is about files. */
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

/** The first location with a file. One that is moved during the search ends up in an earlier location. */
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

/** If-Match takes precedence, with a strong comparison (RFC 9110, 13.1.1, 13.1.4 and 13.2.2). */
function isAnotherVersion(request: FastifyRequest, stat: FileStat): boolean {
  const { 'if-match': tags, 'if-unmodified-since': since } = request.headers
  if (tags !== undefined) return tags.trim() !== '*' && !tags.split(',').some((tag) => tag.trim() === stat.etag)
  return since !== undefined && secondsOf(stat.modifiedAt) > Date.parse(since)
}

/** If-None-Match takes precedence; dates have only seconds (RFC 9110, 13.2.2). */
function isUnchanged(request: FastifyRequest, stat: FileStat): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers
  if (tags !== undefined) return isFresh(tags, stat.etag)
  return since !== undefined && secondsOf(stat.modifiedAt) <= Date.parse(since)
}

/** In ms, with the precision of a header. */
const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000) * 1000

const missing = (): Error => notFound('File not found')

/** Then the web server handles ranges, conditions and the length (nginx: `X-Accel-Redirect`). */
const acceleratedPath = (location: string, { kind, name }: FileRef): string =>
  [folderIn(location, kind), ...name.split('/').map(encodeURIComponent)].join('/')

/** A folder of the internal location, which may have a trailing slash in the configuration. */
export const folderIn = (location: string, folder: string): string => `${location.replace(/\/+$/, '')}/${folder}`
