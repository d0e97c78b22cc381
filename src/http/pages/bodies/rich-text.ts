// Users' Markdown as HTML, with its language if that is known.

import { Html, html } from '../../../platform/html.ts'
import { markdownToHtml } from '../../../platform/markdown.ts'
import type { Here } from '../../videos/actor.view.ts'
import { cut } from '../heads/index.ts'

/** Bytes of HTML: room for 10,000 characters of any script, so that pages stay small. */
const LONGEST = 32_000

export interface RichTextOptions {
  /** BCP 47. */
  language?: string | null
  /** Maximum bytes of HTML; longer texts are cut after a word, with an ellipsis. */
  longest?: number
  /** Path of the watch page of the video, for links to its timestamps. */
  watch?: string
}

/** HTML in it is escaped, and links lead only to the web: see platform/markdown.ts. */
export const richText = (markdown: string, here: Here, options: RichTextOptions = {}): Html => fittedText(markdown, here, options).text

/**
 * The same, and whether it is complete. Markup may be ten times as long as its source: if it is too long, the source is cut and rendered
 * again.
 */
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

/** With headings below those of the page. No other text of the Markdown can look like one of these tags. */
const below = (text: string): string =>
  text.replace(/<(\/?)h([1-6])>/g, (_tag, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 2)}>`)
