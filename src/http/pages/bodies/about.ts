// What the server says of itself.

import { type Html, html } from '../../../platform/html.ts'
import { plainText } from '../plain-text.ts'

export const aboutBody = (about: { name: string; description: string; terms: string }): Html =>
  html`<h1>About ${about.name}</h1>
<p class="text">${plainText(about.description)}</p>
${about.terms && html`<h2>Terms</h2><p class="text">${plainText(about.terms)}</p>`}`
