// Account pages without a script: the password, notifications, and their preferences. The commands are those of the API.

import type { FastifyReply } from 'fastify'
import { listNotifications } from '../../actors/notification/index.ts'
import { findNotificationSettings } from '../../actors/notification-setting/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { isMailEnabled } from '../../config/index.ts'
import { html } from '../../platform/html.ts'
import { type Localized, t } from '../../platform/language.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { LimitGroup } from '../plugins/rate-limit-groups.ts'
import { newPassword } from '../users/fields.ts'
import { accountPage, changedPasswordBody, passwordBody } from './bodies/my-account.ts'
import { DEVICES, notificationSettingsBody, type SettingName } from './bodies/notification-settings.ts'
import { notificationsBody } from './bodies/notifications.ts'
import { PAGE_COUNT, pageNumber, queryOf } from './fields.ts'
import { readSettings, settingsFor } from './notification-settings.ts'
import { type Asked, ownPages } from './own-pages.ts'
import { makeApi, valueAt } from './screens/api.ts'
import type { PageTools } from './send.ts'

const SETTINGS = '/my-account/settings'
const SAVED = `${SETTINGS}?saved=notifications#notifications`
const NOTIFICATIONS = '/my-account/notifications'
const PUSHES = '/api/v1/vireo/push-subscriptions'

/** Limited like logins, against password guessing. */
const GUESSED: LimitGroup[] = ['client', 'login']

export function addAccountPages(tools: PageTools): void {
  const { db, config, visitors, updateMe, notifications, notificationSettings, languageOf, send } = tools
  const { page, form } = ownPages(tools)
  const api = makeApi(tools)
  const { mayCall } = api

  page(SETTINGS, async (asked) => await showSettings(asked))

  form({ path: SETTINGS, back: SETTINGS, limits: GUESSED }, async (asked, field) => {
    const { data: password } = newPassword.safeParse(field('password'))
    if (password === undefined) return await showSettings(asked, { problem: t('A password has 6 to 255 characters.') })
    const { id: sessionId, user } = asked.visit
    try {
      const changes = { settings: {}, password, currentPassword: field('currentPassword') ?? '' }
      await updateMe({ userId: user.id, sessionId }, changes)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
      return await showSettings(asked, { problem: t('Your current password is not right.') })
    }
    const { request, reply } = asked
    return send(request, reply, { title: t('Settings'), body: changedPasswordBody({ visit: asked.visit, mayCall }), isPrivate: true })
  })

  form({ path: `${SETTINGS}/notifications`, back: SAVED }, async (asked, field) => {
    const { id, role } = asked.visit.user
    const { changes, wrong } = readSettings(field, settingsFor(role))
    if (wrong.size > 0) return await showSettings(asked, { wrong })
    await notificationSettings.update(id, changes)
    return undefined
  })

  form({ path: DEVICES, back: SAVED }, async ({ request }, field) => {
    const [endpoint, p256dh, auth] = ['endpoint', 'p256dh', 'auth'].map(field)
    const result = await api.call(
      request,
      p256dh === undefined
        ? { operation: `POST ${PUSHES}/remove`, body: { endpoint } }
        : { operation: `POST ${PUSHES}`, body: { endpoint, keys: { p256dh, auth }, language: languageOf(request).tag } },
    )
    if (!result.ok) throw new HttpError(result.refusal.status, result.refusal.detail)
  })

  /** `problem`: with the new password; `wrong`: invalid choices. */
  async function showSettings(
    { request, reply, visit }: Asked,
    { problem, wrong = new Set() }: { problem?: Localized; wrong?: ReadonlySet<SettingName> } = {},
  ): Promise<FastifyReply> {
    const { id, username, role } = visit.user
    const token = visitors.formToken(request, reply)
    const push = await api.read(request, { operation: `GET ${PUSHES}` })
    const settings = notificationSettingsBody({
      settings: await findNotificationSettings(db.query, id),
      names: settingsFor(role),
      wrong,
      token,
      sendsMail: isMailEnabled(config()),
      isSaved: queryOf(request)('saved') === 'notifications',
      push: { publicKey: String(valueAt(push, 'publicKey')), total: Number(valueAt(push, 'total')) },
      userId: id,
    })
    const content = html`${passwordBody({ username, problem, token })}
${settings}`
    const status = problem === undefined && wrong.size === 0 ? 200 : 400
    return send(request, reply, { status, title: t('Settings'), body: accountPage(SETTINGS, { visit, mayCall }, content), isPrivate: true })
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
    return send(request, reply, {
      title: t('Notifications'),
      body: accountPage(NOTIFICATIONS, { visit, mayCall }, content),
      isPrivate: true,
    })
  })

  form({ path: `${NOTIFICATIONS}/read-all`, back: NOTIFICATIONS }, async ({ visit }) => {
    await notifications.markAllRead(visit.user.id)
    return undefined
  })
}
