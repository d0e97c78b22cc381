// The chapters of a video.

import { z } from 'zod'
import { listChapters, MAX_CHAPTERS, MAX_TIMECODE, MAX_TITLE } from '../../actors/chapter/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Chapters } from '../../actors/video/index.ts'
import { findVideoAccess } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idOrUuid, readable } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { viewerOf } from '../videos/viewer.ts'
import { visibleVideo } from '../videos/visible-video.ts'

const tags = ['Video Chapters']
const params = z.object({ videoId: idOrUuid('video') })
const WANTED = 'Chapters must have a valid title and timecode, and each timecode must be unique'

const chapterView = z.object({ timecode: z.int(), title: z.string() })
export const newChapter = z.object({
  timecode: z.int(WANTED).min(0, WANTED).max(MAX_TIMECODE, WANTED),
  title: readable(z.string(WANTED).trim().min(1, WANTED).max(MAX_TITLE, WANTED), WANTED),
})
const newChapters = z.object({
  chapters: z
    .array(newChapter, WANTED)
    .max(MAX_CHAPTERS, WANTED)
    .refine((all) => new Set(all.map(({ timecode }) => timecode)).size === all.length, WANTED),
})

/** Adds `/api/v1/videos/{id}/chapters`. */
export function chaptersArea({ db, config, chapters }: { db: Database; config: () => Config; chapters: Chapters }): Area {
  return (app) => {
    app.get(
      '/api/v1/videos/:videoId/chapters',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          params,
          response: { 200: z.object({ chapters: z.array(chapterView) }).meta({ id: 'VideoChapters' }) },
        },
      },
      async (request) => {
        const { id } = await visibleVideo({ db, config }, request, request.params.videoId)
        return { chapters: await listChapters(db, id) }
      },
    )

    app.put(
      '/api/v1/videos/:videoId/chapters',
      {
        config: { auth: 'user' },
        schema: { tags, params, body: newChapters, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const video = await findVideoAccess(db, request.params.videoId)
        if (!video) throw notFound('Video not found')
        await chapters.replace(video.id, viewerOf(sessionOf(request)), request.body.chapters)
        return reply.code(204).send(null)
      },
    )
  }
}
