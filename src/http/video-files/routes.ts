// The files of a video, for administrators: removing some, and transcoding again.

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import type { TranscodeAgain } from '../../actors/transcoding/index.ts'
import { type FileFormat, findVideoAccess, type RemoveFiles, type VideoKey } from '../../actors/video/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid, idText } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'

const params = z.object({ id: idOrUuid('video') })
const fileParams = params.extend({ videoFileId: idText })
const response = { 204: z.null() }

export interface VideoFilesDeps extends TranscodeAgain, RemoveFiles {
  db: Database
}

/** Adds `hls`, `web-videos` and `transcoding` to `/api/v1/videos/{id}`. */
export function videoFilesArea({ db, removeFiles, transcodeAgain }: VideoFilesDeps): Area {
  async function existing(key: VideoKey): Promise<number> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video.id
  }

  const sendNothing = (reply: FastifyReply) => reply.code(204).send(null)

  function addRemoval(app: App, format: FileFormat, operations: { all: string; one: string }): void {
    const config = { right: 'MANAGE_VIDEO_FILES' } as const
    const tags = ['Video Files']
    app.delete(
      `/api/v1/videos/:id/${format}`,
      { config, schema: { tags, operationId: operations.all, params, response } },
      async (request, reply) => {
        await removeFiles(await existing(request.params.id), { format })
        return await sendNothing(reply)
      },
    )
    app.delete(
      `/api/v1/videos/:id/${format}/:videoFileId`,
      { config, schema: { tags, operationId: operations.one, params: fileParams, response } },
      async (request, reply) => {
        const { id, videoFileId } = request.params
        await removeFiles(await existing(id), { format, fileId: videoFileId })
        return await sendNothing(reply)
      },
    )
  }

  return (app) => {
    addRemoval(app, 'hls', { all: 'delVideoHLS', one: 'delVideoHLSFile' })
    addRemoval(app, 'web-videos', { all: 'delVideoWebVideos', one: 'delVideoWebVideoFile' })

    app.post(
      '/api/v1/videos/:id/transcoding',
      {
        config: { right: 'RUN_VIDEO_TRANSCODING' },
        schema: {
          tags: ['Video Transcoding'],
          operationId: 'createVideoTranscoding',
          params,
          body: z.object({
            transcodingType: z.enum(['hls', 'web-video']),
            forceTranscoding: z.boolean().default(false),
          }),
          response,
        },
      },
      async (request, reply) => {
        const { transcodingType: format, forceTranscoding: force } = request.body
        await transcodeAgain(await existing(request.params.id), { format, force })
        return await sendNothing(reply)
      },
    )
  }
}
