// Markdown of people as HTML, marked with its language where that is known.

import { Html, html } from '../../../platform/html.ts'
import { markdownToHtml } from '../../../platform/markdown.ts'
import type { Here } from '../../videos/actor.view.ts'
import { cut } from '../heads/index.ts'

/** Bytes of HTML: room for 10,000 characters of any script, so that a page stays small whatever somebody writes. */
const LONGEST = 34_000

export interface RichTextOptions {
  /** BCP 47. */
  language?: string | null
  /** Bytes of HTML that the text may take; what is longer ends after a word, with dots. */
  longest?: number
  /** Path of the watch page of the video that it is about, for the times in it. */
  watch?: string
}

/** HTML in it is text, and its links lead to the web alone: see platform/markdown.ts. */
export const richText = (markdown: string, here: Here, options: RichTextOptions = {}): Html => fittedText(markdown, here, options).text

/** The same, and whether it is all there. Markup may take ten times the room of what it was written in: what is too large is cut and made anew. */
export function fittedText(
  markdown: string,
  here: Here,
  { language, longest = LONGEST, watch }: RichTextOptions = {},
): { text: Html; isWhole: boolean } {
  let kept = cut(markdown, longest)
  for (;;) {
    const made = below(markdownToHtml(kept, here.origin, { watch }))
    const bytes = Buffer.byteLength(made)
    if (bytes <= longest) {
      const text = html`<div class="rich" dir="auto"${language && html` lang="${language}"`}>${new Html(made)}</div>`
      return { text, isWhole: kept === markdown }
    }
    kept = cut(kept, Math.floor((kept.length * longest * 0.9) / bytes))
  }
}

/** With headings that stand below those of the page. No other text of the Markdown looks like one of these tags. */
const below = (text: string): string =>
  text.replace(/<(\/?)h([1-6])>/g, (_tag, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 2)}>`)
