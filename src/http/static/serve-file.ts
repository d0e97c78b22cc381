// A stored file as an answer: conditions, ranges, HEAD, types and caching. The bytes are streamed from the store.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../actors/runtime/index.ts'
import { contentTypeOf, type FileRef, type FileStat, MediaError, type Store } from '../../media/index.ts'
import { isFresh } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import { parseRange, rangeCounts } from './byte-range.ts'

export const typeOf = contentTypeOf

export interface ServeOptions {
  store: Store
  /** The places to look at, in this order. */
  refs: readonly FileRef[]
  cacheControl: string
  type?: string
}

/**
 * Sends the first of the files that exists. Throws `not_found`, 412 when it is not the version that the client wants, and
 * 416 for a range beyond the end.
 */
export async function serveFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, refs, cacheControl, type }: ServeOptions,
): Promise<FastifyReply> {
  const found = await locate(store, refs)
  if (!found) throw notFound('File not found')
  const { ref, stat } = found
  const headers = {
    'accept-ranges': 'bytes',
    'cache-control': cacheControl,
    etag: stat.etag,
    'last-modified': stat.modifiedAt.toUTCString(),
  }
  if (isAnotherVersion(request, stat)) throw new HttpError(412, 'Precondition Failed', { headers })
  if (isUnchanged(request, stat)) return reply.code(304).headers(headers).send()

  const { range: asked, 'if-range': ifRange } = request.headers
  const range = rangeCounts(typeof ifRange === 'string' ? ifRange : undefined, stat)
    ? parseRange(asked, stat.size)
    : 'whole'
  if (range === 'unsatisfiable') {
    throw new HttpError(416, 'Range Not Satisfiable', {
      code: 'RangeNotSatisfiableError',
      headers: { ...headers, 'content-range': `bytes */${stat.size}` },
    })
  }
  const bytes = range === 'whole' ? undefined : range
  const length = bytes ? bytes.end - bytes.start + 1 : stat.size
  reply
    .code(bytes ? 206 : 200)
    .headers(headers)
    .header('content-type', type ?? typeOf(ref.name))
    .header('content-length', length)
  if (bytes) reply.header('content-range', `bytes ${bytes.start}-${bytes.end}/${stat.size}`)
  if (request.method === 'HEAD' || length === 0) return reply.send()
  return reply.send(await streamOf(store, ref, stat, bytes))
}

async function streamOf(store: Store, ref: FileRef, stat: FileStat, bytes: { start: number; end: number } | undefined) {
  const { stream, stat: opened } = await store.open(ref, bytes).catch(absent)
  // Replaced between the look and the opening: the length that was promised may be wrong.
  if (opened.etag !== stat.etag) {
    stream.destroy()
    throw new HttpError(503, 'The file is being replaced.', { headers: { 'retry-after': '1' } })
  }
  return stream
}

async function locate(store: Store, refs: readonly FileRef[]) {
  for (const ref of refs) {
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

function absent(error: unknown): never {
  if (error instanceof MediaError && error.reason === 'not-found') throw notFound('File not found')
  throw error
}
