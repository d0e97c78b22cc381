// Pages for missing and private content.

import { type Html, html } from '../../../platform/html.ts'

/** For addresses that are pages of other web clients. */
export const clientNeededBody = (): Html =>
  html`<section class="missing"><h1>This needs an app or another web client</h1>
<p>The pages of this server are for watching. What you look for is in apps and web clients that can be used with this server.</p>
<p><a class="button" href="/my-account/settings">Your account</a> <a class="button plain" href="/">Latest videos</a></p></section>`

/** The same whether the page does not exist or is hidden from the requester. */
export const missingBody = ({ embed }: { embed: boolean }): Html =>
  html`<section class="missing"><h1>There is nothing here</h1>
<p>What you look for does not exist, or it is not for everybody.</p>
${!embed && html`<p><a class="button" href="/">Latest videos</a> <a class="button plain" href="/login">Log in</a></p>`}</section>`
