// The login and logout forms.

import { type Html, html, rich } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'

export interface LoginForm {
  /** False if only other systems know the users. */
  hasPasswords: boolean
  /** Logins with other systems: addresses and texts. */
  buttons: readonly { href: string; label: string }[]
  username?: string | undefined
  next: string
  token: string
  /** True if passwords can be reset by mail. */
  canReset: boolean
  canSignUp: boolean
  problem?: Localized | undefined | undefined
}

export const loginBody = (form: LoginForm): Html =>
  html`<h1>${t('Log in')}</h1>
${!form.hasPasswords && form.problem && html`<p class="problem" role="alert">${form.problem}</p>`}
${form.hasPasswords && passwordForm(form)}
${form.buttons.length > 0 && html`<p>${form.buttons.map(({ href, label }) => html`<a class="button" href="${href}">${label}</a> `)}</p>`}
${form.hasPasswords && form.canReset && html`<p><a href="/login/ask-reset-password">${t('Forgot your password?')}</a></p>`}
${form.canSignUp && html`<p>${rich('No account yet? <a>Sign up</a>', { a: (inside) => html`<a href="/signup">${inside}</a>` })}</p>`}`

const passwordForm = ({ username, next, token, problem }: LoginForm): Html =>
  html`<form method="post" action="/login" class="fields">
${problem && html`<p class="problem" id="login-problem" role="alert">${problem}</p>`}
<input type="hidden" name="token" value="${token}"><input type="hidden" name="next" value="${next}">
<label for="username">${t('User name or e-mail address')}</label>
<input id="username" name="username" required maxlength="400" autocomplete="username" autocapitalize="none" spellcheck="false"${
    username ? html` value="${username}"` : null
  }${problem ? html` aria-describedby="login-problem"` : null}>
<label for="password">${t('Password')}</label>
<input id="password" name="password" type="password" required maxlength="1000" autocomplete="current-password">
<label for="code">${t('One-time code')} <span class="soft">${t('(with two-factor login only)')}</span></label>
<input id="code" name="code" inputmode="numeric" maxlength="20" autocomplete="one-time-code">
<button class="main">${t('Log in')}</button>
</form>`

export const signedInBody = (username: string, next: string): Html =>
  html`<h1>${t('You are logged in')}</h1>
<p>${rich('You are {name}. <next>Go on</next>, or <out>log out</out>.', {
    name: html`<strong>${username}</strong>`,
    next: (inside) => html`<a href="${next}">${inside}</a>`,
    out: (inside) => html`<a href="/logout">${inside}</a>`,
  })}</p>`

export const logoutBody = (username: string, token: string): Html =>
  html`<h1>${t('Log out')}</h1>
<form method="post" action="/logout" class="fields">
<p>${rich('You are logged in as {name}.', { name: html`<strong>${username}</strong>` })}</p>
<input type="hidden" name="token" value="${token}"><button class="main">${t('Log out')}</button>
</form>`

/** `elsewhere`: where the browser logs out of the other system, and soon goes by itself. */
export const loggedOutBody = (elsewhere: string): Html =>
  html`<h1>${t('You are logged out')}</h1>
<p>${rich('You are still logged in to the other system that you came with. <a>Log out there too</a>', {
    a: (inside) => html`<a href="${elsewhere}" rel="noreferrer">${inside}</a>`,
  })}</p>`
