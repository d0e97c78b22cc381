// The archives of a user: those that can be downloaded, and what became of the latest that was brought here.

import type { UserExportRow } from '../../../actors/user-export/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { toUserImportProgressView } from '../../user-imports/views.ts'
import { day, size } from './text.ts'

export interface Archives {
  /** `address`: from which it can be downloaded; null until it is whole. */
  exports: readonly (UserExportRow & { address: string | null })[]
  canExport: boolean
  canImport: boolean
  latest: ReturnType<typeof toUserImportProgressView> | undefined
  token: string
  problem: string | undefined
}

const STATES = {
  pending: 'waits for its turn',
  processing: 'is being made',
  completed: 'is ready',
  errored: 'could not be made',
} as const satisfies Record<UserExportRow['state'], string>

export const archivesBody = (archives: Archives): Html => html`${exportsOf(archives)}
${importsOf(archives)}`

function exportsOf({ exports, canExport, token, problem }: Archives): Html {
  const isOneHere = exports.some(({ state }) => state !== 'errored')
  return html`<section aria-labelledby="exports"><h2 id="exports">Take what is yours with you</h2>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
${exports.length > 0 && html`<ul>${exports.map((row) => exportOf(row, token))}</ul>`}
${canExport ? !isOneHere && exportForm(token) : html`<p class="soft">This server makes no archives.</p>`}</section>`
}

const exportOf = (
  { id, state, size: bytes, createdAt, expiresOn, address }: Archives['exports'][number],
  token: string,
) =>
  html`<li><p>The archive of ${day(createdAt)} ${STATES[state]}.${
    address &&
    html` <a href="${address}" download rel="nofollow">Download</a>${bytes !== null && html` <span class="soft">${size(bytes)}</span>`}`
  } <span class="soft">It is deleted on ${day(expiresOn)}.</span></p>
<form method="post" action="/my-account/import-export/remove"><input type="hidden" name="token" value="${token}"><input type="hidden" name="id" value="${id}"><button aria-label="Delete the archive of ${createdAt.toISOString().slice(0, 10)}">Delete</button></form></li>
`

const exportForm = (token: string): Html =>
  html`<form method="post" action="/my-account/import-export/export" class="fields">
<input type="hidden" name="token" value="${token}">
<p>An archive has your account, channels, videos, playlists, subscriptions, comments and settings. A mail tells you when it is ready.</p>
<label><input type="checkbox" name="withVideoFiles" value="yes" checked> With the files of your videos</label>
<button class="main">Make an archive</button>
</form>`

function importsOf({ canImport, latest }: Archives): Html {
  return html`<section aria-labelledby="imports"><h2 id="imports">Bring what you have elsewhere</h2>
${
  canImport
    ? html`<p>An archive of another server is uploaded with an app or another web client.</p>`
    : html`<p class="soft">This server takes no archives.</p>`
}
${latest && importOf(latest)}</section>`
}

function importOf({ state, createdAt, progress, resultSummary, error }: NonNullable<Archives['latest']>): Html {
  const counts = Object.values(resultSummary.stats)
  const sum = (name: 'success' | 'duplicates' | 'errors') => counts.reduce((total, each) => total + each[name], 0)
  return html`<p>The latest archive, of ${day(new Date(createdAt))}: <strong>${state.label}</strong>${
    progress.part && html`, at ${progress.part} (${progress.partsDone} of ${progress.parts} parts done)`
  }.</p>
${error && html`<p class="problem">${error}</p>`}
<p class="soft">Brought in: ${sum('success')}. Here already: ${sum('duplicates')}. Not usable: ${sum('errors')}.</p>`
}
