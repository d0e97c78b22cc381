// Watch history of a user: `/users/me/history/videos`.

import { z } from 'zod'
import type { History } from '../../actors/history/index.ts'
import { findVideoId, type VideoListQuery } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, withForm } from '../plugins/multipart.ts'
import { idOrUuid, listOf, moment, paging } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { videoView } from '../videos/video.view.ts'
import type { VideoPages } from '../videos/video-pages.ts'

export interface HistoryAreaDeps {
  db: Database
  config: () => Config
  videoPages: VideoPages
  history: History
}

const tags = ['My History']
const auth = 'user'
/** An omitted or empty field means no limit. */
const bounds = z.object({ beforeDate: z.preprocess((sent) => (sent === '' ? null : sent), moment.nullish()) })

export function historyArea({ db, config, videoPages, history }: HistoryAreaDeps): Area {
  return (app) => {
    app.get(
      '/api/v1/users/me/history/videos',
      {
        config: { auth },
        schema: {
          tags,
          querystring: z.object({ ...paging(config()), search: z.string().max(1000).optional() }),
          response: { 200: listOf(videoView) },
        },
      },
      async (request) => {
        const { start, count, search } = request.query
        const { accountId } = sessionOf(request).user
        const asked: VideoListQuery = {
          scope: { of: 'watched', accountId },
          start,
          count,
          search: search || undefined,
          sort: { by: 'publishedAt', descending: true },
          internal: true,
          skipCount: false,
          mutedFor: accountId,
          watcher: accountId,
        }
        return await videoPages(request, asked, 0)
      },
    )

    app.delete(
      '/api/v1/users/me/history/videos/:videoId',
      {
        config: { auth },
        schema: { tags, params: z.object({ videoId: idOrUuid('video') }), response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { accountId } = sessionOf(request).user
        await history.forget({ accountId, videoId: await findVideoId(db, request.params.videoId) })
        return reply.code(204).send(null)
      },
    )

    addFormRoutes(app, (forms) => {
      forms.post(
        '/api/v1/users/me/history/videos/remove',
        {
          config: { auth, form: { fields: bounds, json: bounds, files: [] } },
          schema: { tags, response: { 204: z.null() } },
        },
        async (request, reply) => {
          await withForm(request, { fields: bounds, files: {} }, async ({ fields }) => {
            await history.forgetAll(sessionOf(request).user.accountId, fields.beforeDate ?? undefined)
          })
          return reply.code(204).send(null)
        },
      )
    })
  }
}
