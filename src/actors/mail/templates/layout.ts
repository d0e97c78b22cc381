// What a mail consists of, and its two bodies: plain text, and HTML in which everything is escaped.

import { type Html, html } from '../../../platform/html.ts'

export interface Letter {
  subject: string
  heading: string
  blocks: readonly Block[]
}

/** A paragraph; a link with its address in full; or what somebody else wrote. */
export type Block = { say: string } | { link: string; url: string } | { quote: string }

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

export function renderMail(letter: Letter, stationery: Stationery): RenderedMail {
  const { subjectPrefix, signature, instanceName, instanceUrl } = stationery
  const parts = [letter.heading, ...letter.blocks.map(blockText), signature, `${oneLine(instanceName)}: ${instanceUrl}`]
  return {
    subject: oneLine(`${subjectPrefix} ${letter.subject}`),
    text: `${parts.join('\n\n')}\n`,
    html: page(letter, stationery).text,
  }
}

function blockText(block: Block): string {
  if ('say' in block) return block.say
  if ('link' in block) return `${block.link}:\n${block.url}`
  return block.quote
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
}

/** Mail programs know neither style sheets nor scripts that can be relied on: the styles stand where they count. */
function page({ subject, heading, blocks }: Letter, { signature, instanceName, instanceUrl }: Stationery): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;padding:24px;background:#f4f4f5;color:#18181b;font:16px/1.5 sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">${heading}</h1>
${blocks.map(blockHtml)}
<p style="margin:24px 0 0">${signature}</p>
</div>
<p style="max-width:560px;margin:16px auto 0;color:#71717a;font-size:13px"><a href="${instanceUrl}" style="color:#71717a">${instanceName}</a></p>
</body>
</html>
`
}

function blockHtml(block: Block): Html {
  if ('say' in block) return html`<p style="margin:0 0 16px">${block.say}</p>\n`
  if ('quote' in block) {
    return html`<blockquote style="margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid #d4d4d8;white-space:pre-wrap">${block.quote}</blockquote>\n`
  }
  return html`<p style="margin:0 0 8px"><a href="${block.url}" style="display:inline-block;padding:8px 16px;background:#18181b;color:#fff;border-radius:4px;text-decoration:none">${block.link}</a></p>
<p style="margin:0 0 16px;color:#71717a;font-size:13px;word-break:break-all">${block.url}</p>\n`
}

/** Names come from settings and people: a subject is one line. */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
