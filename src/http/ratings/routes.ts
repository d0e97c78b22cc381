// Likes and dislikes of the current user.

import { z } from 'zod'
import { findRating, type Ratings } from '../../actors/rating/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import { findVideoAccess } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { visibleVideo } from '../videos/visible-video.ts'

const ratings = z.enum(['like', 'dislike', 'none'])

export function ratingsArea(deps: { db: Database; config: () => Config; ratings: Ratings }): Area {
  const { db } = deps

  return (app) => {
    app.put(
      '/api/v1/videos/:id/rate',
      {
        config: { auth: 'user' },
        schema: {
          tags: ['Video Rates'],
          params: z.object({ id: idOrUuid('video') }),
          body: z.object({ rating: ratings }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const { id: videoId } = await visibleVideo(deps, request, request.params.id)
        const { accountId } = sessionOf(request).user
        await deps.ratings.setRating({ videoId, accountId, rating: request.body.rating })
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/users/me/videos/:videoId/rating',
      {
        config: { auth: 'user' },
        schema: {
          tags: ['My User'],
          params: z.object({ videoId: idOrUuid('video') }),
          response: { 200: z.object({ videoId: z.int(), rating: ratings }) },
        },
      },
      async (request) => {
        const video = await findVideoAccess(db, request.params.videoId)
        if (!video) throw notFound('Video not found')
        const rating = await findRating(db.query, video.id, sessionOf(request).user.accountId)
        return { videoId: video.id, rating }
      },
    )
  }
}
