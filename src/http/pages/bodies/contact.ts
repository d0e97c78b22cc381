// The contact form.

import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'

export interface ContactForm {
  /** The name of this server. */
  name: string
  fields: { fromName?: string | null; fromEmail?: string; subject?: string | null; body?: string }
  token: string
  problem?: Localized | undefined
}

export const contactBody = ({ name, fields, token, problem }: ContactForm): Html =>
  html`<h1>${t('Write to {name}', { name })}</h1>
<form method="post" action="/about/contact" class="fields">
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<input type="hidden" name="token" value="${token}">
<label for="fromName">${t('Your name')}</label>
<input id="fromName" name="fromName" required maxlength="120" autocomplete="name" value="${fields.fromName}">
<label for="fromEmail">${t('Your e-mail address')}</label>
<input id="fromEmail" name="fromEmail" type="text" inputmode="email" required maxlength="400" autocomplete="email" value="${fields.fromEmail}">
<label for="subject">${t('Subject')}</label>
<input id="subject" name="subject" maxlength="300" value="${fields.subject}">
<label for="body">${t('Message')}</label>
<textarea id="body" name="body" required minlength="3" maxlength="5000" rows="8">
${fields.body}</textarea>
<button class="main">${t('Send')}</button>
</form>`

export const sentBody = (): Html => html`<h1>${t('Sent')}</h1>
<p>${t('Your message is on its way.')} <a href="/">${t('Latest videos')}</a></p>`

export const unavailableBody = (): Html => html`<h1>${t('Contact')}</h1>
<p>${t('This server takes no messages here.')} <a href="/about">${t('About this server')}</a></p>`
