// The current user: `/users/me`.

import { z } from 'zod'
import type { NotificationSettingCommands } from '../../actors/notification-setting/index.ts'
import type { ActivePlugins } from '../../actors/plugin/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import { findMe, quotaUsed, type UpdateMe } from '../../actors/user/index.ts'
import { readVideosChange, VIDEOS_CHANGED } from '../../actors/video/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { Area } from '../plugins/types.ts'
import { notificationSettingsBody, toMeChanges, updateMeBody } from './schemas.ts'
import { meView, quotaView, toMeView } from './views.ts'

export interface MeDeps {
  db: Database
  urls: { host: string }
  bus: Pick<Bus, 'subscribe' | 'publish'>
  updateMe: UpdateMe
  notificationSettings: NotificationSettingCommands
  activePlugins: Pick<ActivePlugins, 'recent' | 'hasTheme'>
}

const tags = ['My User']

export function meArea({ db, urls, bus, updateMe, notificationSettings, activePlugins }: MeDeps): Area {
  /** Sessions are read again after a second, and when their user changes; channels and pictures change with videos. */
  let kept = new WeakMap<Session, z.infer<typeof meView>>()
  bus.subscribe(VIDEOS_CHANGED, (payload) => {
    const { what } = readVideosChange(payload)
    if (what === 'video' || what === 'any') kept = new WeakMap()
  })

  return (app) => {
    app.get('/api/v1/users/me', { config: { auth: 'user' }, schema: { tags, response: { 200: meView } } }, async (request) => {
      const session = sessionOf(request)
      const keptNow = kept
      const known = keptNow.get(session)
      if (known) return known
      const me = await findMe(db, session.user.id)
      if (!me) throw notFound('User not found')
      const view = toMeView(me, urls.host)
      keptNow.set(session, view)
      return view
    })

    app.put(
      '/api/v1/users/me',
      {
        config: { auth: 'user' },
        schema: { tags, body: updateMeBody(activePlugins.hasTheme), response: { 204: z.null() } },
        preValidation: async () => void (await activePlugins.recent()),
      },
      async (request, reply) => {
        const { id: sessionId, user } = sessionOf(request)
        const changes = toMeChanges(request.body)
        await updateMe({ userId: user.id, sessionId }, changes)
        // Settings are the user's own; videos, lists and pages show the rest.
        if (changes.displayName !== undefined || changes.description !== undefined) await bus.publish(VIDEOS_CHANGED, {})
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
