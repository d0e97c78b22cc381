// Uploads in pieces from pages: the resumable API with the cookie that only pages read. Pieces are streamed through.

import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { recognized } from '../../../platform/language.ts'
import { HttpError } from '../../plugins/http-error.ts'
import type { PageTools } from '../send.ts'
import { type Api, filled, resultOf, type Values } from './api.ts'
import type { Screen } from './parts.ts'

const SENT = ['content-type', 'content-length', 'content-range']

/** Adds the address of the pieces below each page with a form that sends some. */
export function addUploadBridge({ app, visitors, languageOf }: PageTools, api: Api, { path, parts }: Screen): void {
  const [pieces] = parts.flatMap((part) => ('pieces' in part && part.pieces ? [part.pieces] : []))
  if (!pieces) return
  const [, to = ''] = pieces.split(' ')

  async function pass(request: FastifyRequest, reply: FastifyReply, body?: Readable): Promise<FastifyReply> {
    const token = request.headers['x-form-token']
    visitors.refuseForeign(request)
    const visit = await visitors.of(request)
    try {
      visitors.refuseForged(request, typeof token === 'string' ? token : undefined)
    } catch {
      // The session of the page has ended: the script leads to the login.
      throw new HttpError(401, 'This form is too old. Open its page again, and let the browser keep its cookies.')
    }
    const values: Values = { ...(request.params as object), userId: visit?.user.id }
    const answer = await api.forward(request, {
      method: request.method,
      path: `${filled(to, values)}${new URL(request.url, 'http://inside').search}`,
      headers: Object.fromEntries(SENT.map((name) => [name, request.headers[name]?.toString()])),
      ...(body ? { body } : {}),
    })
    const { range } = answer.headers
    const result = resultOf(answer)
    const headers = { 'cache-control': 'no-store', 'content-type': 'application/json', ...(range ? { range } : {}) }
    const said = result.ok ? answer.body : JSON.stringify({ detail: recognized(result.refusal.detail).in(languageOf(request)) })
    return await reply.code(answer.status).headers(headers).send(said)
  }

  app.put(`${path}/pieces`, { schema: { hide: true }, config: { body: 'stream' } }, (request, reply) => pass(request, reply, request.raw))
  app.delete(`${path}/pieces`, { schema: { hide: true } }, (request, reply) => pass(request, reply))
}
