// Uploads of videos: in one request, and resumable (create, chunks, cancel).

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import { type Receipt, rangeHeader, type Uploads } from '../../actors/upload/index.ts'
import { publishDefaults } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, withForm } from '../plugins/multipart.ts'
import type { App, Area } from '../plugins/types.ts'
import { parseContentRange } from './content-range.ts'
import { formFields, jsonFields, toNewVideo, uploadedVideo } from './fields.ts'
import { fitPictures, pictureFiles, videoFile, withFolder } from './form-files.ts'
import { fileId, filename, initHeaders, nothing, ofUpload, sendEmpty, tokenOf, UNCACHED } from './resumable.ts'

const WHOLE = '/api/v1/videos/upload'
const RESUMABLE = '/api/v1/videos/upload-resumable'

const formInit = formFields.extend({ filename, fileId })
const jsonInit = jsonFields.extend({ filename, fileId })

/** The routes of uploads. `host` is this server's, with its port unless that is the default. */
export function uploadsArea({ uploads, config, host }: { uploads: Uploads; config: () => Config; host: string }): Area {
  const limits = () => config().vireo.uploads

  const pictures = (folder: string) => pictureFiles({ folder, maxBytes: limits().max_image_size })

  async function receiveWhole(request: FastifyRequest) {
    const userId = sessionOf(request).user.id
    const left = await uploads.quotaLeft(userId)
    return await withFolder(uploads, async (folder) => {
      const videofile = videoFile({ uploads, folder, left, maxBytes: limits().max_partial_per_user })
      const form = {
        fields: formFields,
        files: { videofile: { ...videofile, required: true }, ...pictures(folder) },
      }
      const video = await withForm(request, form, async ({ fields, files }) => {
        const file = files.videofile
        if (!file) throw new DomainError('invalid', 'A video file is expected.')
        const newVideo = toNewVideo(fields, publishDefaults(config()))
        const pictures = await fitPictures(uploads, files)
        return await uploads.receiveWhole({
          userId,
          pictures,
          fields: newVideo,
          fileName: file.filename,
          path: file.value,
          signal: request.signal,
        })
      })
      return { video }
    })
  }

  async function open(request: FastifyRequest<{ Headers: z.output<typeof initHeaders> }>, reply: FastifyReply) {
    const userId = sessionOf(request).user.id
    const size = request.headers['x-upload-content-length']
    const type = request.headers['x-upload-content-type']
    const { token } = await withFolder(uploads, async (folder) => {
      const files = pictures(folder)
      const form = { fields: request.isMultipart() ? formInit : jsonInit, files }
      return await withForm(request, form, async (received) => {
        const { filename: fileName, fileId, ...sent } = received.fields
        const fields = toNewVideo(sent, publishDefaults(config()))
        const pictures = await fitPictures(uploads, received.files)
        return await uploads.open({ userId, fields, fileName, fileId, size, type, pictures })
      })
    })
    const location = `//${host}${RESUMABLE}?upload_id=${token}`
    return await reply
      .code(201)
      .headers({ location, 'content-length': '0', ...UNCACHED })
      .send()
  }

  async function receive(request: FastifyRequest<{ Querystring: z.output<typeof ofUpload> }>, reply: FastifyReply) {
    const receipt: Receipt = await uploads.receive({
      userId: sessionOf(request).user.id,
      token: tokenOf(request),
      range: parseContentRange(request.headers['content-range']),
      body: request.raw,
    })
    reply.headers(UNCACHED)
    if (receipt.done) return await reply.code(200).send({ video: receipt.video })
    return await reply
      .code(308)
      .headers({ ...rangeHeader(receipt.received), 'content-length': '0' })
      .send()
  }

  return (app: App) => {
    const tags = ['Video']
    addFormRoutes(app, (forms) => {
      forms.post(
        WHOLE,
        {
          schema: {
            operationId: 'uploadLegacy',
            summary: 'Upload a video in one request',
            tags,
            response: { 200: uploadedVideo },
          },
          config: { auth: 'user', form: { fields: formFields, files: ['videofile', 'thumbnailfile', 'previewfile'] } },
        },
        receiveWhole,
      )
      forms.post(
        RESUMABLE,
        {
          bodyLimit: limits().max_metadata,
          schema: {
            operationId: 'uploadResumableInit',
            summary: 'Open a resumable upload',
            tags,
            headers: initHeaders,
            response: { 201: nothing },
          },
          config: {
            auth: 'user',
            form: { fields: formInit, json: jsonInit, files: ['thumbnailfile', 'previewfile'] },
          },
        },
        open,
      )
    })
    app.put(
      RESUMABLE,
      {
        schema: {
          operationId: 'uploadResumable',
          summary: 'Send a chunk of a resumable upload, or query its offset',
          tags,
          querystring: ofUpload,
          response: { 200: uploadedVideo, 308: nothing },
        },
        config: { auth: 'user', body: 'stream' },
      },
      receive,
    )
    app.delete(
      RESUMABLE,
      {
        schema: {
          operationId: 'uploadResumableCancel',
          summary: 'Cancel a resumable upload',
          tags,
          querystring: ofUpload,
          response: { 204: nothing },
        },
        config: { auth: 'user' },
      },
      async (request, reply) => {
        await uploads.cancel({ userId: sessionOf(request).user.id, token: tokenOf(request) })
        return await sendEmpty(reply, 204)
      },
    )
  }
}
