// The source file of a video: its data, its removal, and its replacement by a resumable upload.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { rangeHeader, type Uploads } from '../../actors/upload/index.ts'
import { assertMayChange, findSource, findVideoAccess, type ReplaceSource, type VideoKey } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { parseContentRange } from '../uploads/content-range.ts'
import { fileId, filename, initHeaders, nothing, ofUpload, sendEmpty, tokenOf, UNCACHED } from '../uploads/resumable.ts'
import type { Here } from '../videos/actor.view.ts'
import { sourceView, toSourceView } from '../videos/file.view.ts'
import { viewerOf } from '../videos/viewer.ts'

const tags = ['Video']
const params = z.object({ id: idOrUuid('video') })
const ownSourceView = sourceView.extend({ fileUrl: z.string().nullable() }).meta({ id: 'OwnVideoSource' })

export interface VideoSourceDeps {
  db: Database
  config: () => Config
  urls: Here
  uploads: Uploads
  replaceSource: Pick<ReplaceSource, 'removeRetained'>
}

/** Adds `/api/v1/videos/{id}/source`. */
export function videoSourceArea({ db, config, urls, uploads, replaceSource }: VideoSourceDeps): Area {
  async function existing(key: VideoKey) {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video
  }

  /** The source as its owner and the staff see it. */
  async function shown(request: FastifyRequest, key: VideoKey): Promise<z.infer<typeof ownSourceView>> {
    const video = await findSource(db, key)
    if (!video) throw notFound('Video not found')
    assertMayChange(video, viewerOf(sessionOf(request)), 'UPDATE_ANY_VIDEO')
    if (!video.source) throw notFound('Video source not found')
    return { ...toSourceView(video.source, urls), fileUrl: null }
  }

  function assertEnabled(): void {
    if (!config().video_file.update.enabled) {
      throw new DomainError('forbidden', 'The files of videos are not replaced on this server.')
    }
  }

  return (app) => {
    app.get(
      '/api/v1/videos/:id/source',
      {
        config: { auth: 'user' },
        schema: { tags, operationId: 'getVideoSource', params, response: { 200: ownSourceView } },
      },
      async (request) => await shown(request, request.params.id),
    )

    app.delete(
      '/api/v1/videos/:id/source/file',
      {
        config: { right: 'MANAGE_VIDEO_FILES' },
        schema: { tags, operationId: 'deleteVideoSourceFile', params, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { id } = await existing(request.params.id)
        await replaceSource.removeRetained(id)
        return reply.code(204).send(null)
      },
    )

    const address = '/api/v1/videos/:id/source/replace-resumable'
    app.post(
      address,
      {
        bodyLimit: config().vireo.uploads.max_metadata,
        config: { auth: 'user' },
        schema: { tags, params, headers: initHeaders, body: z.object({ filename, fileId }), response: { 201: nothing } },
      },
      async (request, reply) => {
        assertEnabled()
        const { user } = sessionOf(request)
        const { id: videoId, uuid } = await existing(request.params.id)
        const { token } = await uploads.openReplacement({
          userId: user.id,
          by: viewerOf(sessionOf(request)),
          videoId,
          fileName: request.body.filename,
          fileId: request.body.fileId,
          size: request.headers['x-upload-content-length'],
          type: request.headers['x-upload-content-type'],
        })
        const location = `//${urls.host}${address.replace(':id', uuid)}?upload_id=${token}`
        return await sendEmpty(reply, 201, { location })
      },
    )

    app.put(
      address,
      {
        config: { auth: 'user', body: 'stream' },
        schema: { tags, params, querystring: ofUpload, response: { 200: ownSourceView, 308: nothing } },
      },
      async (request, reply) => {
        assertEnabled()
        const { id: videoId } = await existing(request.params.id)
        const receipt = await uploads.receive({
          userId: sessionOf(request).user.id,
          token: tokenOf(request),
          videoId,
          range: parseContentRange(request.headers['content-range']),
          body: request.raw,
        })
        if (!receipt.done) return await sendEmpty(reply, 308, rangeHeader(receipt.received))
        return await reply
          .code(200)
          .headers(UNCACHED)
          .send(await shown(request, { id: videoId }))
      },
    )

    app.delete(
      address,
      {
        config: { auth: 'user' },
        schema: { tags, params, querystring: ofUpload, response: { 204: nothing } },
      },
      async (request, reply) => {
        await existing(request.params.id)
        await uploads.cancel({ userId: sessionOf(request).user.id, token: tokenOf(request) })
        return await sendEmpty(reply, 204)
      },
    )
  }
}
