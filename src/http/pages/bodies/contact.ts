// The contact form.

import { type Html, html } from '../../../platform/html.ts'

export interface ContactForm {
  /** The name of this server. */
  name: string
  fields: { fromName?: string | null; fromEmail?: string; subject?: string | null; body?: string }
  token: string
  problem?: string | undefined
}

export const contactBody = ({ name, fields, token, problem }: ContactForm): Html =>
  html`<h1>Write to ${name}</h1>
<form method="post" action="/about/contact" class="fields">
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<input type="hidden" name="token" value="${token}">
<label for="fromName">Your name</label>
<input id="fromName" name="fromName" required maxlength="120" autocomplete="name" value="${fields.fromName}">
<label for="fromEmail">Your e-mail address</label>
<input id="fromEmail" name="fromEmail" type="text" inputmode="email" required maxlength="400" autocomplete="email" value="${fields.fromEmail}">
<label for="subject">Subject</label>
<input id="subject" name="subject" maxlength="300" value="${fields.subject}">
<label for="body">Message</label>
<textarea id="body" name="body" required minlength="3" maxlength="5000" rows="8">
${fields.body}</textarea>
<button class="main">Send</button>
</form>`

export const sentBody = (): Html => html`<h1>Sent</h1>
<p>Your message is on its way. <a href="/">Latest videos</a></p>`

export const unavailableBody = (): Html => html`<h1>Contact</h1>
<p>This server takes no messages here. <a href="/about">About this server</a></p>`
