// Where there is nothing, or nothing for everybody.

import { type Html, html } from '../../../platform/html.ts'

export const missingBody = (): Html =>
  html`<h1>There is nothing here</h1>
<p>The video or page does not exist, or it is not for everybody. <a href="/">Latest videos</a></p>`
