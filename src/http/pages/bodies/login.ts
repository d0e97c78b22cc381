// The login and logout forms.

import { type Html, html } from '../../../platform/html.ts'

export interface LoginForm {
  username?: string | undefined
  next: string
  token: string
  /** True if passwords can be reset by mail. */
  canReset: boolean
  canSignUp: boolean
  problem?: string | undefined
}

export const loginBody = ({ username, next, token, canReset, canSignUp, problem }: LoginForm): Html =>
  html`<h1>Log in</h1>
<form method="post" action="/login" class="fields">
${problem && html`<p class="problem" id="login-problem" role="alert">${problem}</p>`}
<input type="hidden" name="token" value="${token}"><input type="hidden" name="next" value="${next}">
<label for="username">User name or e-mail address</label>
<input id="username" name="username" required maxlength="400" autocomplete="username" autocapitalize="none" spellcheck="false"${
    username ? html` value="${username}"` : null
  }${problem ? html` aria-describedby="login-problem"` : null}>
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="1000" autocomplete="current-password">
<label for="code">One-time code <span class="soft">(with two-factor login only)</span></label>
<input id="code" name="code" inputmode="numeric" maxlength="20" autocomplete="one-time-code">
<button class="main">Log in</button>
</form>
${canReset && html`<p><a href="/login/ask-reset-password">Forgot your password?</a></p>`}
${canSignUp && html`<p>No account yet? <a href="/signup">Sign up</a></p>`}`

export const signedInBody = (username: string, next: string): Html =>
  html`<h1>You are logged in</h1>
<p>You are <strong>${username}</strong>. <a href="${next}">Go on</a>, or <a href="/logout">log out</a>.</p>`

export const logoutBody = (username: string, token: string): Html =>
  html`<h1>Log out</h1>
<form method="post" action="/logout" class="fields">
<p>You are logged in as <strong>${username}</strong>.</p>
<input type="hidden" name="token" value="${token}"><button class="main">Log out</button>
</form>`
