// Search results.

import { type Html, html, rich } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { tabs } from './listing.ts'

export const SEARCHES = [
  { kind: 'videos', name: t('Videos') },
  { kind: 'channels', name: t('Channels') },
  { kind: 'playlists', name: t('Playlists') },
] as const

export type SearchKind = (typeof SEARCHES)[number]['kind']

/** `login`: the link to log in, so that other servers are asked about a pasted address. */
export const searchBody = (asked: { search: string; kind: SearchKind; content: Html | undefined; login?: string | undefined }): Html =>
  asked.content === undefined
    ? html`<h1>${t('Search')}</h1>
<p class="soft">${rich('Type words, the address of a video, or a handle such as {example} into the field above.', { example: html`<code>@name@video.example</code>` })}</p>`
    : html`<h1>${t('Results for “{words}”', { words: asked.search })}</h1>
${tabs(
  t('Kinds of results'),
  SEARCHES.map(({ kind, name }) => ({
    name,
    path: `/search?${new URLSearchParams({ search: asked.search, type: kind })}`,
    isOpen: kind === asked.kind,
  })),
)}
${asked.login && html`<p class="notice">${rich('<a>Log in</a> to look for it on other servers.', { a: (inside) => html`<a href="${asked.login}">${inside}</a>` })}</p>`}
${asked.content}`

export const taggedBody = (
  tag: string,
  content: Html,
): Html => html`<h1>${rich('Videos tagged “{tag}”', { tag: html`<bdi>${tag}</bdi>` })}</h1>
${content}`
