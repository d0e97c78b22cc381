// Markdown as the HTML that feeds carry: a small part of CommonMark, with every other character escaped. HTML in it is text, and
// addresses are of the web, so that nothing in it acts.

import { type Html, html, webUrl } from './html.ts'

/** Quotes within quotes, and marks within marks, at most. */
const DEEPEST = 4

/** `base` is what relative addresses start from. */
export const markdownToHtml = (markdown: string, base: string): string =>
  blocks(markdown.replace(/\r\n?/g, '\n').split('\n'), base, 0)

const FENCE = /^ {0,3}(?:```|~~~)/
const HEADING = /^ {0,3}(#{1,6})\s+(\S.{0,500}?)[\s#]*$/
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/
const QUOTE = /^ {0,3}>\s?/
const ITEM = /^ {0,3}(?:[-*+]|(\d{1,9})[.)])\s+(?=\S)/

function blocks(lines: readonly string[], base: string, depth: number): string {
  let result = ''
  for (let at = 0; at < lines.length; ) {
    const { length, text } = block(lines, at, { base, depth })
    result += text
    at += length
  }
  return result
}

interface Context {
  base: string
  depth: number
}

/** The block that begins at a line, and how many lines it takes. */
function block(lines: readonly string[], at: number, { base, depth }: Context): { length: number; text: string } {
  const line = lines[at] ?? ''
  if (line.trim() === '') return { length: 1, text: '' }
  const heading = HEADING.exec(line)
  if (heading) {
    const level = heading[1]?.length ?? 1
    return { length: 1, text: `<h${level}>${inline(heading[2] ?? '', base)}</h${level}>\n` }
  }
  if (RULE.test(line)) return { length: 1, text: '<hr>\n' }
  if (FENCE.test(line)) {
    const inside = run(lines, at + 1, (next) => !FENCE.test(next))
    return {
      length: inside.length + 2,
      text: html`<pre><code>${inside.map((code) => `${code}\n`)}</code></pre>\n`.text,
    }
  }
  if (QUOTE.test(line) && depth < DEEPEST) {
    const quoted = run(lines, at, (next) => QUOTE.test(next))
    const inside = quoted.map((next) => next.replace(QUOTE, ''))
    return { length: quoted.length, text: `<blockquote>\n${blocks(inside, base, depth + 1)}</blockquote>\n` }
  }
  const item = ITEM.exec(line)
  if (item) {
    const isNumbered = item[1] !== undefined
    const items = run(lines, at, (next) => {
      const other = ITEM.exec(next)
      return other !== null && (other[1] !== undefined) === isNumbered && !RULE.test(next)
    })
    const list = items.map((next) => `<li>${inline(next.replace(ITEM, ''), base)}</li>\n`).join('')
    return { length: items.length, text: isNumbered ? `<ol>\n${list}</ol>\n` : `<ul>\n${list}</ul>\n` }
  }
  const others = run(lines, at + 1, (next) => next.trim() !== '' && !BLOCKS.some((begins) => begins.test(next)))
  const paragraph = [line, ...others].map((next) => inline(next.trim(), base))
  return { length: paragraph.length, text: `<p>${paragraph.join('<br>\n')}</p>\n` }
}

const BLOCKS = [HEADING, RULE, FENCE, QUOTE, ITEM]

function run(lines: readonly string[], from: number, belongs: (line: string) => boolean): string[] {
  const end = lines.findIndex((line, at) => at >= from && !belongs(line))
  return lines.slice(from, end === -1 ? lines.length : end)
}

/** Lengths are bounded, so that no text takes long. Pictures become links: a reader asks nobody for them unawares. */
const MARKS = new RegExp(
  [
    String.raw`\\(?<escaped>[\\${'`'}*_{}[\]()#+\-.!<>~|])`,
    '`(?<code>[^`\\n]{1,500})`',
    String.raw`!?\[(?<text>[^\]\n]{1,300})\]\((?<address>[^()\s]{1,1000})(?:\s+"[^"\n]{0,200}")?\)`,
    String.raw`<(?<auto>https?:\/\/[^<>\s]{1,1000})>`,
    String.raw`(?<bare>https?:\/\/[^\s<>"]{1,1000}[^\s<>"'.,;:!?)\]*_])`,
    String.raw`(?<two>\*\*|(?<!\w)__)(?=\S)(?<strong>.{0,300}?\S)\k<two>(?!\w)`,
    String.raw`(?<one>\*|(?<!\w)_)(?=[^\s*_])(?<em>[^*_\n]{0,300}?\S)\k<one>(?!\w)`,
    String.raw`~~(?=\S)(?<gone>[^~\n]{1,300}?)~~`,
  ].join('|'),
  'g',
)

function inline(text: string, base: string, depth = 0): Html {
  const pieces: Html[] = []
  let end = 0
  for (const found of text.matchAll(MARKS)) {
    pieces.push(html`${text.slice(end, found.index)}`, marked(found, base, depth))
    end = found.index + found[0].length
  }
  pieces.push(html`${text.slice(end)}`)
  return html`${pieces}`
}

function marked(found: RegExpExecArray, base: string, depth: number): Html {
  const { escaped, code, text, address, auto, bare, strong, em, gone } = found.groups ?? {}
  const inner = (words: string): Html => (depth < DEEPEST ? inline(words, base, depth + 1) : html`${words}`)
  if (escaped !== undefined) return html`${escaped}`
  if (code !== undefined) return html`<code>${code}</code>`
  if (text !== undefined && address !== undefined) return link(address, text, base) ?? html`${found[0]}`
  const shown = auto ?? bare
  if (shown !== undefined) return link(shown, shown, base) ?? html`${found[0]}`
  if (strong !== undefined) return html`<strong>${inner(strong)}</strong>`
  if (em !== undefined) return html`<em>${inner(em)}</em>`
  return html`<s>${inner(gone ?? '')}</s>`
}

function link(address: string, text: string, base: string): Html | undefined {
  const url = webUrl(URL.parse(address, base)?.href)
  return url === undefined ? undefined : html`<a href="${url}" rel="nofollow noopener noreferrer">${text}</a>`
}
