// Account pages without a script: the password, notifications, and their preferences. The commands are those of the API.

import type { FastifyReply } from 'fastify'
import { listNotifications } from '../../actors/notification/index.ts'
import { findNotificationSettings } from '../../actors/notification-setting/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { isMailEnabled } from '../../config/index.ts'
import { html } from '../../platform/html.ts'
import type { LimitGroup } from '../plugins/rate-limit-groups.ts'
import { newPassword } from '../users/fields.ts'
import { accountPage, changedPasswordBody, passwordBody } from './bodies/my-account.ts'
import { notificationSettingsBody, type SettingName } from './bodies/notification-settings.ts'
import { notificationsBody } from './bodies/notifications.ts'
import { PAGE_COUNT, pageNumber, queryOf } from './fields.ts'
import { readSettings, settingsFor } from './notification-settings.ts'
import { type Asked, ownPages } from './own-pages.ts'
import type { PageTools } from './send.ts'

const SETTINGS = '/my-account/settings'
const NOTIFICATIONS = '/my-account/notifications'

/** Limited like logins, against password guessing. */
const GUESSED: LimitGroup[] = ['client', 'login']

export function addAccountPages(tools: PageTools): void {
  const { db, config, visitors, updateMe, notifications, notificationSettings, send } = tools
  const { page, form } = ownPages(tools)

  page(SETTINGS, async (asked) => await showSettings(asked))

  form({ path: SETTINGS, back: SETTINGS, limits: GUESSED }, async (asked, field) => {
    const { data: password } = newPassword.safeParse(field('password'))
    if (password === undefined) return await showSettings(asked, { problem: 'A password has 6 to 255 characters.' })
    const { id: sessionId, user } = asked.visit
    try {
      const changes = { settings: {}, password, currentPassword: field('currentPassword') ?? '' }
      await updateMe({ userId: user.id, sessionId }, changes)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
      return await showSettings(asked, { problem: 'Your current password is not right.' })
    }
    const { request, reply } = asked
    return send(request, reply, { title: 'Settings', body: changedPasswordBody(), isPrivate: true })
  })

  form({ path: `${SETTINGS}/notifications`, back: `${SETTINGS}?saved=notifications#notifications` }, async (asked, field) => {
    const { id, role } = asked.visit.user
    const { changes, wrong } = readSettings(field, settingsFor(role))
    if (wrong.size > 0) return await showSettings(asked, { wrong })
    await notificationSettings.update(id, changes)
    return undefined
  })

  /** `problem`: with the new password; `wrong`: invalid choices. */
  async function showSettings(
    { request, reply, visit }: Asked,
    { problem, wrong = new Set() }: { problem?: string; wrong?: ReadonlySet<SettingName> } = {},
  ): Promise<FastifyReply> {
    const { id, username, role } = visit.user
    const token = visitors.formToken(request, reply)
    const settings = notificationSettingsBody({
      settings: await findNotificationSettings(db.query, id),
      names: settingsFor(role),
      wrong,
      token,
      sendsMail: isMailEnabled(config()),
      isSaved: queryOf(request)('saved') === 'notifications',
    })
    const content = html`${passwordBody({ username, problem, token })}
${settings}
<p class="soft">All other settings need an app or another web client.</p>`
    const status = problem === undefined && wrong.size === 0 ? 200 : 400
    return send(request, reply, { status, title: 'Settings', body: accountPage(SETTINGS, content), isPrivate: true })
  }

  page(NOTIFICATIONS, async ({ request, reply, visit }) => {
    const number = pageNumber(queryOf(request))
    const { total, rows } = await listNotifications(db, {
      userId: visit.user.id,
      start: (number - 1) * PAGE_COUNT,
      count: PAGE_COUNT,
      sort: { by: 'createdAt', descending: true },
    })
    const content = notificationsBody({
      rows,
      path: NOTIFICATIONS,
      page: number,
      hasMore: total > number * PAGE_COUNT,
      token: visitors.formToken(request, reply),
    })
    return send(request, reply, { title: 'Notifications', body: accountPage(NOTIFICATIONS, content), isPrivate: true })
  })

  form({ path: `${NOTIFICATIONS}/read-all`, back: NOTIFICATIONS }, async ({ visit }) => {
    await notifications.markAllRead(visit.user.id)
    return undefined
  })
}
