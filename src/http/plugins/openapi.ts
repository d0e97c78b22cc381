// The API's description (OpenAPI 3.1) and its page, both built on the first request.

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { describeApi } from '../openapi/document.ts'
import { etagOf, sendPrepared } from './conditional.ts'
import { HttpError } from './http-error.ts'
import type { App } from './types.ts'

const DOCUMENT = '/api/v1/openapi.json'
const PAGE = '/api/docs'
const SCRIPT = `${PAGE}/js/scalar.js`

/** Adds the document and the page. Observes the routes that are added after it. */
export function addOpenApi(app: App, options: { publicUrl: string; version: string }): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/api/v1/') && !route.schema?.hide && route.method !== 'HEAD') routes.push(route)
  })

  let document: { body: Buffer; etag: string } | undefined
  const hidden = { schema: { hide: true }, config: { etag: false } }
  app.get(DOCUMENT, hidden, (request, reply) => {
    if (!document) {
      const body = Buffer.from(JSON.stringify(describeApi({ ...options, routes })))
      document = { body, etag: etagOf(body) }
    }
    return sendPrepared(request, reply, document)
  })

  let viewer: Promise<FastifyInstance> | undefined
  async function answerPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    viewer ??= makeViewer()
    const path = request.url.startsWith(SCRIPT) ? SCRIPT : `${PAGE}/`
    const answer = await (await viewer).inject({ method: 'GET', url: path })
    if (answer.statusCode !== 200) throw new HttpError(404, 'There is nothing here.')
    if (path === SCRIPT) reply.header('cache-control', 'public, max-age=86400')
    return reply.header('content-type', answer.headers['content-type']).send(answer.rawPayload)
  }
  for (const path of [PAGE, SCRIPT]) app.get(path, hidden, answerPage)
}

/** The page's plugin contains 4 MB of script, so it is loaded for the first reader, in an application of its own. */
async function makeViewer(): Promise<FastifyInstance> {
  const [{ default: Fastify }, { default: scalar }] = await Promise.all([import('fastify'), import('@scalar/fastify-api-reference')])
  const viewer = Fastify()
  await viewer.register(scalar, {
    routePrefix: PAGE,
    configuration: {
      url: DOCUMENT,
      cdn: SCRIPT,
      pageTitle: 'Vireo REST API',
      withDefaultFonts: false,
      telemetry: false,
      // Hides commercial services of the viewer's vendor.
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  await viewer.ready()
  return viewer
}
