// The archives of a user: available downloads, and the result of the latest import.

import type { ImportedPart, itemReasons } from '../../../actors/user-archive/index.ts'
import type { UserExportRow } from '../../../actors/user-export/index.ts'
import { userImportStates } from '../../../actors/user-import/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { inNumbers, known, type Localized, recognized, t } from '../../../platform/language.ts'
import type { toUserImportProgressView } from '../../user-imports/views.ts'
import { counted, day, size } from './text.ts'

export interface Archives {
  exports: readonly UserExportRow[]
  /** Bytes of the user's videos, and the limit of archives; undefined if exports are disabled. */
  files: { used: number; most: number } | undefined
  /** Limits of an upload by form: bytes, bytes that the user may add (Infinity without quotas), and minutes. */
  upload: { largest: number; left: number; minutes: number } | undefined
  latest: LatestImport | undefined
  token: string
  problem: Localized | undefined
}

const STATES = {
  pending: (date) => rich('The archive of {date} waits for its turn.', { date }),
  processing: (date) => rich('The archive of {date} is being made.', { date }),
  completed: (date) => rich('The archive of {date} is ready.', { date }),
  errored: (date) => rich('The archive of {date} could not be made.', { date }),
} as const satisfies Record<UserExportRow['state'], (date: Html) => Html>

export const archivesBody = (archives: Archives): Html => html`${exportsOf(archives)}
${importsOf(archives)}`

function exportsOf({ exports, files, token, problem }: Archives): Html {
  const hasArchive = exports.some(({ state }) => state !== 'errored')
  return html`<section aria-labelledby="exports"><h2 id="exports">${t('Take what is yours with you')}</h2>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
${files && exports.length > 0 && html`<ul>${exports.map((row) => exportOf(row, token))}</ul>`}
${files ? !hasArchive && exportForm(files, token) : html`<p class="soft">${t('This server does not export archives.')}</p>`}</section>`
}

const exportOf = ({ id, state, filename, size: bytes, createdAt, expiresOn }: UserExportRow, token: string) =>
  html`<li><p>${STATES[state](day(createdAt))}${
    filename !== null &&
    html` <a href="/my-account/import-export/download?id=${id}" download rel="nofollow">${t('Download')}</a> <span class="soft">${bytes !== null && html`${size(bytes)}. `}${rich('It is deleted on {date}.', { date: day(expiresOn) })}</span>`
  }</p>
<form method="post" action="/my-account/import-export/remove"><input type="hidden" name="token" value="${token}"><input type="hidden" name="id" value="${id}"><button aria-label="${t('Delete the archive of {date}', { date: createdAt.toISOString().slice(0, 10) })}">${t('Delete')}</button></form></li>
`

function exportForm({ used, most }: NonNullable<Archives['files']>, token: string): Html {
  return html`<form method="post" action="/my-account/import-export/export" class="fields">
<input type="hidden" name="token" value="${token}">
<p>${t('An archive has your account, channels, videos, playlists, subscriptions, comments and settings. A mail tells you when it is ready.')}</p>
${
  used > most
    ? html`<p>${t('The files of your videos are left out: they take {used}, and an archive of this server has at most {most} of them.', { used: size(used), most: size(most) })}</p>`
    : html`<label><input type="checkbox" name="withVideoFiles" value="yes" checked> ${t('With the files of your videos ({used} of the {most} that an archive may have)', { used: size(used), most: size(most) })}</label>`
}
<button class="main">${t('Make an archive')}</button>
</form>`
}

function importsOf({ upload, latest, token }: Archives): Html {
  const { pending, processing } = userImportStates
  const isUnderWay = latest?.state.id === pending.id || latest?.state.id === processing.id
  return html`<section aria-labelledby="imports"><h2 id="imports">${t('Bring what you have elsewhere')}</h2>
${
  upload
    ? isUnderWay
      ? html`<p class="soft">${t('Another archive can be uploaded when the latest is done.')}</p>`
      : importForm(upload, token)
    : html`<p class="soft">${t('This server does not import archives.')}</p>`
}
${latest && latestImport(latest)}</section>`
}

