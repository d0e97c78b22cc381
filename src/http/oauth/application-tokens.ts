// Named tokens of the user's scripts: `/vireo/application-tokens`.

import { z } from 'zod'
import { type ApplicationTokenRow, type ApplicationTokens, listApplicationTokens, tokenScopes } from '../../actors/session/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idText, listOf, moment, paging, readable } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { neverStored } from './views.ts'

const tags = ['Session']
const own = { auth: 'user' } as const
const date = z.iso.datetime()

const scopes = z
  .array(z.enum(tokenScopes))
  .min(1)
  .max(tokenScopes.length)
  .refine((list) => new Set(list).size === list.length, 'Should have each scope once')

const newTokenBody = z.object({ name: readable(z.string().min(1).max(120)), scopes, expiresAt: moment })

const tokenView = z
  .object({
    id: z.int(),
    name: z.string(),
    scopes: z.array(z.enum(tokenScopes)),
    expiresAt: date,
    lastUsedAt: date.nullable(),
    createdAt: date,
  })
  .meta({ id: 'ApplicationToken' })

const newTokenView = tokenView.extend({ token: z.string() }).meta({ id: 'NewApplicationToken' })

export function applicationTokensArea(deps: { db: Database; config: () => Config; applicationTokens: ApplicationTokens }): Area {
  const { db, config, applicationTokens } = deps
  return (app) => {
    app.get(
      '/api/v1/vireo/application-tokens',
      {
        config: own,
        schema: {
          operationId: 'listApplicationTokens',
          summary: 'List the own application tokens',
          tags,
          querystring: z.object(paging(config())),
          response: { 200: listOf(tokenView) },
        },
      },
      async (request) => {
        const { total, rows } = await listApplicationTokens(db, { userId: sessionOf(request).user.id, ...request.query })
        return { total, data: rows.map(toTokenView) }
      },
    )

    app.post(
      '/api/v1/vireo/application-tokens',
      {
        config: own,
        schema: {
          operationId: 'createApplicationToken',
          summary: 'Create an application token, which is shown only in this answer',
          tags,
          body: newTokenBody,
          response: { 200: newTokenView },
        },
      },
      async (request, reply) => {
        const { token, row } = await applicationTokens.create(sessionOf(request).user.id, request.body)
        neverStored(reply)
        return { token, ...toTokenView(row) }
      },
    )

    app.delete(
      '/api/v1/vireo/application-tokens/:id',
      {
        config: own,
        schema: {
          operationId: 'revokeApplicationToken',
          summary: 'Revoke an application token',
          tags,
          params: z.object({ id: idText }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await applicationTokens.revoke(sessionOf(request).user.id, request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
}

const toTokenView = (row: ApplicationTokenRow): z.infer<typeof tokenView> => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  expiresAt: row.expires_at.toISOString(),
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
})
