// ActivityPub on local addresses: documents for other servers where people see pages, and the well-known documents.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/index.ts'
import { addConstraint } from '../plugins/constraint.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { LimitGroup } from '../plugins/rate-limit-groups.ts'
import type { Area } from '../plugins/types.ts'
import { prefersActivityPub } from './accept.ts'

/** The response of the federation layer; null if the address serves nothing there. */
export type ActivityPubPort = (request: {
  method: string
  /** Path and query. */
  url: string
  /** The same as sent, which signatures cover; `url` by default. */
  signedUrl?: string
  headers: Record<string, string | string[] | undefined>
}) => Promise<{ status: number; headers: Record<string, string>; body: Buffer } | null>

/** Tabs of an actor's page: separate routes, which would match before the one for everything below an actor. */
const TABS = ['videos', 'video-channels', 'video-playlists', 'about'] as const

/** Addresses that serve a document to servers and a page to people. */
const SHARED = [
  ...['/accounts/:name', '/video-channels/:name', '/a/:name', '/c/:name', '/@:name'].flatMap((actor) => [
    actor,
    `${actor}/*`,
    ...TABS.map((tab) => `${actor}/${tab}`),
  ]),
  '/videos/watch/:id',
  '/videos/watch/:id/*',
  '/videos/local-viewer/:uuid',
  '/videos/local-viewer/:uuid/*',
  '/w/:id',
  '/video-playlists/:id',
  '/video-playlists/:id/*',
  '/w/p/:id',
  '/videos/watch/playlist/:id',
  '/redundancy/videos/:id/:file',
  '/redundancy/videos/:id/:file/*',
  '/redundancy/streaming-playlists/:type/:id',
  '/redundancy/streaming-playlists/:type/:id/*',
]

const WELL_KNOWN = ['/.well-known/webfinger', '/.well-known/nodeinfo', '/.well-known/host-meta'] as const

const CONSTRAINT = 'activityPub'

export function activityPubArea({ serveActivityPub, config }: { serveActivityPub: ActivityPubPort; config: () => Config }): Area {
  async function serve(request: FastifyRequest, reply: FastifyReply, absent = nothing): Promise<FastifyReply> {
    const { method, url, originalUrl, headers } = request
    const answer = await serveActivityPub({ method, url, signedUrl: originalUrl, headers })
    if (!answer) throw absent()
    return reply.code(answer.status).headers(answer.headers).send(answer.body)
  }

  return (app) => {
    // Routes with this constraint match requests for ActivityPub; all others fall through to the pages.
    addConstraint(app, CONSTRAINT, (accept) => (prefersActivityPub(accept) ? 'document' : undefined))

    const limits: LimitGroup[] = ['activity_pub']
    for (const path of SHARED) {
      app.route({
        method: 'GET',
        url: path,
        constraints: { [CONSTRAINT]: 'document' },
        config: { limits },
        schema: { hide: true },
        // Refusals depend on the Accept header too.
        async onRequest(_request, reply) {
          reply.header('vary', 'Accept')
          refuseDisabledFederation(config())
        },
        handler: (request, reply) => serve(request, reply),
      })
    }
    for (const path of WELL_KNOWN) app.get(path, { schema: { hide: true } }, (request, reply) => serve(request, reply))
    app.get('/nodeinfo/:version', { schema: { hide: true } }, (request, reply) => serve(request, reply, noSchema))
  }
}

/** Throws HttpError 406 while this server does not speak ActivityPub. */
export function refuseDisabledFederation({ federation }: Config): void {
  if (!federation.enabled) throw new HttpError(406, 'Federation is disabled on this server.')
}

const nothing = (): HttpError => new HttpError(404, 'There is nothing here.')

/** The response of the reference for unsupported versions. */
const noSchema = (): HttpError =>
  new HttpError(404, 'Nodeinfo schema version not handled', {
    headers: { 'cache-control': 'no-cache, no-store, must-revalidate' },
  })
