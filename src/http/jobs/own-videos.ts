// The work under way on the own videos: `/vireo/users/me/videos/processing`.

import { z } from 'zod'
import { listWorkOnVideos, workSteps } from '../../actors/job-queue/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import { sessionOf } from '../plugins/auth.ts'
import { listOf, paging } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'

const workView = z
  .object({
    video: z.object({ id: z.int(), uuid: z.uuid(), shortUUID: z.string() }),
    step: z.enum(workSteps),
    state: z.enum(['waiting', 'running']),
    progress: z.number().min(0).max(100).meta({ description: 'Percent.' }),
  })
  .meta({ id: 'WorkOnVideo' })

export function ownVideosWorkArea({ db, config }: { db: Database; config: () => Config }): Area {
  return (app) => {
    app.get(
      '/api/v1/vireo/users/me/videos/processing',
      {
        config: { auth: 'user' },
        schema: {
          operationId: 'listWorkOnOwnVideos',
          summary: 'List what is done with the own videos now, such as their transcoding',
          tags: ['My User'],
          querystring: z.object(paging(config())),
          response: { 200: listOf(workView) },
        },
      },
      async (request) => {
        const { total, rows } = await listWorkOnVideos(db, { accountId: sessionOf(request).user.accountId, ...request.query })
        const data = rows.map(({ video, step, isRunning, progress }) => ({
          video: { ...video, shortUUID: toShortUuid(video.uuid) },
          step,
          state: isRunning ? ('running' as const) : ('waiting' as const),
          progress,
        }))
        return { total, data }
      },
    )
  }
}
