// The passwords of a protected video, for its owner and the staff.

import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import {
  assertMayChange,
  findVideoAccess,
  listPasswords,
  refuseUnprotected,
  type VideoAccessRow,
  type VideoKey,
  type VideoPasswords,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idOrUuid, idText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { viewerOf } from '../videos/viewer.ts'

const tags = ['Video Passwords']
const byVideo = z.object({ id: idOrUuid('video') })
const byPassword = z.object({ id: idOrUuid('video'), videoPasswordId: idText })

const passwordView = z
  .object({
    id: z.int(),
    password: z.string(),
    videoId: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'VideoPassword' })

// The command limits number and length; this limit is for reading the body at all.
const LIST = 'Should be a list of passwords'
const replacement = z.object({ passwords: z.array(z.string(LIST), LIST).max(1000, LIST) })

export interface VideoPasswordsDeps {
  db: Database
  config: () => Config
  videoPasswords: VideoPasswords
}

/** Adds `/api/v1/videos/{id}/passwords`. */
export function videoPasswordsArea({ db, config, videoPasswords }: VideoPasswordsDeps): Area {
  async function existing(key: VideoKey): Promise<VideoAccessRow> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video
  }

  return (app) => {
    app.get(
      '/api/v1/videos/:id/passwords',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params: byVideo,
          querystring: z.object({ ...paging(config()), sort: sorting(['createdAt'], '-createdAt') }),
          response: { 200: listOf(passwordView) },
        },
      },
      async (request) => {
        const video = await existing(request.params.id)
        assertMayChange(video, viewerOf(sessionOf(request)), 'SEE_ALL_VIDEOS')
        refuseUnprotected(video)
        const { start, count, sort } = request.query
        const { total, rows } = await listPasswords(db, {
          videoId: video.id,
          start,
          count,
          descending: sort.descending,
        })
        return {
          total,
          data: rows.map((row) => ({
            id: row.id,
            password: row.password,
            videoId: row.video_id,
            createdAt: row.created_at.toISOString(),
            updatedAt: row.updated_at.toISOString(),
          })),
        }
      },
    )

    app.put(
      '/api/v1/videos/:id/passwords',
      {
        config: { auth: 'user' },
        schema: { tags, params: byVideo, body: replacement, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { id } = await existing(request.params.id)
        await videoPasswords.replace(id, viewerOf(sessionOf(request)), request.body.passwords)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/videos/:id/passwords/:videoPasswordId',
      { config: { auth: 'user' }, schema: { tags, params: byPassword, response: { 204: z.null() } } },
      async (request, reply) => {
        const { id, videoPasswordId } = request.params
        const video = await existing(id)
        await videoPasswords.remove(video.id, viewerOf(sessionOf(request)), videoPasswordId)
        return reply.code(204).send(null)
      },
    )
  }
}
