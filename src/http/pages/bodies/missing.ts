// Where there is nothing, or nothing for everybody.

import { type Html, html } from '../../../platform/html.ts'

/** The same whether there is nothing or it is not for whoever asks. */
export const missingBody = ({ embed }: { embed: boolean }): Html =>
  html`<section class="missing"><h1>There is nothing here</h1>
<p>What you look for does not exist, or it is not for everybody.</p>
${
  !embed && html`<p><a class="button" href="/">Latest videos</a> <a class="button plain" href="/login">Log in</a></p>`
}</section>`
