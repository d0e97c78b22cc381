// The screen of one's archives: made, downloaded, deleted, and brought from elsewhere.

import type { ImportedPart, itemReasons } from '../../../actors/user-archive/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { known, type Localized, recognized, t } from '../../../platform/language.ts'
import { loginPath } from '../../plugins/local-path.ts'
import type { toUserImportProgressView } from '../../user-imports/views.ts'
import { counted, day, size } from '../bodies/text.ts'
import { queryOf } from '../fields.ts'
import { type PageTools, pageOptions } from '../send.ts'
import { type Api, textAt, valueAt } from './api.ts'
import type { Words } from './fields.ts'
import { form, list, type Shown, screen } from './parts.ts'
import { facts, is, isNot, ME, sendsMail, state } from './words.ts'

const ARCHIVES = '/my-account/import-export'
const EXPORTS = 'GET /api/v1/users/:userId/exports'
/** Pending and processing. */
const BUSY = [1, 2]
const FAILED = 4

type LatestImport = ReturnType<typeof toUserImportProgressView>

const rulesOf = ({ tools }: Shown) => tools.config().export.users
const hasExports = ({ data }: Shown): boolean => data.exports !== undefined
const rowsOf = (exports: unknown): unknown[] => [valueAt(exports, 'data') ?? []].flat()
const usedBy = ({ data }: Shown): number => Number(valueAt(data.quota, 'videoQuotaUsed'))
const fits = (shown: Shown): boolean => usedBy(shown) <= rulesOf(shown).max_user_video_quota
const sizes = (shown: Shown) => ({ used: size(usedBy(shown)), most: size(rulesOf(shown).max_user_video_quota) })
const soft = (text: Localized): Html => html`<p class="soft">${text}</p>`

/** Bytes of the largest archive, as the server and the quotas of the user allow. */
function largest({ tools, data: { me, quota } }: Shown): number {
  const left = ['Quota', 'QuotaDaily'].flatMap((name) => {
    const most = Number(valueAt(me, `video${name}`))
    return most === -1 ? [] : [most - Number(valueAt(quota, `video${name.replace('Quota', 'QuotaUsed')}`))]
  })
  return Math.min(tools.config().vireo.uploads.max_partial_per_user, ...left)
}

function aboutImports(shown: Shown): Html {
  const { legacy_timeout: longest, max_partial_per_user: most } = shown.tools.config().vireo.uploads
  const bytes = largest(shown)
  return html`${t('An archive of this server or another one, as Vireo and PeerTube make them: a ZIP file of at most {size}.', { size: size(bytes) })} ${bytes < most && t('That is what your video quota leaves.')} <noscript>${t('All of it has to arrive within {minutes}.', { minutes: counted.minutes(Math.floor(longest / 60_000)) })}</noscript> ${sendsMail(shown) && t('A mail tells you when it is done.')} ${t('What is here already is not doubled.')} ${t('Comments stay where they are. So do followers: they follow your old account, and have to follow this one themselves.')}`
}

function whyNoImport(shown: Shown): Html | null {
  if (!shown.tools.config().import.users.enabled) return soft(t('This server does not import archives.'))
  if (is('state.id', ...BUSY)(shown.data.latest)) return soft(t('Another archive can be uploaded when the latest is done.'))
  return largest(shown) > 0 ? null : soft(t('Your video quota has no room for an archive.'))
}

