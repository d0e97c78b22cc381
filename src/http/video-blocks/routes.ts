// Videos that the instance blocks: `/videos/:id/blacklist`, `/videos/blacklist`.

import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import { type FileTokens, findVideoAccess, type VideoKey, videoBlockTypes } from '../../actors/video/index.ts'
import { listVideoBlocks, type VideoBlocks, videoBlockSortFields } from '../../actors/video-block/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { coercedInteger, idOrUuid, listOf, paging, readable, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { tokensFor } from '../videos/address-token.ts'
import { toVideoBlockView, videoBlockView } from './views.ts'

export interface VideoBlocksDeps {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  videoBlocks: VideoBlocks
}

const tags = ['Video Blocks']
const params = z.object({ id: idOrUuid('video') })
const reason = readable(z.string().min(2).max(300)).nullish()

export function videoBlocksArea({ db, config, urls, fileTokens, videoBlocks }: VideoBlocksDeps): Area {
  const manage = { right: 'MANAGE_VIDEO_BLACKLIST' } as const
  const noContent = { 204: z.null() }

  async function idOf(key: VideoKey): Promise<number> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video.id
  }

  return (app) => {
    app.get(
      '/api/v1/videos/blacklist',
      {
        config: manage,
        schema: {
          tags,
          operationId: 'getVideoBlocks',
          querystring: z.object({
            ...paging(config()),
            type: coercedInteger({ min: videoBlockTypes.manual, max: videoBlockTypes.automatic }).optional(),
            search: z.string().max(1000).optional(),
            sort: sorting(videoBlockSortFields, '-createdAt'),
          }),
          response: { 200: listOf(videoBlockView) },
        },
      },
      async (request) => {
        const { total, rows } = await listVideoBlocks(db, request.query)
        const options = { here: urls, tokenOf: tokensFor(fileTokens, request) }
        return { total, data: await Promise.all(rows.map((row) => toVideoBlockView(row, options))) }
      },
    )

    app.post(
      '/api/v1/videos/:id/blacklist',
      {
        config: manage,
        schema: {
          tags,
          operationId: 'addVideoBlock',
          params,
          body: z.object({ reason, unfederate: z.boolean().optional() }),
          response: noContent,
        },
      },
      async (request, reply) => {
        const { reason = null, unfederate = false } = request.body
        await videoBlocks.block(await idOf(request.params.id), {
          reason,
          unfederate,
          byUserId: sessionOf(request).user.id,
        })
        return reply.code(204).send(null)
      },
    )

    app.put(
      '/api/v1/videos/:id/blacklist',
      { config: manage, schema: { tags, params, body: z.object({ reason }), response: noContent } },
      async (request, reply) => {
        await videoBlocks.update(await idOf(request.params.id), { reason: request.body.reason })
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/videos/:id/blacklist',
      { config: manage, schema: { tags, operationId: 'delVideoBlock', params, response: noContent } },
      async (request, reply) => {
        await videoBlocks.unblock(await idOf(request.params.id), { byUserId: sessionOf(request).user.id })
        return reply.code(204).send(null)
      },
    )
  }
}
