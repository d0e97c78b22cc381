// The latest import of a user: its progress, what it imported, and what failed.

import type { importedParts, itemReasons } from '../../../actors/user-import/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { toUserImportProgressView } from '../../user-imports/views.ts'
import { day } from './text.ts'

export type LatestImport = ReturnType<typeof toUserImportProgressView>

const PARTS = {
  account: 'Account',
  'user-settings': 'Settings',
  channels: 'Channels',
  'watched-words-lists': 'Watched words',
  'automatic-tag-policies': 'Policies of comments',
  blocklist: 'Blocks',
  following: 'Subscriptions',
  videos: 'Videos',
  'video-playlists': 'Playlists',
  likes: 'Likes',
  dislikes: 'Dislikes',
  'video-history': 'History',
} as const satisfies Record<(typeof importedParts)[number], string>

const REASONS = {
  invalid: 'is not what it should be',
  not_found: 'cannot be found',
  forbidden: 'is not allowed here',
  conflict: 'does not fit what is here',
  gone: 'is gone',
  too_large: 'is too large',
  unsupported_media_type: 'has a file of a type that is not taken here',
  unprocessable: 'has a file that cannot be used',
  too_many: 'asks for too much',
  quota_reached: 'is more than the video quota leaves',
  damaged: 'is damaged in the archive',
  file_missing: 'has no file in the archive',
} as const satisfies Record<(typeof itemReasons)[number], string>

export function latestImport({ state, createdAt, progress, resultSummary, failures, error }: LatestImport): Html {
  const counts = Object.values(resultSummary.stats)
  const sum = (name: 'success' | 'duplicates' | 'errors') => counts.reduce((total, each) => total + each[name], 0)
  const told = (
    [
      ['Brought in', sum('success')],
      ['Here already', sum('duplicates')],
      ['Not usable', sum('errors')],
    ] as const
  ).filter(([, count]) => count > 0)
  return html`<p>The latest archive, of ${day(new Date(createdAt))}: <strong>${state.label}</strong>${
    progress.part && html`, at ${PARTS[progress.part].toLowerCase()} (${progress.partsDone} of ${progress.parts} parts done)`
  }.</p>
${error && html`<p class="problem">${error}</p>`}
${told.length > 0 && html`<p class="soft">${told.map(([what, count]) => `${what}: ${count.toLocaleString('en')}.`).join(' ')}</p>`}
${failures.total > 0 && failuresOf(failures)}`
}

function failuresOf({ total, data }: LatestImport['failures']): Html {
  const rest = total - data.length
  return html`<details><summary>What was not brought in</summary>
<ul>${data.map(
    ({ part, index, name, reason }) => html`<li>${PARTS[part]}: <bdi>${name ?? `number ${index + 1}`}</bdi> ${REASONS[reason]}.</li>
`,
  )}</ul>
${rest > 0 && html`<p class="soft">And ${rest.toLocaleString('en')} more.</p>`}</details>`
}
