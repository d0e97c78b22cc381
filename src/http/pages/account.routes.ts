// Notifications of one's account without a script: what there is, and the devices that get them. Settings are a screen.

import { listNotifications } from '../../actors/notification/index.ts'
import { t } from '../../platform/language.ts'
import { HttpError } from '../plugins/http-error.ts'
import { accountPage } from './bodies/my-account.ts'
import { notificationsBody } from './bodies/notifications.ts'
import { PAGE_COUNT, pageNumber, queryOf } from './fields.ts'
import { ownPages } from './own-pages.ts'
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
      body: accountPage(NOTIFICATIONS, { visit, ...api }, content),
      isPrivate: true,
    })
  })

  form({ path: `${NOTIFICATIONS}/read-all`, back: NOTIFICATIONS }, async ({ visit }) => await notifications.markAllRead(visit.user.id))
}
