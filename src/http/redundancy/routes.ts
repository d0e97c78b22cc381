// Redundancy of videos, for administrators: `/server/redundancy`.

import { z } from 'zod'
import { listMirroredVideos, type Redundancies } from '../../actors/redundancy/index.ts'
import { findVideoId } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { hostText } from '../plugins/handles.ts'
import { idOrUuidInJson, idText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'

import { mirroredVideoView, toMirroredVideoView } from './views.ts'

export interface RedundancyDeps {
  db: Database
  config: () => Config
  redundancies: Pick<Redundancies, 'request' | 'remove' | 'allowHost'>
}

const mirroredQuery = (config: Config) =>
  z.object({ ...paging(config), target: z.enum(['my-videos', 'remote-videos']), sort: sorting(['name'], 'name') })

const mirrorBody = z.object({ videoId: idOrUuidInJson('video') })

const allowedBody = z.object({ redundancyAllowed: z.boolean('Should have a valid redundancyAllowed boolean') })

export function redundancyArea({ db, config, redundancies }: RedundancyDeps): Area {
  const videos = { right: 'MANAGE_VIDEOS_REDUNDANCIES' } as const
  const tags = ['Video Mirroring']

  return (app) => {
    app.get(
      '/api/v1/server/redundancy/videos',
      {
        config: videos,
        schema: { tags, querystring: mirroredQuery(config()), response: { 200: listOf(mirroredVideoView) } },
      },
      async ({ query: { target, start, count, sort } }) => {
        const { total, rows } = await listMirroredVideos(db, { target, start, count, descending: sort.descending })
        return { total, data: rows.map(toMirroredVideoView) }
      },
    )

    app.post(
      '/api/v1/server/redundancy/videos',
      { config: videos, schema: { tags, body: mirrorBody, response: { 204: z.null() } } },
      async ({ body }, reply) => {
        await redundancies.request({ videoId: await findVideoId(db, body.videoId) })
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/server/redundancy/videos/:redundancyId',
      { config: videos, schema: { tags, params: z.object({ redundancyId: idText }), response: { 204: z.null() } } },
      async ({ params }, reply) => {
        await redundancies.remove(params.redundancyId)
        return reply.code(204).send(null)
      },
    )

    app.put(
      '/api/v1/server/redundancy/:host',
      {
        config: { right: 'MANAGE_SERVER_FOLLOW' },
        schema: {
          tags: ['Instance Redundancy'],
          params: z.object({ host: hostText(config) }),
          body: allowedBody,
          response: { 204: z.null() },
        },
      },
      async ({ params, body }, reply) => {
        await redundancies.allowHost(params.host, body.redundancyAllowed)
        return reply.code(204).send(null)
      },
    )
  }
}
