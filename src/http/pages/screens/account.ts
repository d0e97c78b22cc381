// Screens of one's own account: profile, security, blocks, watched words, reports.

import { renderSVG } from 'uqr'
import { isStaff } from '../../../actors/user/index.ts'
import { Html, html } from '../../../platform/html.ts'
import { known, type Localized, listed, recognized, t } from '../../../platform/language.ts'
import { textAt, valueAt } from './api.ts'
import { archiveScreen } from './archives.ts'
import { hiddenFields, wordsOf } from './fields.ts'
import { plain } from './list-html.ts'
import { blocks, conversation, watchedWords } from './moderation.ts'
import { type Ending, form, list, type Screen, type Shown, screen } from './parts.ts'
import { notificationScreen, settingsScreen, wrongPassword } from './settings.ts'
import { facts, languages, link, ME, picture } from './words.ts'

const SCOPES = { read: t('Read'), upload: t('Upload and edit videos'), manage: t('Change everything of your account') } as const
const PASSWORD = { currentPassword: { label: t('Current password'), as: 'password', required: true } } as const

const WRONG_CODE = t('This code is not right. Type the one that the app shows now.')
const NO_REQUEST = 'Invalid request token'
const ENDED = t('This set-up has ended: it took too long, or another one was begun.')
const REFUSALS = new Map<string, Localized>([
  ['Invalid OTP token', WRONG_CODE],
  [NO_REQUEST, ENDED],
])

/** How an app gets the key, and the form for its code, with what is wrong with another one. */
const appOf = (asked: unknown, shown: Shown, problem?: Localized): Ending => ({
  heading: t('Add the key to your app'),
  body: html`<p>${t('Scan this picture with the app, or type the key into it. Then type the code that it shows.')}</p>
<div class="qr" role="img" aria-label="${t('QR code with the address')}">${new Html(renderSVG(textAt(asked, 'uri'), { border: 4 }))}</div>${facts(
    [
      [t('Key'), URL.parse(textAt(asked, 'uri'))?.searchParams.get('secret')],
      [t('Address'), valueAt(asked, 'uri')],
    ],
  )}<form method="post" action="/my-account/two-factor" class="fields">${hiddenFields(shown, 'confirm')}${['requestToken', 'uri'].map((name) => html`<input type="hidden" name="${name}" value="${textAt(asked, name)}">`)}<label for="otp">${t('Code')}</label><input id="otp" name="otpToken" inputmode="numeric" autocomplete="one-time-code" required${problem && html` autofocus aria-invalid="true" aria-describedby="otp-note"`}>${problem && html`<p class="problem" id="otp-note" role="alert">${problem}</p>`}<button class="main">${t('Switch on')}</button></form>`,
})

