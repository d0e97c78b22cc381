// Lives: created, read and changed, and their sessions.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLive, findSessionOfReplay, type Lives, latencyModes, listLiveSessions, liveAddresses } from '../../actors/live/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import { assertMayChange, findVideoAccess, mayChange, publishDefaults, type VideoKey } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, withForm } from '../plugins/multipart.ts'
import { idOrUuid, listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { toNewVideo, uploadedVideo } from '../uploads/fields.ts'
import { fitPictures, pictureFiles, withFolder } from '../uploads/form-files.ts'
import { viewerOf } from '../videos/viewer.ts'
import { formLive, jsonLive, liveSettings, toSettings } from './fields.ts'
import { liveSessionView, liveView, toLiveSessionView, toLiveView } from './views.ts'

const tags = ['Live Videos']
const params = z.object({ videoId: idOrUuid('video') })
const byUser = { auth: 'user' } as const

export interface LiveVideosDeps {
  db: Database
  config: () => Config
  uploads: Pick<Uploads, 'beginForm' | 'fitPicture'>
  lives: Lives
}

/** Adds `/videos/live` and `/videos/{id}/live-session`. */
export function liveVideosArea({ db, config, uploads, lives }: LiveVideosDeps): Area {
  async function existing(key: VideoKey) {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    const live = await findLive(db, video.id)
    if (!live) throw notFound('Live video not found')
    return { video, live }
  }

  async function create(request: FastifyRequest) {
    const userId = sessionOf(request).user.id
    const { max_image_size: maxBytes } = config().vireo.uploads
    const video = await withFolder(uploads, async (folder) => {
      const form = { fields: request.isMultipart() ? formLive : jsonLive, files: pictureFiles({ folder, maxBytes }) }
      return await withForm(request, form, async (received) => {
        const fields = toNewVideo(received.fields, publishDefaults(config()))
        const pictures = await fitPictures(uploads, received.files)
        const settings = { ...DEFAULTS, ...toSettings(received.fields) }
        return await lives.create({ userId, fields, pictures, settings })
      })
    })
    return { video }
  }

  return (app) => {
    addFormRoutes(app, (forms) => {
      forms.post(
        '/api/v1/videos/live',
        {
          config: { ...byUser, form: { fields: formLive, json: jsonLive, files: ['thumbnailfile', 'previewfile'] } },
          schema: { tags, operationId: 'addLive', response: { 200: uploadedVideo } },
          // Before the body is read, which may be a form with pictures.
          preParsing: async () => {
            if (config().live.enabled) return
            throw new DomainError('forbidden', 'Live is not enabled on this instance', { code: 'live_not_enabled' })
          },
        },
        create,
      )
    })

    app.get(
      '/api/v1/videos/live/:videoId',
      { config: { auth: 'optional' }, schema: { tags, operationId: 'getLiveId', params, response: { 200: liveView } } },
      async ({ params: { videoId }, session }) => {
        const { video, live } = await existing(videoId)
        // Who has the key may publish, so a token that only reads does not get it.
        const mayPublish = session?.scopes?.some((scope) => scope === 'upload' || scope === 'manage') ?? true
        const isPublisher = mayPublish && mayChange(video, viewerOf(session), 'UPDATE_ANY_VIDEO')
        return toLiveView(live, isPublisher ? liveAddresses(config()) : undefined)
      },
    )

    app.put(
      '/api/v1/videos/live/:videoId',
      {
        config: byUser,
        schema: { tags, operationId: 'updateLiveId', params, body: liveSettings, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { video } = await existing(request.params.videoId)
        await lives.update(video.id, viewerOf(sessionOf(request)), toSettings(request.body))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/videos/live/:videoId/sessions',
      {
        config: byUser,
        schema: { tags, operationId: 'getVideosLiveIdSessions', params, response: { 200: listOf(liveSessionView) } },
      },
      async (request) => {
        const { video } = await existing(request.params.videoId)
        assertMayChange(video, viewerOf(sessionOf(request)), 'SEE_ALL_VIDEOS')
        const sessions = await listLiveSessions(db, video.id)
        return { total: sessions.length, data: sessions.map(toLiveSessionView) }
      },
    )

    app.get(
      '/api/v1/videos/:videoId/live-session',
      {
        config: { auth: 'optional' },
        schema: { tags, operationId: 'getVideosIdLiveSession', params, response: { 200: liveSessionView } },
      },
      async ({ params: { videoId } }) => {
        const video = await findVideoAccess(db, videoId)
        if (!video) throw notFound('Video not found')
        const session = await findSessionOfReplay(db, video.id)
        if (!session) throw notFound('No live replay found')
        return toLiveSessionView(session)
      },
    )
  }
}

const DEFAULTS = { saveReplay: false, replayPrivacy: null, permanentLive: false, latencyMode: latencyModes.default }
