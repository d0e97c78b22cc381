// The player alone, for frames of other sites.

import { z } from 'zod'
import { headTagsOf } from './heads/index.ts'
import { headed } from './layout.ts'
import { openVideo } from './open-video.ts'
import { playerOf, sourcesOf } from './player.ts'
import { type PageTools, pageOptions } from './send.ts'

const options = {
  schema: { params: z.object({ id: z.string() }), hide: true },
  config: { ...pageOptions.config, frameguard: false },
} as const

export function addEmbedPages({ app, db, urls, site, send, sendMissing }: PageTools): void {
  app.get('/videos/embed/:id', options, async (request, reply) => {
    const video = await openVideo(db, request.params.id)
    if (!video) return sendMissing(request, reply, true)
    const sources = sourcesOf(video, urls)
    return send(request, reply, {
      ...headed(headTagsOf({ kind: 'video', video, embed: true }, { site: site(), here: urls })),
      body: playerOf(video, sources),
      player: true,
      embed: true,
      origins: sources.origins,
    })
  })
}
