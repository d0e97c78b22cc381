// Common parts of the account pages, and the change of the password.

import type { Visit } from '../../../actors/session/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
import { menuOf } from '../screens/menu.ts'

/** The user, and what the role allows. */
interface Menu {
  visit: Visit
  mayCall: (visit: Visit, operation: string) => boolean
}

export const accountPage = (path: string, { visit, mayCall }: Menu, content: Html): Html =>
  html`<h1>${t('Your account')}</h1>
${menuOf({ path, menu: 'account' }, visit, (operation) => mayCall(visit, operation))}
${content}`

export interface PasswordForm {
  username: string
  token: string
  problem: Localized | undefined
}

/** The name is there for password managers. */
export const passwordBody = ({ username, token, problem }: PasswordForm): Html =>
  html`<h2>${t('Change your password')}</h2>
<form method="post" action="/my-account/settings" class="fields">
${problem && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<input type="hidden" name="token" value="${token}">
<label for="username">${t('User name')}</label>
<input id="username" name="username" value="${username}" readonly autocomplete="username">
<label for="currentPassword">${t('Current password')}</label>
<input id="currentPassword" name="currentPassword" type="password" required maxlength="1000" autocomplete="current-password"${
    problem ? html` aria-describedby="problem"` : null
  }>
<label for="password">${t('New password')}</label>
<input id="password" name="password" type="password" required minlength="6" maxlength="255" autocomplete="new-password">
<button class="main">${t('Change the password')}</button>
</form>
<p class="soft">${t('Your other sessions end with it.')}</p>`

export const changedPasswordBody = (menu: Menu): Html =>
  accountPage(
    '/my-account/settings',
    menu,
    html`<h2>${t('Your password is changed')}</h2>
<p role="status">${t('Your other sessions are over.')} <a href="/">${t('Latest videos')}</a></p>`,
  )
