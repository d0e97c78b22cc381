// Markdown as the HTML that feeds carry: HTML in it is text, and links lead to the web alone, so that nothing in it acts.

import MarkdownIt from 'markdown-it'
import { type Html, html, webUrl } from './html.ts'

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 20 })
// Rows of tables that end early are filled up with cells: from a few bytes each, much would come.
markdown.disable('table')
// Words such as `example.org` are no addresses.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
markdown.validateLink = (url) => webUrl(URL.parse(url, 'https://localhost')?.href) !== undefined
markdown.normalizeLink = (url) => url

markdown.renderer.rules.link_open = (tokens, at, options, env, renderer) => {
  const token = tokens[at]
  token?.attrs?.splice(0, token.attrs.length, ['href', absolute(token.attrGet('href'), env)], ['rel', REL])
  return renderer.renderToken(tokens, at, options)
}
// A reader asks nobody for pictures unawares.
markdown.renderer.rules.image = (tokens, at, _options, env) => {
  const token = tokens[at]
  return html`<a href="${absolute(token?.attrGet('src'), env)}" rel="${REL}">${token?.content ?? ''}</a>`.text
}
const code = (text: string): string => html`<pre><code>${text}</code></pre>\n`.text
markdown.renderer.rules.fence = (tokens, at) => code(tokens[at]?.content ?? '')
markdown.renderer.rules.code_block = (tokens, at) => code(tokens[at]?.content ?? '')

const REL = 'nofollow noopener noreferrer'
const absolute = (url: unknown, env: object | undefined): string => {
  const base = env && 'base' in env ? String(env.base) : ''
  return URL.parse(String(url ?? ''), base)?.href ?? base
}

/** `1:02:03` and `2:03`, but no part of a longer number, address or ratio. */
const TIME = /(?<![\p{L}\p{N}:.,/-])(?:(\d{1,3}):([0-5]\d)|(\d{1,3})):([0-5]\d)(?![\p{L}\p{N}:]|[.,]\d)/gu

markdown.core.ruler.push('times', ({ tokens, env, Token }) => {
  const watch: unknown = env?.watch
  if (typeof watch !== 'string') return
  for (const block of tokens) {
    let links = 0
    block.children = (block.children ?? []).flatMap((token) => {
      if (token.type === 'link_open') links += 1
      else if (token.type === 'link_close') links -= 1
      if (token.type !== 'text' || links > 0) return [token]
      const made = new Token('html_inline', '', 0)
      made.content = withTimes(token.content, watch)
      return [made]
    })
  }
})

function withTimes(content: string, watch: string): string {
  const pieces: Html[] = []
  let at = 0
  for (const { 0: time, 1: hours = '0', 2: minutesOfHour, 3: minutes, 4: seconds, index } of content.matchAll(TIME)) {
    const start = Number(hours) * 3600 + Number(minutesOfHour ?? minutes) * 60 + Number(seconds)
    const link = html`<a href="${watch}?start=${start}" data-seek="${start}">${time}</a>`
    pieces.push(html`${content.slice(at, index)}${link}`)
    at = index + time.length
  }
  return html`${pieces}${content.slice(at)}`.text
}

/**
 * `base` is what relative addresses start from. `watch` is the path of the page of the video that the text is about: times in it then are
 * links to that place of the video.
 */
export const markdownToHtml = (text: string, base: string, { watch }: { watch?: string | undefined } = {}): string =>
  markdown.render(text, { base, watch })
