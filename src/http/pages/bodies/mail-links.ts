// Pages that mails link to: verification of an address, and a new password.

import { type Html, html, rich } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'

/** The parameters of a link, as hidden fields of its form. */
type Link = Readonly<Record<string, string | number | undefined>>

const hidden = (fields: Link): Html =>
  html`${Object.entries(fields).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}`

export const verifyBody = (link: Link, token: string): Html =>
  html`<h1>${t('Is this your e-mail address?')}</h1>
<p>${t('With this button you show that the address is yours to which the mail was sent that led you here.')}</p>
<form method="post" action="/verify-account/email" class="fields">${hidden({ ...link, token })}<button class="main">${t('Verify the address')}</button></form>`

/** `waits`: a moderator decides on the registration now. */
export const verifiedBody = ({ waits }: { waits: boolean }): Html =>
  html`<h1>${t('The address is verified')}</h1>
${waits ? html`<p>${t('A moderator decides on your request now. You will get a mail.')}</p>` : html`<p><a href="/login">${t('Log in')}</a></p>`}`

export const newPasswordBody = ({
  userId,
  verificationString,
  token,
  problem,
}: {
  userId: number
  verificationString: string
  token: string
  problem?: Localized
}): Html =>
  html`<h1>${t('A new password')}</h1>
<form method="post" action="/reset-password" class="fields">${hidden({ userId, verificationString, token })}
${problem && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<label for="password">${t('New password')}</label>
<input id="password" name="password" type="password" required minlength="6" maxlength="255" autocomplete="new-password"${
    problem ? html` aria-describedby="problem"` : null
  }>
<button class="main">${t('Set the password')}</button>
</form>
<p class="soft">${t('All sessions of this account end with it.')}</p>`

export const resetBody = (): Html =>
  html`<h1>${t('Your new password holds')}</h1>
<p><a href="/login">${t('Log in')}</a></p>`

export const requestResetBody = (form: { email?: string; token: string; problem?: Localized }): Html =>
  html`<h1>${t('Forgot your password?')}</h1>
<form method="post" action="/login/ask-reset-password" class="fields">${hidden({ token: form.token })}
${form.problem && html`<p class="problem" id="problem" role="alert">${form.problem}</p>`}
<label for="email">${t('E-mail address of your account')}</label>
<input id="email" name="email" type="text" inputmode="email" required maxlength="254" autocomplete="email"${
    form.email && html` value="${form.email}"`
  }${form.problem ? html` aria-describedby="problem"` : null}>
<button class="main">${t('Send me a link')}</button>
</form>`

/** The same whether or not an account has the address. */
export const resetRequestedBody = (email: string): Html =>
  html`<h1>${t('Look at your mails')}</h1>
<p>${rich('If an account of this server has the address {address}, a link to a new password is on its way to it.', { address: html`<bdi>${email}</bdi>` })}</p>
<p class="soft">${t('Nothing comes? Look among the unwanted mails, and ask again in some minutes.')}</p>`

export const noMailBody = (): Html =>
  html`<h1>${t('Forgot your password?')}</h1>
<p>${rich('This server sends no mails. Ask <a>who runs it</a> for a new password.', { a: (inside) => html`<a href="/about">${inside}</a>` })}</p>`

export const uselessLinkBody = (what: 'address' | 'password'): Html =>
  html`<h1>${t('This link is of no use any more')}</h1>
<p>${t('It was used, it is too old, or a newer mail has taken its place.')}</p>
${
  what === 'password'
    ? html`<p><a class="button" href="/login/ask-reset-password">${t('Ask for a new link')}</a></p>`
    : html`<p><a class="button" href="/login">${t('Log in')}</a></p>`
}`
