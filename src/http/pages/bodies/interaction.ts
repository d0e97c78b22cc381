// Shown to local users who arrive with a remote address that cannot be shown.

import { type Html, html, rich } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'

export const interactionBody = (uri: string): Html =>
  html`<h1>${uri === '' ? t('Open what is on another server') : t('This could not be found')}</h1>
${uri !== '' && html`<p role="alert">${rich('There is no channel, account, video or playlist at {address}, or its server does not answer.', { address: html`<code>${uri}</code>` })}</p>`}
<form action="/remote-interaction" class="fields"><label for="uri">${t('Address or handle')}</label>
<div class="row"><input id="uri" name="uri" required maxlength="2000" autocapitalize="none" spellcheck="false" placeholder="@name@video.example"${
    uri === '' ? null : html` value="${uri}"`
  }><button class="main">${t('Open')}</button></div></form>`
