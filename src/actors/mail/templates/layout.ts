// The structure of a mail and its two bodies: plain text, and HTML in which everything is escaped except rendered Markdown.

import { Html, html } from '../../../platform/html.ts'
import { english, type Language, type Word, wordIn } from '../../../platform/language.ts'
import { markdownToHtml } from '../../../platform/markdown.ts'
import { harmless, oneLine } from './untrusted-text.ts'
import { COLUMNS, wrap } from './wrap.ts'

export interface Letter {
  subject: Word
  heading: Word
  blocks: readonly Block[]
  /** In small print below: the reason of the mail, and how to stop it. */
  footer?: readonly Footnote[]
}

/** A paragraph; a link with its full address; a quotation, plain or in Markdown; or several items, each with its address. */
export type Block =
  | { say: Word }
  | { link: Word; url: string }
  | { quote: string }
  | { markdown: string }
  | { list: readonly { item: Word; url: string }[] }

export type Footnote = { say: Word } | { link: Word; url: string }

export interface Stationery {
  subjectPrefix: string
  /** Last line. */
  signature: string
  /** Of the server, with its address. */
  instanceName: string
  instanceUrl: string
}

export interface RenderedMail {
  subject: string
  text: string
  html: string
}

type Say = (word: Word) => string

/** `language`: the reader's. */
export function renderMail(letter: Letter, stationery: Stationery, language: Language = english): RenderedMail {
  const { subjectPrefix, signature, instanceName, instanceUrl } = stationery
  const say: Say = (word) => String(wordIn(word, language))
  const parts = [
    wrap(oneLine(say(letter.heading))),
    ...letter.blocks.map((block) => blockText(block, say)),
    signature,
    `${oneLine(instanceName)}: ${instanceUrl}`,
    ...(letter.footer ? [letter.footer.map((note) => footnoteText(note, say)).join('\n')] : []),
  ]
  return {
    subject: oneLine(`${subjectPrefix} ${say(letter.subject)}`),
    text: `${parts.join('\n\n')}\n`,
    html: page(letter, stationery, { language, say }).text,
  }
}

const QUOTED = 'margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid #d4d4d8;overflow-wrap:anywhere'

function blockText(block: Block, say: Say): string {
  if ('say' in block) return wrap(harmless(say(block.say)))
  if ('link' in block) return `${say(block.link)}:\n${block.url}`
  if ('list' in block) {
    return block.list.map(({ item, url }) => `* ${wrap(say(item), COLUMNS - 2).replaceAll('\n', '\n  ')}\n  ${url}`).join('\n')
  }
  return harmless('markdown' in block ? block.markdown : block.quote)
    .split('\n')
    .flatMap((line) => wrap(line, COLUMNS - 2).split('\n'))
    .map((line) => `> ${line}`)
    .join('\n')
}

const footnoteText = (note: Footnote, say: Say): string => ('say' in note ? wrap(say(note.say)) : `${say(note.link)}:\n${note.url}`)

/** Mail programs do not reliably support style sheets or scripts, so styles are inline. */
function page(
  { subject, heading, blocks, footer }: Letter,
  stationery: Stationery,
  { language, say }: { language: Language; say: Say },
): Html {
  const { signature, instanceName, instanceUrl } = stationery
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.dir}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${oneLine(say(subject))}</title></head>
<body style="margin:0;padding:24px;background:#f4f4f5;color:#18181b;font:16px/1.5 sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">${oneLine(say(heading))}</h1>
${blocks.map((block) => blockHtml(block, instanceUrl, say))}
<p style="margin:24px 0 0">${signature}</p>
</div>
<p style="max-width:560px;margin:16px auto 0;color:#71717a;font-size:13px"><a href="${instanceUrl}" style="color:#71717a">${instanceName}</a></p>
${(footer ?? []).map((note) => footnoteHtml(note, say))}</body>
</html>
`
}

function blockHtml(block: Block, base: string, say: Say): Html {
  if ('say' in block) return html`<p style="margin:0 0 16px">${harmless(say(block.say))}</p>\n`
  if ('quote' in block) {
    return html`<blockquote dir="auto" style="${QUOTED};white-space:pre-wrap">${harmless(block.quote)}</blockquote>\n`
  }
  if ('markdown' in block) {
    const rendered = new Html(markdownToHtml(harmless(block.markdown), base))
    return html`<blockquote dir="auto" style="${QUOTED}">${rendered}</blockquote>\n`
  }
  if ('list' in block) {
    return html`<ul style="margin:0 0 16px;padding:0 0 0 20px">
${block.list.map(({ item, url }) => html`<li style="margin:0 0 8px;overflow-wrap:anywhere"><a href="${url}" style="color:#18181b">${say(item)}</a></li>\n`)}</ul>\n`
  }
  return html`<p style="margin:0 0 8px"><a href="${block.url}" style="display:inline-block;padding:8px 16px;background:#18181b;color:#fff;border-radius:4px;text-decoration:none">${say(block.link)}</a></p>
<p style="margin:0 0 16px;color:#71717a;font-size:13px;word-break:break-all">${block.url}</p>\n`
}

function footnoteHtml(note: Footnote, say: Say): Html {
  const style = 'max-width:560px;margin:8px auto 0;color:#71717a;font-size:13px'
  return 'say' in note
    ? html`<p style="${style}">${say(note.say)}</p>\n`
    : html`<p style="${style}"><a href="${note.url}" style="color:#71717a">${say(note.link)}</a></p>\n`
}
