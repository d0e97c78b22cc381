// The user who asks: `/users/me`.

import { z } from 'zod'
import type { NotificationSettingCommands } from '../../actors/notification-setting/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import { findMe, quotaUsed, type UpdateMe } from '../../actors/user/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { Area } from '../plugins/types.ts'
import { notificationSettingsBody, toMeChanges, updateMeBody } from './schemas.ts'
import { meView, quotaView, toMeView } from './views.ts'

export interface MeDeps {
  db: Database
  urls: { host: string }
  updateMe: UpdateMe
  notificationSettings: NotificationSettingCommands
}

const tags = ['My User']

export function meArea({ db, urls, updateMe, notificationSettings }: MeDeps): Area {
  return (app) => {
    app.get(
      '/api/v1/users/me',
      { config: { auth: 'user' }, schema: { tags, response: { 200: meView } } },
      async (request) => {
        const me = await findMe(db, sessionOf(request).user.id)
        if (!me) throw notFound('User not found')
        return toMeView(me, urls.host)
      },
    )

    app.put(
      '/api/v1/users/me',
      {
        config: { auth: 'user' },
        schema: { tags, body: updateMeBody, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { id: sessionId, user } = sessionOf(request)
        await updateMe({ userId: user.id, sessionId }, toMeChanges(request.body))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/users/me/video-quota-used',
      { config: { auth: 'user' }, schema: { tags, response: { 200: quotaView } } },
      async (request) => {
        const { total, daily } = await quotaUsed(db, sessionOf(request).user.id)
        return { videoQuotaUsed: total, videoQuotaUsedDaily: daily }
      },
    )

    app.put(
      '/api/v1/users/me/notification-settings',
      {
        config: { auth: 'user' },
        schema: { tags: ['My Notifications'], body: notificationSettingsBody, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await notificationSettings.update(sessionOf(request).user.id, request.body)
        return reply.code(204).send(null)
      },
    )
  }
}