/** The token precedes the file, because it is checked first. */
function importForm({ largest, left, minutes }: NonNullable<Archives['upload']>, token: string): Html {
  const most = Math.min(largest, left)
  if (most <= 0) return html`<p>${t('Your video quota has no room for an archive.')}</p>`
  return html`<form method="post" enctype="multipart/form-data" action="/my-account/import-export/import" class="fields">
<input type="hidden" name="token" value="${token}">
<p>${
    left < largest
      ? t(
          'An archive of this server or another one, as Vireo and PeerTube make them: a ZIP file of at most {size}, which is what your video quota leaves.',
          { size: size(most) },
        )
      : t('An archive of this server or another one, as Vireo and PeerTube make them: a ZIP file of at most {size}.', { size: size(most) })
  } ${t('All of it has to arrive within {minutes}; a larger one is uploaded in pieces. A mail tells you when it is done. What is here already is not doubled.', { minutes: counted.minutes(minutes) })}</p>
<p class="soft">${t('Comments stay where they are. So do followers: they follow your old account, and have to follow this one themselves.')}</p>
<label>${t('Archive')} <input type="file" name="archive" accept=".zip,application/zip" required></label>
<button class="main">${t('Upload the archive')}</button>
</form>`
}

type LatestImport = ReturnType<typeof toUserImportProgressView>

const PARTS = {
  account: t('Account'),
  'user-settings': t('Settings'),
  channels: t('Channels'),
  'watched-words-lists': t('Watched words'),
  'automatic-tag-policies': t('Policies of comments'),
  blocklist: t('Blocks'),
  following: t('Subscriptions'),
  videos: t('Videos'),
  'video-playlists': t('Playlists'),
  likes: t('Likes'),
  dislikes: t('Dislikes'),
  'video-history': t('History'),
} as const satisfies Record<ImportedPart, Localized>

const REASONS = {
  invalid: t('is not what it should be'),
  not_found: t('cannot be found'),
  forbidden: t('is not allowed here'),
  conflict: t('does not fit what is here'),
  gone: t('is gone'),
  too_large: t('is too large'),
  unsupported_media_type: t('has a file of a type that is not taken here'),
  unprocessable: t('has a file that cannot be used'),
  too_many: t('asks for too much'),
  quota_reached: t('is more than the video quota leaves'),
  damaged: t('is damaged in the archive'),
  file_missing: t('has no file in the archive'),
} as const satisfies Record<(typeof itemReasons)[number], Localized>

function latestImport({ state, createdAt, progress, resultSummary, failures, error }: LatestImport): Html {
  const counts = Object.values(resultSummary.stats)
  const sum = (name: 'success' | 'duplicates' | 'errors') => counts.reduce((total, each) => total + each[name], 0)
  const told = (
    [
      [t('Brought in'), sum('success')],
      [t('Here already'), sum('duplicates')],
      [t('Not usable'), sum('errors')],
    ] as const
  ).filter(([, count]) => count > 0)
  return html`<p>${rich('The latest archive, of {date}: {state}', {
    date: day(new Date(createdAt)),
    state: html`<strong>${known(state.label)}</strong>`,
  })}${
    progress.part &&
    html` · ${PARTS[progress.part]} (${t('{done} of {count} parts done', { done: progress.partsDone, count: progress.parts })})`
  }</p>
${error && html`<p class="problem">${recognized(error)}</p>`}
${told.length > 0 && html`<p class="soft">${told.map(([what, count]) => html`${what}: ${inNumbers(count)}. `)}</p>`}
${failures.total > 0 && failuresOf(failures)}`
}

function failuresOf({ total, data }: LatestImport['failures']): Html {
  const rest = total - data.length
  return html`<details><summary>${t('What was not brought in')}</summary>
<ul>${data.map(
    ({
      part,
      index,
      name,
      reason,
    }) => html`<li>${PARTS[part]}: <bdi>${name ?? t('number {number}', { number: index + 1 })}</bdi> ${REASONS[reason]}.</li>
`,
  )}</ul>
${rest > 0 && html`<p class="soft">${t('And {count} more.', { count: rest })}</p>`}</details>`
}
