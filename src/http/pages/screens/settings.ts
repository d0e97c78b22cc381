// The screens of one's settings, such as which notifications come how, and of one's notifications.

import { aboutOf } from '../../../actors/mail/index.ts'
import { listNotifications, rightsOfSettings } from '../../../actors/notification/index.ts'
import { notificationDefaults } from '../../../actors/notification-setting/index.ts'
import { hasRight } from '../../../actors/user/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { known, t } from '../../../platform/language.ts'
import { pageOr } from '../bodies/listing.ts'
import { notificationList } from '../bodies/notifications.ts'
import { capital } from '../bodies/text.ts'
import { pageNumber } from '../fields.ts'
import { type Refusal, textAt, valueAt } from './api.ts'
import { hiddenFields, type Words } from './fields.ts'
import { form, type Shown, screen } from './parts.ts'
import { ME, sendsMail } from './words.ts'

const NOTIFICATIONS = '/my-account/notifications'
const PUSHES = '/api/v1/vireo/push-subscriptions'

type SettingName = keyof typeof notificationDefaults

/** By the values of the contract (`UserNotificationSettingValue`), which are bits: 1 on the site, 2 by mail. */
const CHOICES = { 0: t('Not at all'), 1: t('On this site'), 2: t('By mail'), 3: t('On this site and by mail') }

const present = ({ data }: Shown): object => Object(valueAt(data.me, 'notificationSettings'))

function kindsOf({ visit }: Shown): Words {
  const names = (Object.keys(notificationDefaults) as SettingName[]).filter((name) => {
    const right = rightsOfSettings.get(name)
    return right === undefined || (visit !== null && hasRight(visit.user.role, right))
  })
  return Object.fromEntries(names.map((name) => [name, { label: known(capital(aboutOf[name])), choices: CHOICES }]))
}

/** The switch of this browser, which the script shows and sends. */
const device = ({ data: { push, me }, token }: Shown): Html =>
  html`<form data-push="${textAt(push, 'publicKey')}" data-user="${textAt(me, 'id')}"><input type="hidden" name="token" value="${token}">
<p hidden><label><input type="checkbox"> ${t('Notify this device')}</label> <output></output></p></form>`

export const wrongPassword = ({ status, detail }: Refusal) =>
  status === 401 || detail === 'currentPassword is invalid.' ? t('Your current password is not right.') : undefined

export const settingsScreen = screen('/my-account/settings', t('Settings'), { reads: { me: ME, push: `GET ${PUSHES}` } }, [
  form('password', 'PUT /api/v1/users/me', {
    title: t('Change your password'),
    // Against guessing.
    limit: 'login',
    fields: {
      // For password managers.
      username: { label: t('User name'), also: html` readonly autocomplete="username"` },
      currentPassword: { label: t('Current password'), as: 'password', required: true, also: html` autocomplete="current-password"` },
      password: { label: t('New password'), as: 'password', required: true, also: html` autocomplete="new-password"` },
    },
    initial: ({ data }) => data.me,
    body: (text) => ({ currentPassword: text('currentPassword'), password: text('password') }),
    refused: wrongPassword,
    button: t('Change the password'),
    ends: () => ({
      heading: t('Your password is changed'),
      body: html`<p role="status">${t('Your other sessions are over.')} <a href="/">${t('Latest videos')}</a></p>`,
    }),
  }),
  () => html`<p class="soft">${t('Your other sessions end with it.')}</p>`,
  form('notifications', 'PUT /api/v1/users/me/notification-settings', {
    title: t('Notifications'),
    text: (shown) => (sendsMail(shown) ? null : html`<span class="soft">${t('This server sends no mails now.')}</span>`),
    fields: kindsOf,
    initial: present,
    changesOnly: true,
    body: (text, made, shown) => ({ ...present(shown), ...Object.fromEntries(Object.entries(made).filter(([name]) => text(name) !== '')) }),
  }),
  device,
  form('push', `POST ${PUSHES}`, {
    // Sent by the script alone.
    when: () => false,
    body: (text, _made, { tools, request }) => ({
      endpoint: text('endpoint'),
      keys: { p256dh: text('p256dh'), auth: text('auth') },
      language: tools.languageOf(request).tag,
    }),
  }),
  form('no-push', `POST ${PUSHES}/remove`, {
    when: ({ data }) => Number(valueAt(data.push, 'total')) > 0,
    text: ({ data }) =>
      html`${t('{count, plural, one {# device is notified.} other {# devices are notified.}}', { count: Number(valueAt(data.push, 'total')) })}`,
    // Without an endpoint all devices are meant.
    body: (text) => ({ endpoint: text('endpoint') || undefined }),
    button: t('Notify no device'),
  }),
])

export const notificationScreen = screen(
  NOTIFICATIONS,
  t('Notifications'),
  { reads: { unread: 'GET /api/v1/users/me/notifications?unread=true&count=1' } },
  [
    () => html`<p><a href="/my-account/settings#notifications">${t('Choose your notifications')}</a></p>`,
    form('read-all', 'POST /api/v1/users/me/notifications/read-all', {
      when: ({ data }) => Number(valueAt(data.unread, 'total')) > 0,
      button: t('Mark all as read'),
    }),
    form('read', 'POST /api/v1/users/me/notifications/read', {
      // Each has its own button.
      when: () => false,
      body: (text) => ({ ids: [Number(text('id'))] }),
      said: t('Marked as read.'),
    }),
    async ({ visit, tools, query, token, request }) =>
      await pageOr(
        { nothing: t('No notifications.'), path: NOTIFICATIONS, page: pageNumber(query) },
        (range) => listNotifications(tools.db, { userId: visit?.user.id ?? 0, sort: { by: 'createdAt', descending: true }, ...range }),
        (rows) => notificationList(rows, { action: request.url, hidden: hiddenFields({ token }, 'read') }),
      ),
  ],
)