export const archiveScreen = screen(
  ARCHIVES,
  t('Archives'),
  {
    reads: { me: ME, quota: 'GET /api/v1/users/me/video-quota-used' },
    readsIfAny: { exports: EXPORTS, latest: 'GET /api/v1/vireo/users/:userId/imports/latest' },
  },
  [
    list('exports', EXPORTS, {
      title: t('Take what is yours with you'),
      when: hasExports,
      columns: {
        Begun: 'createdAt',
        State: state('state', BUSY),
        Size: (row) => (isNot('size', null)(row) ? size(Number(valueAt(row, 'size'))) : null),
        Expires: 'expiresOn',
        File: (row) =>
          valueAt(row, 'privateDownloadUrl')
            ? html`<a href="${ARCHIVES}/download?id=${textAt(row, 'id')}" download rel="nofollow">${t('Download')}</a>`
            : null,
      },
      actions: { remove: { label: t('Delete'), operation: 'DELETE /api/v1/users/:userId/exports/:id', danger: true } },
      empty: t('No archives yet.'),
    }),
    (shown) => (hasExports(shown) ? null : soft(t('This server does not export archives.'))),
    form('export', 'POST /api/v1/users/:userId/exports/request', {
      when: (shown) => hasExports(shown) && !rowsOf(shown.data.exports).some(isNot('state.id', FAILED)),
      text: (shown) =>
        html`${t('An archive has your account, channels, videos, playlists, subscriptions, comments and settings.')} ${sendsMail(shown) && t('A mail tells you when it is ready.')} ${
          !fits(shown) &&
          t(
            'The files of your videos are left out: they take {used}, and an archive of this server has at most {most} of them.',
            sizes(shown),
          )
        }`,
      fields: (shown): Words => {
        const label = t('With the files of your videos ({used} of the {most} that an archive may have)', sizes(shown))
        return fits(shown) ? { withVideoFiles: { label, as: 'check' } } : {}
      },
      initial: () => ({ withVideoFiles: true }),
      body: (_text, made) => ({ withVideoFiles: false, ...made }),
      button: t('Make an archive'),
    }),
    form('import', 'POST /api/v1/vireo/users/:userId/imports', {
      title: t('Bring what you have elsewhere'),
      files: true,
      pieces: 'POST /api/v1/users/:userId/imports/import-resumable',
      when: (shown) => whyNoImport(shown) === null,
      text: aboutImports,
      fields: { archive: { label: t('Archive'), as: 'file', accept: '.zip,application/zip', required: true } },
      button: t('Upload the archive'),
    }),
    whyNoImport,
    ({ data }) => (data.latest === undefined ? null : latestImport(data.latest as LatestImport)),
  ],
)

/** The address of the file is valid for a short time, but pages stay open for longer. */
export function addArchiveDownload({ app, visitors }: PageTools, api: Api): void {
  app.get(`${ARCHIVES}/download`, pageOptions, async (request, reply) => {
    const visit = await visitors.of(request)
    if (!visit) return reply.redirect(loginPath(ARCHIVES), 303)
    const exports = await api.read(request, { operation: EXPORTS, values: { userId: visit.user.id }, isOptional: true })
    const found = rowsOf(exports).find((row) => textAt(row, 'id') === queryOf(request)('id'))
    return reply.redirect(textAt(found, 'privateDownloadUrl') || ARCHIVES, 303)
  })
}

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
  const sum = (name: 'success' | 'duplicates' | 'errors') => counts.reduce((total, each) => total + each[name], 0) || null
  return html`<p>${rich('The latest archive, of {date}: {state}', {
    date: day(new Date(createdAt)),
    state: html`<strong${BUSY.includes(state.id) && html` data-progress`}>${known(state.label)}</strong>`,
  })}${
    progress.part &&
    html` · ${PARTS[progress.part]} (${t('{done} of {count} parts done', { done: progress.partsDone, count: progress.parts })})`
  }</p>
${error && html`<p class="problem">${recognized(error)}</p>`}
${facts([
  [t('Brought in'), sum('success')],
  [t('Here already'), sum('duplicates')],
  [t('Not usable'), sum('errors')],
])}
${failures.total > 0 && failuresOf(failures)}`
}

function failuresOf({ total, data }: LatestImport['failures']): Html {
  const rest = total - data.length
  const items = data.map(({ part, index, name, reason }) => {
    const item = name ?? t('number {number}', { number: index + 1 })
    return html`<li>${PARTS[part]}: <bdi>${item}</bdi> ${REASONS[reason]}.</li>\n`
  })
  return html`<details><summary>${t('What was not brought in')}</summary>
<ul>${items}</ul>
${rest > 0 && html`<p class="soft">${t('And {count} more.', { count: rest })}</p>`}</details>`
}
