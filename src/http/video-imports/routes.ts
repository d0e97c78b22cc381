// Imports of videos: `/videos/imports`, `/users/me/videos/imports`.

import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import { type FileTokens, publishDefaults } from '../../actors/video/index.ts'
import {
  findVideoImport,
  type ImportRequest,
  type ImportUser,
  listVideoImports,
  type VideoImports,
} from '../../actors/video-import/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, type FormFile, type Received, withForm } from '../plugins/multipart.ts'
import { idText, integerText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'
import { fitPictures, pictureFiles, withFolder } from '../uploads/form-files.ts'
import type { Here } from '../videos/actor.view.ts'
import { tokensFor } from '../videos/address-token.ts'
import { formImport, jsonImport, toImportFields } from './fields.ts'
import { toVideoImportView, videoImportView } from './views.ts'

export interface VideoImportsDeps {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  uploads: Pick<Uploads, 'beginForm' | 'fitPicture'>
  videoImports: VideoImports
}

const ADDRESS = '/api/v1/videos/imports'
const tags = ['Video Imports']
const ofImport = z.object({ id: idText })

export function videoImportsArea({ db, config, urls, fileTokens, uploads, videoImports }: VideoImportsDeps): Area {
  const limits = () => config().vireo.uploads
  const viewOptions = (request: FastifyRequest) => ({ here: urls, tokenOf: tokensFor(fileTokens, request) })

  async function begin(request: FastifyRequest) {
    const userId = sessionOf(request).user.id
    const { importId } = await withFolder(uploads, async (folder) => {
      const files = {
        torrentfile: torrentFile({ folder, maxBytes: limits().max_torrent_size }),
        ...pictureFiles({ folder, maxBytes: limits().max_image_size }),
      }
      const form = { fields: request.isMultipart() ? formImport : jsonImport, files }
      return await withForm(request, form, async (received) => {
        const { fields: sent } = received
        const pictures = await fitPictures(uploads, received.files)
        const { channelId, ...fields } = toImportFields(sent, publishDefaults(config()))
        return await videoImports.request({ userId, channelId, fields, pictures, ...(await sourceOf(received)) })
      })
    })
    const found = await findVideoImport(db, importId)
    if (!found) throw new DomainError('gone', 'This import was removed.')
    return await toVideoImportView(found, viewOptions(request))
  }

  return (app: App) => {
    addFormRoutes(app, (forms) => {
      forms.post(
        ADDRESS,
        {
          schema: {
            operationId: 'importVideo',
            summary: 'Import a video by URL, magnet URI or torrent file',
            tags,
            response: { 200: videoImportView },
          },
          config: {
            auth: 'user',
            form: {
              fields: formImport,
              json: jsonImport,
              files: ['torrentfile', 'thumbnailfile', 'previewfile'],
            },
          },
        },
        begin,
      )
    })

    const change = (method: 'post' | 'delete', address: string, apply: (importId: number, by: ImportUser) => Promise<void>) =>
      app[method](
        address,
        { config: { auth: 'user' }, schema: { tags, params: ofImport, response: { 204: z.null() } } },
        async (request, reply) => {
          const { id: userId, role } = sessionOf(request).user
          await apply(request.params.id, { userId, role })
          return reply.code(204).send(null)
        },
      )
    change('delete', `${ADDRESS}/:id`, videoImports.remove)
    change('post', `${ADDRESS}/:id/cancel`, videoImports.cancel)
    change('post', `${ADDRESS}/:id/retry`, videoImports.retry)

    app.get(
      '/api/v1/users/me/videos/imports',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(['createdAt'], '-createdAt'),
            targetUrl: z.string().max(2000).optional(),
            search: z.string().max(1000).optional(),
            videoChannelSyncId: integerText({ min: 0, max: 2_147_483_647 }).optional(),
          }),
          response: { 200: listOf(videoImportView) },
        },
      },
      async (request) => {
        const { start, count, sort, targetUrl, search, videoChannelSyncId: channelSyncId } = request.query
        const { total, rows } = await listVideoImports(db, {
          userId: sessionOf(request).user.id,
          start,
          count,
          descending: sort.descending,
          targetUrl,
          search,
          channelSyncId,
        })
        return { total, data: await Promise.all(rows.map((row) => toVideoImportView(row, viewOptions(request)))) }
      },
    )
  }
}

type Files = { torrentfile: FormFile<string> }
type Sent = z.output<typeof formImport> | z.output<typeof jsonImport>

async function sourceOf({
  fields,
  files,
}: {
  fields: Sent
  files: Received<typeof formImport, Files>['files']
}): Promise<Pick<ImportRequest & { targetUrl: string }, 'targetUrl'> | { magnetUri: string } | { torrent: Torrent }> {
  const { torrentfile } = files
  if (fields.targetUrl !== undefined) return { targetUrl: fields.targetUrl }
  if (fields.magnetUri !== undefined) return { magnetUri: fields.magnetUri }
  if (torrentfile) return { torrent: { fileName: torrentfile.filename, bytes: await readFile(torrentfile.value) } }
  throw new DomainError('invalid', 'A target URL, a magnet URI or a torrent file is expected.')
}

interface Torrent {
  fileName: string
  bytes: Buffer
}

function torrentFile({ folder, maxBytes }: { folder: string; maxBytes: number }): FormFile<string> {
  return {
    maxBytes,
    overLimit: 'bad field',
    async open({ field, filename }) {
      if (!filename.toLowerCase().endsWith('.torrent')) {
        throw new DomainError('invalid', 'The form cannot be accepted.', {
          invalidParams: [{ name: field, location: 'body', msg: 'Should be a file of the type .torrent' }],
        })
      }
      const path = join(folder, 'torrent')
      return { writable: createWriteStream(path, { flags: 'wx' }), value: path, discard: async () => undefined }
    },
  }
}
