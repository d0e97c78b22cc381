// Notifications of a user: the list, and marking them as read. Preferences are set at `/users/me`.

import { z } from 'zod'
import { listNotifications, type Notifications } from '../../actors/notification/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { booleanText, coercedInteger, listOf, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { notificationView, toNotificationView } from './views.ts'

export interface NotificationsAreaDeps {
  db: Database
  config: () => Config
  urls: { host: string }
  notifications: Notifications
}

const tags = ['My Notifications']
/** An invalid value counts as omitted. */
const unread = booleanText.optional().catch(undefined)
const IDS = 'Should have a valid array of notification ids'
const MAX_IDS = 1000
const idsBody = z.object({ ids: z.array(z.int(IDS).min(1, IDS), IDS).min(1, IDS).max(MAX_IDS, IDS) })

export function notificationsArea({ db, config, urls, notifications }: NotificationsAreaDeps): Area {
  return (app) => {
    app.get(
      '/api/v1/users/me/notifications',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          querystring: z.object({
            ...paging(config()),
            unread,
            typeOneOf: oneOrMore(coercedInteger({ min: 1, max: 100 })).optional(),
            sort: sorting(['createdAt', 'read'], '-createdAt'),
          }),
          response: { 200: listOf(notificationView) },
        },
      },
      async (request) => {
        const { start, count, sort, typeOneOf } = request.query
        const { total, rows } = await listNotifications(db, {
          userId: sessionOf(request).user.id,
          start,
          count,
          sort,
          types: typeOneOf,
          unread: request.query.unread,
        })
        return { total, data: rows.map((row) => toNotificationView(row, urls.host)) }
      },
    )

    app.post(
      '/api/v1/users/me/notifications/read',
      { config: { auth: 'user' }, schema: { tags, body: idsBody, response: { 204: z.null() } } },
      async (request, reply) => {
        await notifications.markRead(sessionOf(request).user.id, request.body.ids)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/me/notifications/read-all',
      { config: { auth: 'user' }, schema: { tags, response: { 204: z.null() } } },
      async (request, reply) => {
        await notifications.markAllRead(sessionOf(request).user.id)
        return reply.code(204).send(null)
      },
    )
  }
}
