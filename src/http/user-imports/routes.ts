// Archive imports of users: upload in one form or in chunks, and the result of the latest.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { rangeHeader, type Uploads } from '../../actors/upload/index.ts'
import { findUser, hasRight } from '../../actors/user/index.ts'
import { findLatestImport, type UserImportRow } from '../../actors/user-import/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, withForm } from '../plugins/multipart.ts'
import { idText } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { parseContentRange } from '../uploads/content-range.ts'
import { filename, initHeaders, nothing, ofUpload, sendEmpty, tokenOf } from '../uploads/resumable.ts'
import { archiveFile } from './form-file.ts'
import { toUserImportProgressView, toUserImportView, userImportProgressView, userImportView } from './views.ts'

const tags = ['User Imports']
const params = z.object({ userId: idText })
const ADDRESS = '/api/v1/users/:userId/imports/import-resumable'

export interface UserImportsDeps {
  db: Database
  config: () => Config
  /** With its port, unless that is the default. */
  urls: { host: string }
  uploads: Uploads
}

/** Adds `/api/v1/users/{userId}/imports`, and `/api/v1/vireo/users/{userId}/imports`. */
export function userImportsArea({ db, config, urls, uploads }: UserImportsDeps): Area {
  /** The user whose imports are requested: the requester, or any user for administrators. */
  async function ownerOf(request: FastifyRequest, userId: number): Promise<number> {
    const { id, role } = sessionOf(request).user
    if (id === userId) return id
    if (!hasRight(role, 'MANAGE_USER_IMPORTS')) {
      throw new DomainError('forbidden', 'Cannot manage imports of another user')
    }
    if (!(await findUser(db, userId))) throw notFound('User not found')
    return userId
  }

  return (app) => {
    addFormRoutes(app, (forms) => {
      forms.post(
        '/api/v1/vireo/users/:userId/imports',
        {
          config: { auth: 'user', form: { files: ['archive'] } },
          schema: {
            operationId: 'importUserArchive',
            summary: 'Upload an archive in one request, and import it',
            tags,
            params,
            response: { 204: nothing },
          },
        },
        async (request, reply) => {
          const archive = archiveFile({
            uploads,
            userId: await ownerOf(request, request.params.userId),
            maxBytes: config().vireo.uploads.max_partial_per_user,
            formBytes: request.headers['content-length'],
          })
          const files = { archive: { ...archive, required: true } }
          await withForm(request, { fields: z.object({}), files }, async ({ files }) => await files.archive?.value.finish())
          return await sendEmpty(reply, 204)
        },
      )
    })

    app.post(
      ADDRESS,
      {
        bodyLimit: config().vireo.uploads.max_metadata,
        config: { auth: 'user' },
        schema: {
          operationId: 'userImportResumableInit',
          summary: 'Open the resumable upload of an archive',
          tags,
          params,
          headers: initHeaders,
          body: z.object({ filename }),
          response: { 201: nothing },
        },
      },
      async (request, reply) => {
        const userId = await ownerOf(request, request.params.userId)
        const { token } = await uploads.openArchive({
          userId,
          fileName: request.body.filename,
          size: request.headers['x-upload-content-length'],
          type: request.headers['x-upload-content-type'],
        })
        const location = `//${urls.host}${ADDRESS.replace(':userId', String(userId))}?upload_id=${token}`
        return await sendEmpty(reply, 201, { location })
      },
    )

    app.put(
      ADDRESS,
      {
        config: { auth: 'user', body: 'stream' },
        schema: {
          operationId: 'userImportResumable',
          summary: 'Send a chunk of an archive, or query the offset of its upload',
          tags,
          params,
          querystring: ofUpload,
          response: { 204: nothing, 308: nothing },
        },
      },
      async (request, reply) => {
        const userId = await ownerOf(request, request.params.userId)
        const receipt = await uploads.receiveArchive({
          userId,
          token: tokenOf(request),
          range: parseContentRange(request.headers['content-range']),
          body: request.raw,
        })
        if (!receipt.done) return await sendEmpty(reply, 308, rangeHeader(receipt.received))
        return await sendEmpty(reply, 204)
      },
    )

    app.delete(
      ADDRESS,
      {
        config: { auth: 'user' },
        schema: {
          operationId: 'userImportResumableCancel',
          summary: 'Cancel the upload of an archive',
          tags,
          params,
          querystring: ofUpload,
          response: { 204: nothing },
        },
      },
      async (request, reply) => {
        const userId = await ownerOf(request, request.params.userId)
        await uploads.cancel({ userId, token: tokenOf(request) })
        return await sendEmpty(reply, 204)
      },
    )

    const latestOf = async (request: FastifyRequest, userId: number): Promise<UserImportRow> => {
      const found = await findLatestImport(db, await ownerOf(request, userId))
      if (!found) throw notFound('There is no import of this user.')
      return found
    }

    app.get(
      '/api/v1/users/:userId/imports/latest',
      {
        config: { auth: 'user' },
        schema: {
          operationId: 'getLatestUserImport',
          summary: 'The latest import of a user',
          tags,
          params,
          response: { 200: userImportView },
        },
      },
      async (request) => toUserImportView(await latestOf(request, request.params.userId)),
    )

    app.get(
      '/api/v1/vireo/users/:userId/imports/latest',
      {
        config: { auth: 'user' },
        schema: {
          operationId: 'getLatestUserImportProgress',
          summary: 'The latest import of a user, how far it came, and why it failed',
          tags,
          params,
          response: { 200: userImportProgressView },
        },
      },
      async (request) => toUserImportProgressView(await latestOf(request, request.params.userId)),
    )
  }
}
