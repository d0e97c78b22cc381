// Pages that mails link to: verification of an address, and a new password.

import { type Html, html } from '../../../platform/html.ts'

/** The parameters of a link, as hidden fields of its form. */
type Link = Readonly<Record<string, string | number | undefined>>

const hidden = (fields: Link): Html =>
  html`${Object.entries(fields).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}`

export const verifyBody = (link: Link, token: string): Html =>
  html`<h1>Is this your e-mail address?</h1>
<p>With this button you show that the address is yours to which the mail was sent that led you here.</p>
<form method="post" action="/verify-account/email" class="fields">${hidden({ ...link, token })}<button class="main">Verify the address</button></form>`

/** `waits`: a moderator decides on the registration now. */
export const verifiedBody = ({ waits }: { waits: boolean }): Html =>
  html`<h1>The address is verified</h1>
${waits ? html`<p>A moderator decides on your request now. You will get a mail.</p>` : html`<p><a href="/login">Log in</a></p>`}`

export const newPasswordBody = ({
  userId,
  verificationString,
  token,
  problem,
}: {
  userId: number
  verificationString: string
  token: string
  problem?: string
}): Html =>
  html`<h1>A new password</h1>
<form method="post" action="/reset-password" class="fields">${hidden({ userId, verificationString, token })}
${problem && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<label for="password">New password</label>
<input id="password" name="password" type="password" required minlength="6" maxlength="255" autocomplete="new-password"${
    problem ? html` aria-describedby="problem"` : null
  }>
<button class="main">Set the password</button>
</form>
<p class="soft">All sessions of this account end with it.</p>`

export const resetBody = (): Html =>
  html`<h1>Your new password holds</h1>
<p><a href="/login">Log in</a></p>`

export const requestResetBody = (form: { email?: string; token: string; problem?: string }): Html =>
  html`<h1>Forgot your password?</h1>
<form method="post" action="/login/ask-reset-password" class="fields">${hidden({ token: form.token })}
${form.problem && html`<p class="problem" id="problem" role="alert">${form.problem}</p>`}
<label for="email">E-mail address of your account</label>
<input id="email" name="email" type="text" inputmode="email" required maxlength="254" autocomplete="email"${
    form.email && html` value="${form.email}"`
  }${form.problem ? html` aria-describedby="problem"` : null}>
<button class="main">Send me a link</button>
</form>`

/** The same whether or not an account has the address. */
export const resetRequestedBody = (email: string): Html =>
  html`<h1>Look at your mails</h1>
<p>If an account of this server has the address <bdi>${email}</bdi>, a link to a new password is on its way to it.</p>
<p class="soft">Nothing comes? Look among the unwanted mails, and ask again in some minutes.</p>`

export const noMailBody = (): Html =>
  html`<h1>Forgot your password?</h1>
<p>This server sends no mails. Ask <a href="/about">who runs it</a> for a new password.</p>`

export const uselessLinkBody = (what: 'address' | 'password'): Html =>
  html`<h1>This link is of no use any more</h1>
<p>It was used, it is too old, or a newer mail has taken its place.</p>
${
  what === 'password'
    ? html`<p><a class="button" href="/login/ask-reset-password">Ask for a new link</a></p>`
    : html`<p><a class="button" href="/login">Log in</a></p>`
}`
