// Parsing of bodies: JSON and forms are parsed, routes may request the raw bytes, and other types are read and ignored.

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { isDeep } from '../../platform/json-depth.ts'
import { checkLength, maxFields, parseForm } from './form-fields.ts'
import { HttpError } from './http-error.ts'
import type { App } from './types.ts'

/** Maximum bytes of a parsed body, as clients of the API expect. A route may set its own `bodyLimit`. */
export const BODY_LIMIT = 512_000

/** Adds the parsers. Multipart forms are left to the handler, see multipart.ts. */
export async function addBodyParsers(app: App): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async ({ routeOptions: { schema, config } }: FastifyRequest, body: Buffer) =>
      config.body === 'raw' ? body : parseForm(body, maxFields(config.form?.fields ?? schema?.body)),
  )

  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<Buffer>(/^application\/(?:[\w.-]+\+)?json\b/i, { parseAs: 'buffer' }, (request, body, done) => {
    if (request.routeOptions.config.body === 'raw') done(null, body)
    else if (body.length === 0) done(null, undefined)
    else if (isDeep(body)) done(new HttpError(400, 'The body is nested too deeply.', { code: 'SyntaxError' }))
    else {
      checkLength(body.length)
      parseJson(request, body.toString(), done)
    }
  })

  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const mode = request.routeOptions.config.body
    if (mode === 'stream') return payload
    const bytes = await collect(payload, request.routeOptions.bodyLimit)
    return mode === 'raw' ? bytes : undefined
  })

  app.addHook('onRoute', (route) => {
    // Streams are handled by the parser of unknown types, whatever the client calls them.
    if (route.config?.body === 'stream') {
      const own = route.onRequest ?? []
      const untype = async (request: FastifyRequest) => {
        request.raw.headers['content-type'] = 'application/octet-stream'
      }
      route.onRequest = [...(Array.isArray(own) ? own : [own]), untype]
    }
  })
}

/** All bytes of a body. Throws 413 if there are more than `limit`. */
async function collect(payload: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of payload) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
    length += bytes.length
    if (length > limit) throw new HttpError(413, 'The body is larger than allowed.', { code: 'PayloadTooLargeError' })
    chunks.push(bytes)
  }
  return Buffer.concat(chunks, length)
}
