// Notifications of one's account without a script: what there is, and the devices that get them. Settings are a screen.

import { listNotifications } from '../../actors/notification/index.ts'
import { html } from '../../platform/html.ts'
import { t } from '../../platform/language.ts'
import { HttpError } from '../plugins/http-error.ts'
import { pageOr } from './bodies/listing.ts'
import { notificationList } from './bodies/notifications.ts'
import { pageNumber, queryOf } from './fields.ts'
import { accountPage, ownPages } from './own-pages.ts'
import { makeApi } from './screens/api.ts'
import { DEVICES, PUSHES } from './screens/settings.ts'
import type { PageTools } from './send.ts'

const NOTIFICATIONS = '/my-account/notifications'

export function addAccountPages(tools: PageTools): void {
  const { db, visitors, notifications, languageOf, send } = tools
  const { page, form } = ownPages(tools)
  const api = makeApi(tools)

  form({ path: DEVICES, back: '/my-account/settings?done=notifications#notifications' }, async ({ request }, field) => {
    const [endpoint, p256dh, auth] = ['endpoint', 'p256dh', 'auth'].map(field)
    const result = await api.call(
      request,
      p256dh === undefined
        ? { operation: `POST ${PUSHES}/remove`, body: { endpoint } }
        : { operation: `POST ${PUSHES}`, body: { endpoint, keys: { p256dh, auth }, language: languageOf(request).tag } },
    )
    if (!result.ok) throw new HttpError(result.refusal.status, result.refusal.detail)
  })

  page(NOTIFICATIONS, async ({ request, reply, visit }) => {
    const query = { userId: visit.user.id, sort: { by: 'createdAt', descending: true } } as const
    const token = visitors.formToken(request, reply)
    const content = await pageOr(
      { nothing: t('No notifications.'), path: NOTIFICATIONS, page: pageNumber(queryOf(request)) },
      (range) => listNotifications(db, { ...query, ...range }),
      (rows) => notificationList(rows, token),
    )
    const choose = html`<p><a href="/my-account/settings#notifications">${t('Choose your notifications')}</a></p>${content}`
    return send(request, reply, {
      title: t('Notifications'),
      body: accountPage(NOTIFICATIONS, { visit, ...api }, choose),
      isPrivate: true,
    })
  })

  form({ path: `${NOTIFICATIONS}/read-all`, back: NOTIFICATIONS }, async ({ visit }) => await notifications.markAllRead(visit.user.id))
}
