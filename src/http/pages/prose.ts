// Texts of people as HTML in which nothing acts.

import { Html } from '../../platform/html.ts'
import { markdownToHtml } from '../../platform/markdown.ts'

/** Markdown; HTML in it is text. `base` is what relative addresses start from. */
export const prose = (markdown: string, base: string): Html =>
  new Html(`<div class="prose">${markdownToHtml(markdown, base)}</div>`)
