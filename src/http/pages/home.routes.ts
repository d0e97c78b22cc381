// The first page: the latest videos.

import { listVideos } from '../../actors/video/index.ts'
import { homeBody } from './bodies/home.ts'
import { headTagsOf } from './heads/index.ts'
import { headed } from './layout.ts'
import { type PageTools, pageOptions } from './send.ts'

const COUNT = 24

export function addHomePage({ app, db, config, urls, site, send }: PageTools): void {
  app.get('/', pageOptions, async (request, reply) => {
    const { rows } = await listVideos(db, {
      scope: { of: 'everybody' },
      internal: false,
      start: 0,
      count: COUNT,
      sort: { by: 'publishedAt', descending: true },
      skipCount: true,
      mutedFor: null,
      ...(config().instance.default_nsfw_policy === 'do_not_list' ? { nsfw: false } : {}),
    })
    const head = headTagsOf({ kind: 'home' }, { site: site(), here: urls })
    return send(request, reply, { ...headed(head), body: homeBody(rows) })
  })
}
