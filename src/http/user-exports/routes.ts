// Archives of users: `/users/{userId}/exports`, and their download, `/download/user-exports/{filename}`.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import {
  type ArchiveLinks,
  assertExportsEnabled,
  type ExportManager,
  findArchive,
  listUserExports,
  type UserExports,
} from '../../actors/user-export/index.ts'
import type { Config } from '../../config/index.ts'
import type { FileRef, Store } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idText, listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { PRIVATE_FILE } from '../static/caching.ts'
import { plain } from '../static/names.ts'
import { redirectToSignedStorage } from '../static/redirect-to-storage.ts'
import { serveFile, typeOf } from '../static/serve-file.ts'
import { toUserExportView, userExportView } from './views.ts'

export interface UserExportsDeps {
  db: Database
  store: Store
  clock: Clock
  config: () => Config
  userExports: UserExports & ArchiveLinks
}

const ADDRESS = '/api/v1/users/:userId/exports'
const tags = ['User Exports']
const ofUser = z.object({ userId: idText })
const ofExport = ofUser.extend({ id: idText })
/** Clients of the reference may send it as a text. */
const wish = z.preprocess(
  (sent) => (typeof sent === 'string' ? !['', '0', 'false'].includes(sent) : sent),
  z.boolean('Should have withVideoFiles boolean'),
)
const LONGEST_TOKEN = 2000
/** Three parts in base64url (RFC 7515). */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

export function userExportsArea({ db, store, clock, config, userExports }: UserExportsDeps): Area {
  const managerOf = (request: FastifyRequest): ExportManager => {
    const { id: userId, role } = sessionOf(request).user
    return { userId, role }
  }

  return (app) => {
    app.get(
      ADDRESS,
      { config: { auth: 'user' }, schema: { tags, params: ofUser, response: { 200: listOf(userExportView) } } },
      async (request) => {
        const { userId } = request.params
        const by = managerOf(request)
        await userExports.assertManaged(userId, by)
        const rows = await listUserExports(db, userId, clock.now())
        const addressOf = async (name: string | null) => name && (await userExports.addressOf(name, by))
        const data = await Promise.all(rows.map(async (row) => toUserExportView(row, await addressOf(row.filename))))
        return { total: data.length, data }
      },
    )

    app.post(
      `${ADDRESS}/request`,
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params: ofUser,
          body: z.object({ withVideoFiles: wish }),
          response: { 200: z.object({ export: z.object({ id: z.int() }) }) },
        },
      },
      async (request) => {
        const { withVideoFiles } = request.body
        const { id } = await userExports.request(request.params.userId, managerOf(request), { withVideoFiles })
        return { export: { id } }
      },
    )

    app.delete(
      `${ADDRESS}/:id`,
      { config: { auth: 'user' }, schema: { tags, params: ofExport, response: { 204: z.null() } } },
      async (request, reply) => {
        const { userId, id } = request.params
        await userExports.remove(userId, managerOf(request), id)
        return reply.code(204).send(null)
      },
    )

    // No other credential: browsers send none with a download.
    app.route({
      method: ['GET', 'HEAD'],
      url: '/download/user-exports/:filename',
      config: { plainRefusals: { 403: 'Forbidden' } },
      schema: {
        tags,
        params: z.object({ filename: z.string().max(255) }),
        querystring: z.object({ jwt: z.string('Invalid value').max(LONGEST_TOKEN).regex(JWT, 'Invalid value') }),
        hide: true,
      },
      handler: async (request, reply) => {
        assertExportsEnabled(config().export.users)
        const name = plain(request.params.filename)
        const archive = await findArchive(db, name, clock.now())
        if (!archive) throw notFound('User export not found')
        await userExports.check({ filename: name, userId: archive.userId }, request.query.jwt)
        const refs: FileRef[] = [{ kind: 'user_exports', name }]
        const { object_storage, vireo } = config()
        const disposition = `attachment; filename="user-export-${archive.userId}-${archive.createdAt.toISOString()}.zip"`
        const isSent = object_storage.proxy.proxify_private_files
        if (!isSent && (await redirectToSignedStorage(reply, { store, refs, saved: { disposition, type: typeOf(name) } }))) return reply
        return serveFile(request, reply, { store, refs, disposition, caching: PRIVATE_FILE, delivery: vireo.delivery })
      },
    })
  }
}
