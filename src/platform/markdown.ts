// Markdown as the HTML that feeds carry: HTML in it is text, and links lead to the web alone, so that nothing in it acts.

import MarkdownIt from 'markdown-it'
import { html, webUrl } from './html.ts'

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

/** `base` is what relative addresses start from. */
export const markdownToHtml = (text: string, base: string): string => markdown.render(text, { base })
