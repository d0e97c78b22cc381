// Uploads in pieces from pages: the resumable API with the cookie that only pages read. Pieces are streamed through.

import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../plugins/http-error.ts'
import type { PageTools } from '../send.ts'
import { type Api, filled, resultOf } from './api.ts'
import { saidOf } from './problems.ts'

/** By the address of the page, that of the API. */
const ADDRESSES = {
  '/videos/upload/pieces': '/api/v1/videos/upload-resumable',
  '/my-library/videos/:id/source/pieces': '/api/v1/videos/:id/source/replace-resumable',
  '/my-account/import-export/pieces/:userId': '/api/v1/users/:userId/imports/import-resumable',
}
/** Headers of the protocol. */
const SENT = ['content-type', 'content-length', 'content-range', 'x-upload-content-length', 'x-upload-content-type']

export function addUploadBridge({ app, visitors, languageOf }: PageTools, api: Api): void {
  async function pass(
    { request, reply, to }: { request: FastifyRequest; reply: FastifyReply; to: string },
    body?: string | Readable,
  ): Promise<FastifyReply> {
    const token = request.headers['x-form-token']
    visitors.refuseForeign(request)
    try {
      visitors.refuseForged(request, typeof token === 'string' ? token : undefined)
    } catch {
      // The session of the page has ended: the script leads to the login.
      throw new HttpError(401, 'This form is too old. Open its page again, and let the browser keep its cookies.')
    }
    const headers = Object.fromEntries(SENT.map((name) => [name, request.headers[name]?.toString()]))
    const query = new URL(request.url, 'http://inside').search
    const answer = await api.forward(request, {
      method: request.method,
      path: `${filled(to, request.params as Record<string, string>)}${query}`,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const uploadId = /upload_id=([\w-]+)/.exec(answer.headers.location ?? '')?.[1]
    const type = answer.headers['content-type']
    const result = resultOf(answer)
    const isRefused = !result.ok && type?.includes('json')
    return await reply
      .code(answer.status)
      .headers({
        'cache-control': 'no-store',
        ...(answer.headers.range ? { range: answer.headers.range } : {}),
        ...(uploadId ? { 'x-upload-id': uploadId } : {}),
        ...(type ? { 'content-type': type } : {}),
      })
      .send(isRefused ? JSON.stringify({ detail: saidOf(result.refusal).in(languageOf(request)) }) : answer.body)
  }

  const hidden = { hide: true } as const
  for (const [path, to] of Object.entries(ADDRESSES)) {
    app.post(path, { schema: hidden }, async (request, reply) => {
      const body = JSON.stringify(request.body ?? {})
      delete request.headers['content-length']
      return await pass({ request, reply, to }, body)
    })
    app.put(path, { schema: hidden, config: { body: 'stream' } }, async (request, reply) => await pass({ request, reply, to }, request.raw))
    app.delete(path, { schema: hidden }, async (request, reply) => await pass({ request, reply, to }))
  }
}
