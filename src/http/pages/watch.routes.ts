// The page of a video.

import { z } from 'zod'
import { watchBody } from './bodies/watch.ts'
import { headTagsOf } from './heads/index.ts'
import { headed } from './layout.ts'
import { openVideo } from './open-video.ts'
import { playerOf, sourcesOf } from './player.ts'
import { type PageTools, pageOptions } from './send.ts'

const options = { ...pageOptions, schema: { params: z.object({ id: z.string() }), hide: true } } as const

export function addWatchPages({ app, db, urls, site, send, sendMissing }: PageTools): void {
  for (const path of ['/w/:id', '/videos/watch/:id']) {
    app.get(path, options, async (request, reply) => {
      const video = await openVideo(db, request.params.id)
      if (!video) return sendMissing(request, reply)
      const sources = sourcesOf(video, urls)
      return send(request, reply, {
        ...headed(headTagsOf({ kind: 'video', video }, { site: site(), here: urls })),
        body: watchBody(video, playerOf(video, sources), urls),
        player: true,
        origins: sources.origins,
      })
    })
  }
}
