// Browsers that notifications are pushed to: `/vireo/push-subscriptions`. Bodies are those of `PushSubscription.toJSON()`.

import { z } from 'zod'
import { listPushDevices, type Pushes } from '../../actors/notification/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { isPushKey } from '../../platform/web-push.ts'
import { sessionOf } from '../plugins/auth.ts'
import { isOpenWebAddress, listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'

const PATH = '/api/v1/vireo/push-subscriptions'
const tags = ['My Notifications']
const own = { auth: 'user' } as const
const date = z.iso.datetime()

const MAX_ENDPOINT = 1000
const endpoint = z.string().max(MAX_ENDPOINT)
/** 16 bytes as base64url. */
const AUTH = /^[\w-]{22}={0,2}$/

export function pushArea({ db, config, pushes }: { db: Database; config: () => Config; pushes: Pushes }): Area {
  const isAddress = (text: string): boolean => isOpenWebAddress(text) && (text.startsWith('https:') || config().vireo.federation.allow_http)

  const newSubscription = z.object({
    endpoint: endpoint.refine(isAddress, 'Should have an https address'),
    keys: z.object({
      p256dh: z.string().max(100).refine(isPushKey, 'Should have a public key on P-256'),
      auth: z.string().regex(AUTH, 'Should have 16 bytes as base64url'),
    }),
    language: z.string().max(35).nullish(),
  })

  return (app) => {
    app.get(
      PATH,
      {
        config: own,
        schema: {
          operationId: 'listPushSubscriptions',
          summary: 'List the own browsers that notifications are pushed to, with the public key for others',
          tags,
          response: {
            200: listOf(z.object({ createdAt: date, lastSentAt: date.nullable() })).extend({ publicKey: z.string() }),
          },
        },
      },
      async (request) => {
        const rows = await listPushDevices(db, sessionOf(request).user.id)
        const data = rows.map((row) => ({
          createdAt: row.created_at.toISOString(),
          lastSentAt: row.last_sent_at?.toISOString() ?? null,
        }))
        return { publicKey: pushes.publicKey, total: data.length, data }
      },
    )

    app.post(
      PATH,
      {
        config: own,
        schema: {
          operationId: 'addPushSubscription',
          summary: 'Push notifications to a browser; the oldest of more than 20 is removed',
          tags,
          body: newSubscription,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const { endpoint, keys, language } = request.body
        await pushes.add(sessionOf(request).user.id, { endpoint, ...keys }, language ?? null)
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${PATH}/remove`,
      {
        config: own,
        schema: {
          operationId: 'removePushSubscription',
          summary: 'Push no more notifications to a browser, or, without an endpoint, to any of the own ones',
          tags,
          body: z.object({ endpoint: endpoint.optional() }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await pushes.remove(sessionOf(request).user.id, request.body.endpoint)
        return reply.code(204).send(null)
      },
    )
  }
}
