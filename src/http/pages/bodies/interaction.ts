// Shown to local users who arrive with a remote address that cannot be shown.

import { type Html, html } from '../../../platform/html.ts'

export const interactionBody = (uri: string): Html =>
  html`<h1>${uri === '' ? 'Open what is on another server' : 'This could not be found'}</h1>
${uri !== '' && html`<p role="alert">There is no channel, account, video or playlist at <code>${uri}</code>, or its server does not answer.</p>`}
<form action="/remote-interaction" class="fields"><label for="uri">Address or handle</label>
<div class="row"><input id="uri" name="uri" required maxlength="2000" autocapitalize="none" spellcheck="false" placeholder="@name@video.example"${
    uri === '' ? null : html` value="${uri}"`
  }><button class="main">Open</button></div></form>`
