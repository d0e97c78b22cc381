// The latest import of a user: its progress, what it imported, and what failed.

import type { importedParts, itemReasons } from '../../../actors/user-import/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { inNumbers, known, type Localized, recognized, t } from '../../../platform/language.ts'
import type { toUserImportProgressView } from '../../user-imports/views.ts'
import { day } from './text.ts'

export type LatestImport = ReturnType<typeof toUserImportProgressView>

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
} as const satisfies Record<(typeof importedParts)[number], Localized>

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

export function latestImport({ state, createdAt, progress, resultSummary, failures, error }: LatestImport): Html {
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
