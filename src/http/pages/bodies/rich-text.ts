// Markdown of people as HTML, marked with its language where that is known.

import { Html, html } from '../../../platform/html.ts'
import { markdownToHtml } from '../../../platform/markdown.ts'
import type { Here } from '../../videos/actor.view.ts'

/** Characters; what is longer is no text for a page. */
const LONGEST = 20_000

/** HTML in it is text, and its links lead to the web alone: see platform/markdown.ts. */
export const richText = (markdown: string, here: Here, language?: string | null): Html =>
  html`<div class="rich" dir="auto"${language && html` lang="${language}"`}>${new Html(
    below(markdownToHtml(markdown.slice(0, LONGEST), here.origin)),
  )}</div>`

/** With headings that stand below those of the page. No other text of the Markdown looks like one of these tags. */
const below = (text: string): string =>
  text.replace(
    /<(\/?)h([1-6])>/g,
    (_tag, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 2)}>`,
  )
