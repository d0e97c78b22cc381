// Studio edition: cuts a video, and adds intros, outros and watermarks.

import { extname, join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, type InvalidParam, notFound } from '../../actors/runtime/index.ts'
import type { NewTask, Studio } from '../../actors/studio/index.ts'
import { acceptedExtensions, type Uploads } from '../../actors/upload/index.ts'
import { findVideoAccess, type VideoKey } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, type FormFile, type Received, withForm } from '../plugins/multipart.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { PICTURES, toFile } from '../uploads/form-files.ts'
import { viewerOf } from '../videos/viewer.ts'
import { editFields, fileOfTask, fileParts, type SentTask } from './fields.ts'

export interface VideoStudioDeps {
  db: Database
  config: () => Config
  studio: Studio
  /** For the files of a form. */
  uploads: Pick<Uploads, 'beginForm'>
}

type Files = Record<string, FormFile<string>>

/** Adds `/api/v1/videos/{id}/studio/edit`. */
export function videoStudioArea({ db, config, studio, uploads }: VideoStudioDeps): Area {
  async function existing(key: VideoKey): Promise<number> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video.id
  }

  async function edit(request: FastifyRequest, id: number): Promise<void> {
    const by = viewerOf(sessionOf(request))
    const { left } = await studio.check(id, by)
    const { folder, end } = await uploads.beginForm()
    try {
      const form = { fields: editFields, files: filesIn(folder, left) }
      await withForm(request, form, async ({ fields, files }) => {
        await studio.request(id, by, tasksOf(fields.tasks, files))
      })
    } finally {
      await end()
    }
  }

  /** All of them together are cut off when they exceed what the video's owner may add (`left` bytes). */
  function filesIn(folder: string, left: number): Files {
    const { max_partial_per_user: maxBytes } = config().vireo.uploads
    const budget = { left: Math.min(left, maxBytes) }
    return Object.fromEntries(
      fileParts.map((name, index) => [
        name,
        {
          maxBytes,
          async open() {
            const path = join(folder, `task-${index}`)
            return { ...toFile(path, budget), value: path }
          },
        },
      ]),
    )
  }

  /** Throws `invalid` with the file of each task that has none or a wrong one. */
  function tasksOf(sent: readonly SentTask[], files: Received<typeof editFields, Files>['files']): NewTask[] {
    const { vireo } = config()
    const refused: InvalidParam[] = []
    const refuse = (index: number, msg: string) => refused.push({ name: fileOfTask(index), location: 'body', msg })
    for (const [index, name] of fileParts.entries()) {
      const [task, file] = [sent[index], files[name]]
      if (file && (!task || task.name === 'cut')) refuse(index, 'No such file is expected')
      if (!task || task.name === 'cut') continue
      const isPicture = task.name === 'add-watermark'
      const extensions = isPicture ? PICTURES : acceptedExtensions(config())
      const maxBytes = isPicture ? vireo.uploads.max_image_size : Number.POSITIVE_INFINITY
      if (!file) refuse(index, 'A file is expected')
      else if (!extensions.includes(extname(file.filename).toLowerCase())) {
        refuse(index, `Should be a file of one of these types: ${extensions.join(', ')}`)
      } else if (file.bytes > maxBytes) refuse(index, `Should be a file of at most ${maxBytes} bytes`)
    }
    if (refused.length > 0) {
      throw new DomainError('invalid', 'The form cannot be accepted.', { invalidParams: refused })
    }
    return sent.map((task, index): NewTask => {
      if (task.name === 'cut') return { name: task.name, ...task.options }
      return { name: task.name, path: files[fileOfTask(index)]?.value ?? '' }
    })
  }

  return (app) => {
    addFormRoutes(app, (forms) => {
      forms.post(
        '/api/v1/videos/:id/studio/edit',
        {
          config: { auth: 'user', form: { fields: editFields, files: [...fileParts] } },
          schema: {
            tags: ['Video Transcoding'],
            summary: 'Cut a video, add an intro, an outro or a watermark',
            params: z.object({ id: idOrUuid('video') }),
            response: { 204: z.null() },
          },
        },
        async (request, reply) => {
          if (!config().video_studio.enabled) {
            throw new DomainError('invalid', 'Video studio is disabled on this instance')
          }
          await edit(request, await existing(request.params.id))
          return reply.code(204).send(null)
        },
      )
    })
  }
}
