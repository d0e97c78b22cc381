// Common parts of the account pages, and the change of the password.

import { type Html, html } from '../../../platform/html.ts'
import { tabs } from './listing.ts'

const PAGES = {
  '/my-account/settings': 'Settings',
  '/my-account/notifications': 'Notifications',
  '/my-account/import-export': 'Archives',
} as const

export const accountPage = (open: keyof typeof PAGES, content: Html): Html =>
  html`<h1>Your account</h1>
${tabs(
  'Pages of your account',
  Object.entries(PAGES).map(([path, name]) => ({ name, path, isOpen: path === open })),
)}
${content}`

export interface PasswordForm {
  username: string
  token: string
  problem: string | undefined
}

/** The name is there for password managers. */
export const passwordBody = ({ username, token, problem }: PasswordForm): Html =>
  html`<h2>Change your password</h2>
<form method="post" action="/my-account/settings" class="fields">
${problem && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<input type="hidden" name="token" value="${token}">
<label for="username">User name</label>
<input id="username" name="username" value="${username}" readonly autocomplete="username">
<label for="currentPassword">Current password</label>
<input id="currentPassword" name="currentPassword" type="password" required maxlength="1000" autocomplete="current-password"${
    problem ? html` aria-describedby="problem"` : null
  }>
<label for="password">New password</label>
<input id="password" name="password" type="password" required minlength="6" maxlength="255" autocomplete="new-password">
<button class="main">Change the password</button>
</form>
<p class="soft">Your other sessions end with it.</p>`

export const changedPasswordBody = (): Html =>
  accountPage(
    '/my-account/settings',
    html`<h2>Your password is changed</h2>
<p role="status">Your other sessions are over. <a href="/">Latest videos</a></p>`,
  )