export const accountScreens: readonly Screen[] = [
  settingsScreen,
  notificationScreen,
  archiveScreen,
  screen('/my-account/profile', t('Profile'), { reads: { me: ME } }, [
    form('profile', 'PUT /api/v1/users/me', {
      initial: ({ data: { me } }) => ({ ...(valueAt(me, 'account') as object), ...(me as object) }),
      changesOnly: true,
      fields: () => ({
        displayName: t('Name that others see'),
        description: { label: t('About you'), as: 'long' },
        nsfwPolicy: {
          label: t('Sensitive videos'),
          choices: { do_not_list: t('Are not listed'), warn: t('Ask first'), blur: t('Have blurred pictures'), display: t('Are shown') },
        },
        videoLanguages: { label: t('Languages of listed videos'), as: 'many', choices: languages(), byName: true },
        videosHistoryEnabled: { label: t('Remember watched videos'), as: 'check' },
        emailPublic: { label: t('Other servers may know the e-mail address'), as: 'check' },
      }),
    }),
    picture('avatar', t('Picture'), 'POST /api/v1/users/me/avatar/pick'),
    form('email', 'PUT /api/v1/users/me', {
      title: t('E-mail address'),
      initial: ({ data }) => ({ email: valueAt(data.me, 'email') }),
      fields: { email: { label: t('E-mail address'), required: true }, ...PASSWORD },
      button: t('Change the address'),
      refused: wrongPassword,
      said: t('Saved. If this server sends mails, follow the link in the one to the new address.'),
    }),
    form('delete', 'DELETE /api/v1/users/me', {
      title: t('Delete the account'),
      text: t('With its channels, videos, playlists and comments. It cannot be brought back.'),
      button: t('Delete the account'),
      danger: true,
      leadsTo: () => '/',
    }),
  ]),
  screen('/my-account/two-factor', t('Two-factor login'), { reads: { me: ME } }, [
    form('confirm', 'POST /api/v1/users/:id/two-factor/confirm-request', {
      // The answer of the request has the form, and that of a wrong code has it again.
      when: () => false,
      fields: { requestToken: { label: t('Request'), as: 'hidden' }, otpToken: t('Code') },
      refused: ({ status, detail, fields }, text, shown) => {
        if (status === 401) return undefined
        const asked = { requestToken: text('requestToken'), uri: text('uri') }
        const problem = fields.has('otpToken') ? WRONG_CODE : (REFUSALS.get(detail) ?? recognized(detail))
        const isOver = [NO_REQUEST, 'Two factor is already enabled.'].includes(detail)
        if (!isOver && /^otpauth:\/\/totp\/[!-~]{1,1000}$/.test(asked.uri)) return appOf(asked, shown, problem)
        const body = html`<p class="problem" role="alert">${problem} <a href="/my-account/two-factor">${t('Go on')}</a></p>`
        return { heading: t('Two-factor login'), body }
      },
      said: t('Two-factor login is on.'),
    }),
    form('request', 'POST /api/v1/users/:id/two-factor/request', {
      when: ({ data }) => valueAt(data.me, 'twoFactorEnabled') !== true,
      text: t('An app on your telephone shows a code that each login asks for.'),
      fields: PASSWORD,
      refused: wrongPassword,
      button: t('Begin'),
      ends: (_text, shown, answer) => appOf(valueAt(answer, 'otpRequest'), shown),
    }),
    form('disable', 'POST /api/v1/users/:id/two-factor/disable', {
      when: ({ data }) => valueAt(data.me, 'twoFactorEnabled') === true,
      text: t('Two-factor login is on.'),
      fields: PASSWORD,
      refused: wrongPassword,
      button: t('Switch off'),
      danger: true,
    }),
  ]),
  screen('/my-account/sessions', t('Logins'), [
    list('sessions', 'GET /api/v1/vireo/sessions', {
      columns: {
        Login: (row) => (valueAt(row, 'isCurrent') === true ? t('This one') : t('Another one')),
        Begun: 'createdAt',
        'Last renewed': 'usedAt',
        Expires: 'expiresAt',
      },
      actions: { end: { label: t('Log out'), operation: 'DELETE /api/v1/vireo/sessions/:id', danger: true } },
    }),
  ]),
  screen('/my-account/application-tokens', t('Application tokens'), [
    list('tokens', 'GET /api/v1/vireo/application-tokens', {
      columns: {
        Name: 'name',
        'May do': (row) => listed([valueAt(row, 'scopes')].flat().map((scope) => known(wordsOf(String(scope))))),
        Expires: 'expiresAt',
        'Last used': (row) => plain(valueAt(row, 'lastUsedAt')) ?? t('Never'),
        Created: 'createdAt',
      },
      actions: { revoke: { label: t('Revoke'), operation: 'DELETE /api/v1/vireo/application-tokens/:id', danger: true } },
      empty: t('No tokens yet.'),
    }),
    form('create', 'POST /api/v1/vireo/application-tokens', {
      title: t('New token'),
      text: t('A program uses it in place of your password. A new password revokes all of them.'),
      fields: ({ visit }) => ({
        name: { label: t('Name'), help: t('What the token is for.') },
        scopes: {
          label: t('What it may do'),
          as: 'many',
          choices: visit && isStaff(visit.user.role) ? { ...SCOPES, admin: t('Administer the server') } : SCOPES,
        },
        expiresAt: { label: t('Expires at (UTC)'), as: 'moment' },
      }),
      button: t('Create'),
      shows: (answer) => html`<section><h2>${t('The new token')}</h2>
<p>${t('Copy it now: it is not shown again.')}</p>${facts([[t('Token'), valueAt(answer, 'token')]])}</section>`,
    }),
  ]),
  blocks({ path: '/my-account/blocklist', title: t('Blocked'), api: '/api/v1/users/me/blocklist' }),
  ...watchedWords({ path: '/my-account/watched-words', api: '/api/v1/watched-words/accounts/:accountName/lists' }),
  screen('/my-account/abuses', t('Your reports'), [
    list('abuses', 'GET /api/v1/users/me/abuses', {
      columns: { Reason: link('/my-account/abuses', 'id', 'reason'), State: 'state', Messages: 'countMessages', Sent: 'createdAt' },
      empty: t('No reports yet.'),
    }),
  ]),
  screen('/my-account/abuses/:id', t('Your report'), { reads: { report: 'GET /api/v1/users/me/abuses?id=:id' } }, [
    ...conversation(t('Message'), (row) => (valueAt(row, 'byModerator') === true ? t('A moderator') : t('You'))),
  ]),
]
