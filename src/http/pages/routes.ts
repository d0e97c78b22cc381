// The pages for people: a video, its embed, the latest videos, about. ActivityPub on the same addresses is answered
// before a request gets here.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findVideoDetails, isOpen, listVideos, type VideoDetailsRow, videoPrivacies } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { html } from '../../platform/html.ts'
import { etagOf, isFresh } from '../plugins/conditional.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { addAssets } from './assets.ts'
import { aboutBody, homeBody, missingBody, watchBody } from './bodies.ts'
import { cardsOf, type Site } from './cards.ts'
import { contentSecurityPolicy, layout, type Page } from './layout.ts'
import { playerOf, sourcesOf } from './player.ts'

export interface PagesDeps {
  db: Database
  config: () => Config
  urls: Here
}

const HOME_COUNT = 24
const videoKey = idOrUuid('video')
const routeOptions = {
  schema: { params: z.object({ id: z.string() }), hide: true },
  config: { limits: ['client'] },
} as const

/** Adds the pages, their assets, and the page for what is not there. */
export function pagesArea({ db, config, urls }: PagesDeps): Area {
  const siteOf = (): Site => {
    const { instance, services } = config()
    return { name: instance.name, description: instance.short_description, twitter: services.twitter.username }
  }

  return (app) => {
    const assets = addAssets(app)

    interface Answer extends Page {
      status?: number
      origins?: readonly string[]
    }

    function send(request: FastifyRequest, reply: FastifyReply, { status = 200, origins = [], ...page }: Answer) {
      const body = layout(page, siteOf(), assets)
      const etag = etagOf(body)
      const framed = page.embed === true
      reply.code(status).headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'max-age=0, no-cache, must-revalidate',
        vary: 'Accept',
        etag,
        'content-security-policy': contentSecurityPolicy({ origins, framed }),
        'referrer-policy': 'strict-origin-when-cross-origin',
      })
      if (status === 200 && isFresh(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.send(body)
    }

    const sendMissing = (request: FastifyRequest, reply: FastifyReply, embed = false) =>
      send(request, reply, { status: 404, title: 'Not found', body: missingBody(), embed })

    /** The video, if everybody with the link may watch it. Unlisted ones are not found by their number. */
    async function openVideo(id: string): Promise<VideoDetailsRow | undefined> {
      const key = videoKey.safeParse(id).data
      const video = key && (await findVideoDetails(db, key))
      if (!video || !isOpen(video)) return undefined
      return key && 'id' in key && video.privacy !== videoPrivacies.public ? undefined : video
    }

    for (const path of ['/w/:id', '/videos/watch/:id']) {
      app.get(path, routeOptions, async (request, reply) => {
        const video = await openVideo(request.params.id)
        if (!video) return sendMissing(request, reply)
        const sources = sourcesOf(video, urls)
        return send(request, reply, {
          title: video.name,
          head: cardsOf(video, siteOf(), urls),
          body: watchBody(video, playerOf(video, sources), urls),
          player: true,
          origins: sources.origins,
        })
      })
    }

    app.get(
      '/videos/embed/:id',
      { ...routeOptions, config: { ...routeOptions.config, frameguard: false } },
      async (request, reply) => {
        const video = await openVideo(request.params.id)
        if (!video) return sendMissing(request, reply, true)
        const sources = sourcesOf(video, urls)
        return send(request, reply, {
          title: video.name,
          head: html`<meta name="robots" content="noindex">`,
          body: playerOf(video, sources),
          player: true,
          embed: true,
          origins: sources.origins,
        })
      },
    )

    const plain = { schema: { hide: true }, config: { limits: ['client'] } } as const
    app.get('/', plain, async (request, reply) => {
      const { rows } = await listVideos(db, {
        scope: { of: 'everybody' },
        internal: false,
        start: 0,
        count: HOME_COUNT,
        sort: { by: 'publishedAt', descending: true },
        skipCount: true,
        mutedFor: null,
        ...(config().instance.default_nsfw_policy === 'do_not_list' ? { nsfw: false } : {}),
      })
      const site = siteOf()
      const head = html`<meta name="description" content="${site.description}">`
      return send(request, reply, { title: site.name, head, body: homeBody(rows) })
    })

    app.get('/about', plain, async (request, reply) => {
      const { name, description, terms } = config().instance
      return send(request, reply, { title: 'About', body: aboutBody({ name, description, terms }) })
    })

    app.get('/*', plain, async (request, reply) => {
      if (!wantsHtml(request)) return reply.callNotFound()
      return sendMissing(request, reply)
    })
  }
}

const wantsHtml = (request: FastifyRequest): boolean => /text\/html/i.test(request.headers.accept ?? '')
