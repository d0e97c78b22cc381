// The captions of a video: one text for each language.

import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Captions, listCaptions, type Transcriptions } from '../../actors/caption/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import { hasRight } from '../../actors/user/index.ts'
import {
  assertMayChange,
  type FileTokens,
  findVideoAccess,
  labelled,
  languageLabels,
  type VideoAccessRow,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { isRefusal, toWebVtt } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, withForm } from '../plugins/multipart.ts'
import { type IdOrUuid, idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { tokensFor, withFileToken } from '../videos/address-token.ts'
import { viewerOf } from '../videos/viewer.ts'
import { visibleVideo } from '../videos/visible-video.ts'

const tags = ['Video Captions']
const byVideo = z.object({ videoId: idOrUuid('video') })
const byLanguage = z.object({
  videoId: idOrUuid('video'),
  captionLanguage: z.string().refine((id) => Object.hasOwn(languageLabels, id), 'Should be a language of this server'),
})
const captionView = z
  .object({
    language: z.object({ id: z.string(), label: z.string() }),
    automaticallyGenerated: z.boolean(),
    captionPath: z.string(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'VideoCaption' })

export interface CaptionsDeps {
  db: Database
  config: () => Config
  fileTokens: Pick<FileTokens, 'issue'>
  captions: Captions
  transcriptions: Transcriptions
  /** For the file of a form. */
  uploads: Pick<Uploads, 'beginForm'>
}

/** Adds `/api/v1/videos/{id}/captions`. */
export function captionsArea({ db, config, fileTokens, captions, transcriptions, uploads }: CaptionsDeps): Area {
  async function existing(key: IdOrUuid): Promise<VideoAccessRow> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video
  }

  /** Calls `use` with the WebVTT of the file in the form. Throws `invalid` without a file, and if it is not text. */
  async function receiveCaption(request: FastifyRequest, language: string, use: (vtt: string) => Promise<void>): Promise<void> {
    const maxBytes = config().vireo.uploads.max_caption_size
    let work: Awaited<ReturnType<Uploads['beginForm']>> | undefined
    const captionfile = {
      maxBytes,
      overLimit: 'bad field' as const,
      async open({ filename, mimetype }: { filename: string; mimetype: string }) {
        if (!isCaption(filename, mimetype)) throw unsupported(maxBytes)
        work ??= await uploads.beginForm()
        const path = join(work.folder, 'sent')
        return { writable: createWriteStream(path, { flags: 'wx' }), value: path, discard: async () => undefined }
      },
    }
    try {
      await withForm(request, { fields: z.object({}), files: { captionfile } }, async ({ files }) => {
        if (!files.captionfile) throw unsupported(maxBytes)
        await use(await toWebVtt(await readFile(files.captionfile.value), { language }))
      })
    } catch (error) {
      throw isRefusal(error) ? refused(error.message, error) : error
    } finally {
      await work?.end()
    }
  }

  return (app) => {
    app.get(
      '/api/v1/videos/:videoId/captions',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          params: byVideo,
          response: { 200: z.object({ total: z.int(), data: z.array(captionView) }) },
        },
      },
      async (request) => {
        const video = await visibleVideo({ db, config }, request, request.params.videoId)
        const [rows, token] = [await listCaptions(db, video.id), await tokensFor(fileTokens, request)(video)]
        return {
          total: rows.length,
          data: rows.map((row) => ({
            language: labelled(languageLabels, row.language),
            automaticallyGenerated: row.automatically_generated,
            captionPath: withFileToken(`/lazy-static/video-captions/${row.filename}`, token),
            updatedAt: row.updated_at.toISOString(),
          })),
        }
      },
    )

    addFormRoutes(app, (forms) => {
      forms.put(
        '/api/v1/videos/:videoId/captions/:captionLanguage',
        {
          config: { auth: 'user', form: { files: ['captionfile'] } },
          schema: { tags, params: byLanguage, response: { 204: z.null() } },
        },
        async (request, reply) => {
          const { videoId, captionLanguage: language } = request.params
          const video = await existing(videoId)
          const viewer = viewerOf(sessionOf(request))
          assertMayChange(video, viewer, 'UPDATE_ANY_VIDEO')
          await receiveCaption(request, language, (vtt) => captions.set(video.id, viewer, { language, vtt }))
          return reply.code(204).send(null)
        },
      )
    })

    app.post(
      '/api/v1/videos/:videoId/captions/generate',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params: byVideo,
          body: z.object({ forceTranscription: z.boolean().optional() }).nullish(),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const video = await existing(request.params.videoId)
        const viewer = viewerOf(sessionOf(request))
        assertMayChange(video, viewer, 'UPDATE_ANY_VIDEO')
        const isForced = request.body?.forceTranscription ?? false
        if (isForced && !hasRight(viewer.role, 'UPDATE_ANY_VIDEO')) {
          throw new DomainError('forbidden', 'Only admins can force transcription')
        }
        await transcriptions.request(video.id, isForced)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/videos/:videoId/captions/:captionLanguage',
      {
        config: { auth: 'user' },
        schema: { tags, params: byLanguage, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { videoId, captionLanguage } = request.params
        const { id } = await existing(videoId)
        await captions.remove(id, viewerOf(sessionOf(request)), captionLanguage)
        return reply.code(204).send(null)
      },
    )
  }
}

/** Many clients send a useless type; then the file name decides, and finally the content. */
const TYPES = ['text/vtt', 'application/x-subrip', 'text/plain']

const isCaption = (filename: string, mimetype: string): boolean =>
  /\.(?:vtt|srt)$/i.test(filename) || TYPES.includes(mimetype.toLowerCase())

const unsupported = (maxBytes: number): DomainError =>
  refused(`Should be a text of subtitles in WebVTT (.vtt) or SubRip (.srt), of at most ${maxBytes} bytes`)

const refused = (msg: string, cause?: unknown): DomainError =>
  new DomainError('invalid', 'The form cannot be accepted.', {
    invalidParams: [{ name: 'captionfile', location: 'body', msg }],
    cause,
  })
