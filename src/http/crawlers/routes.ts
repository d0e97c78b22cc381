// `/sitemap.xml`, and the further files that it lists on a large server.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import { listPages } from '../../actors/sitemap/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { realFolder } from '../../platform/folder.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Area } from '../plugins/types.ts'
import { sendFromFolder } from '../static/send-from-folder.ts'
import type { Here } from '../videos/actor.view.ts'
import { sitemapItem } from './sitemap-items.ts'
import { makeSitemaps } from './sitemaps.ts'

export function crawlersArea(deps: {
  db: Database
  config: () => Config
  urls: Here
  clock: Clock
  logger: Logger
  /** Folder of the files. */
  folder: string
}): Area {
  const { db, config, urls, folder } = deps
  const sitemaps = makeSitemaps({
    ...deps,
    root: folder,
    origin: urls.origin,
    keepMs: () => config().vireo.caching.routes.sitemap,
    async *items() {
      yield { url: `${urls.origin}/` }
      for (const path of ['/about', '/about/instance']) yield { url: urls.origin + path }
      const nsfw = config().instance.default_nsfw_policy !== 'do_not_list'
      for await (const page of listPages(db, { nsfw })) yield sitemapItem(page, urls)
    },
  })

  async function serve(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    const root = await realFolder(await sitemaps.folder())
    const cacheControl = `max-age=${Math.round(config().vireo.caching.routes.sitemap / 1000)}`
    if (root && (await sendFromFolder(request, reply, { root, path, cacheControl }))) return reply
    throw notFound('There is nothing here.')
  }

  const options = { config: { limits: ['client'] } } as const
  return (app) => {
    app.get('/sitemap.xml', { ...options, schema: { hide: true } }, (request, reply) => serve(request, reply, 'sitemap.xml'))
    app.get('/sitemap-:page.xml', { ...options, schema: { params: z.object({ page: z.string() }), hide: true } }, (request, reply) =>
      serve(request, reply, `sitemap-${request.params.page}.xml`),
    )
  }
}
