// The own sessions: `/vireo/sessions`.

import { z } from 'zod'
import type { ActorDeps } from '../../actors/runtime/index.ts'
import { listSessions, type Sessions } from '../../actors/session/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idText, listOf, paging } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'

const tags = ['Session']
const own = { auth: 'user' } as const
const date = z.iso.datetime()

const sessionView = z
  .object({
    id: z.int(),
    isCurrent: z.boolean().meta({ description: 'True for the session of this request.' }),
    createdAt: date,
    usedAt: date.meta({ description: 'When its tokens were last renewed.' }),
    expiresAt: date,
  })
  .meta({ id: 'OwnSession' })

export function ownSessionsArea(deps: Pick<ActorDeps, 'db' | 'clock' | 'config'> & { sessions: Pick<Sessions, 'endOwn'> }): Area {
  const { db, clock, config, sessions } = deps
  return (app) => {
    app.get(
      '/api/v1/vireo/sessions',
      {
        config: own,
        schema: {
          operationId: 'listOwnSessions',
          summary: 'List the own sessions',
          tags,
          querystring: z.object(paging(config())),
          response: { 200: listOf(sessionView) },
        },
      },
      async (request) => {
        const { id: current, user } = sessionOf(request)
        const { total, rows } = await listSessions(db, { userId: user.id, ...request.query, now: clock.now() })
        const data = rows.map((row) => ({
          id: row.id,
          isCurrent: row.id === current,
          createdAt: row.created_at.toISOString(),
          usedAt: row.updated_at.toISOString(),
          expiresAt: row.refresh_expires_at.toISOString(),
        }))
        return { total, data }
      },
    )

    app.delete(
      '/api/v1/vireo/sessions/:id',
      {
        config: own,
        schema: {
          operationId: 'endOwnSession',
          summary: 'End one of the own sessions',
          tags,
          params: z.object({ id: idText }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await sessions.endOwn(sessionOf(request).user.id, request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
}
