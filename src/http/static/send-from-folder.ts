// Serves a file of a folder: conditional requests, ranges, types, and precompressed variants (`.br`, `.gz`).

import { STATUS_CODES } from 'node:http'
import send from '@fastify/send'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { type FolderFile, fileIn } from '../../platform/folder.ts'
import { HttpError } from '../plugins/http-error.ts'

/** Extensions of compressed variants, the smallest first. */
const FORMS = { br: '.br', gzip: '.gz' } as const

/** Sends the file of this path below `root` (a real path). Returns false, without sending anything, if it does not exist. */
export async function sendFromFolder(
  request: FastifyRequest,
  reply: FastifyReply,
  { root, path, cacheControl }: { root: string; path: string; cacheControl: string },
): Promise<boolean> {
  const plain = await fileIn(root, path)
  if (!plain) return false
  const { file, encoding } = await smallest(request, { root, path, plain })
  // The path is resolved and inside, so that nothing of it is interpreted again.
  const result = await send(request.raw, encodeURI(file.path).replace(/[?#]/g, encodeURIComponent), {
    cacheControl: false,
    contentType: false,
    dotfiles: 'allow',
    index: false,
  })
  if (result.type === 'error' && (result.statusCode === 412 || result.statusCode === 416)) {
    const range = result.headers['Content-Range']
    throw new HttpError(result.statusCode, STATUS_CODES[result.statusCode] ?? '', {
      headers: range === undefined ? {} : { 'content-range': range },
    })
  }
  if (result.type !== 'file') return false
  reply.code(result.statusCode).headers(result.headers).headers({ 'cache-control': cacheControl, vary: 'Accept-Encoding' })
  if (result.statusCode !== 304) reply.header('content-type', typeOf(path))
  if (encoding) reply.header('content-encoding', encoding)
  await reply.send(result.stream)
  return true
}

async function smallest(
  request: FastifyRequest,
  { root, path, plain }: { root: string; path: string; plain: FolderFile },
): Promise<{ file: FolderFile; encoding: string | undefined }> {
  const accepted = new Negotiator({ headers: { 'accept-encoding': request.headers['accept-encoding'] } }).encodings(['br', 'gzip'])
  for (const [encoding, ending] of Object.entries(FORMS)) {
    if (!accepted.includes(encoding)) continue
    const file = await fileIn(root, path + ending)
    if (file) return { file, encoding }
  }
  return { file: plain, encoding: undefined }
}

function typeOf(path: string): string {
  const type = send.mime.getType(path) ?? 'application/octet-stream'
  return send.isUtf8MimeType(type) ? `${type}; charset=utf-8` : type
}
