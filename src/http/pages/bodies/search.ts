// Search results.

import { type Html, html } from '../../../platform/html.ts'
import { tabs } from './listing.ts'

export const SEARCHES = [
  { kind: 'videos', name: 'Videos' },
  { kind: 'channels', name: 'Channels' },
  { kind: 'playlists', name: 'Playlists' },
] as const

export type SearchKind = (typeof SEARCHES)[number]['kind']

/** `login`: the link to log in, so that other servers are asked about a pasted address. */
export const searchBody = (asked: { search: string; kind: SearchKind; content: Html | undefined; login?: string | undefined }): Html =>
  asked.content === undefined
    ? html`<h1>Search</h1>
<p class="soft">Type words, the address of a video, or a handle such as <code>@name@video.example</code> into the field above.</p>`
    : html`<h1>Results for “${asked.search}”</h1>
${tabs(
  'Kinds of results',
  SEARCHES.map(({ kind, name }) => ({
    name,
    path: `/search?${new URLSearchParams({ search: asked.search, type: kind })}`,
    isOpen: kind === asked.kind,
  })),
)}
${asked.login && html`<p class="notice"><a href="${asked.login}">Log in</a> to look for it on other servers.</p>`}
${asked.content}`

export const taggedBody = (tag: string, content: Html): Html => html`<h1>Videos tagged “<bdi>${tag}</bdi>”</h1>
${content}`
