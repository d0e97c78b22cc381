// Renders Markdown as HTML for feeds: HTML in it is escaped, and links lead only to the web, so that it is inert.

import MarkdownIt from 'markdown-it'
import { type Html, html, webUrl } from './html.ts'

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 20 })
// Short rows of tables are padded with cells: a few bytes would become many.
markdown.disable('table')
// Words such as `example.org` are not linked.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
markdown.validateLink = (url) => webUrl(URL.parse(url, 'https://localhost')?.href) !== undefined
markdown.normalizeLink = (url) => url

markdown.renderer.rules.link_open = (tokens, at, options, env, renderer) => {
  const token = tokens[at]
  token?.attrs?.splice(0, token.attrs.length, ['href', absolute(token.attrGet('href'), env)], ['rel', REL])
  return renderer.renderToken(tokens, at, options)
}
// Readers must not load pictures unknowingly.
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

/** `@name@host`, not as part of an address, and without a full stop at the end of a sentence. */
const MENTION = /(?<![\p{L}\p{N}@/._-])@([a-zA-Z0-9_.-]{1,200}@[a-zA-Z0-9.:-]{0,260}[a-zA-Z0-9])/gu

markdown.core.ruler.push('text-links', ({ tokens, env, Token }) => {
  const link: unknown = env?.link
  if (typeof link !== 'function') return
  for (const block of tokens) {
    let links = 0
    block.children = (block.children ?? []).flatMap((token) => {
      if (token.type === 'link_open') links += 1
      else if (token.type === 'link_close') links -= 1
      if (token.type !== 'text' || links > 0) return [token]
      const made = new Token('html_inline', '', 0)
      made.content = String(link(token.content))
      return [made]
    })
  }
})

/** Text in which each match of a pattern is replaced, unless `make` returns nothing. */
function replaced(text: string, pattern: RegExp, make: (match: RegExpExecArray) => Html | undefined): Html {
  const pieces: Html[] = []
  let at = 0
  for (const match of text.matchAll(pattern)) {
    const made = make(match)
    if (!made) continue
    pieces.push(html`${text.slice(at, match.index)}${made}`)
    at = match.index + match[0].length
  }
  return html`${pieces}${text.slice(at)}`
}

const withTimes = (text: string, watch: string): Html =>
  replaced(text, TIME, ({ 0: time, 1: hours = '0', 2: minutesOfHour, 3: minutes, 4: seconds }) => {
    const start = Number(hours) * 3600 + Number(minutesOfHour ?? minutes) * 60 + Number(seconds)
    return html`<a href="${watch}?start=${start}" data-seek="${start}">${time}</a>`
  })

const withMentions = (text: string, mentions: Mentions): Html =>
  replaced(text, MENTION, ({ 0: mention, 1: handle = '' }) => {
    const url = mentions.get(handle.toLowerCase())
    return url === undefined ? undefined : html`<a href="${url}" class="u-url mention">${mention}</a>`
  })

/** Addresses of actors by `name@host` in lower case. */
type Mentions = ReadonlyMap<string, string>

/**
 * `base` resolves relative addresses. `watch` is the path of the video's page: timestamps in the text link to that position. `mentions` are
 * the actors that `@name@host` links to.
 */
export function markdownToHtml(
  text: string,
  base: string,
  { watch, mentions }: { watch?: string | undefined; mentions?: Mentions } = {},
): string {
  const link = watch !== undefined ? (part: string) => withTimes(part, watch) : mentions && ((part: string) => withMentions(part, mentions))
  return markdown.render(text, { base, link })
}
