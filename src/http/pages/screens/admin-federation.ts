// Screens of other servers: follows both ways, redundancy.

import { type Html, html, rich } from '../../../platform/html.ts'
import { known, type Localized, t } from '../../../platform/language.ts'
import { counted, size } from '../bodies/text.ts'
import { idIn, textAt, valueAt } from './api.ts'
import { wordsOf } from './fields.ts'
import { plain } from './list-html.ts'
import { type Action, form, list, type Screen, type Shown, screen } from './parts.ts'
import { facts, handle, handleText, is, isNot, videoLink } from './words.ts'

const REDUNDANCY = 'GET /api/v1/server/redundancy/videos'
const FAILING = 'GET /api/v1/vireo/peers?state=failing&count=100'

const askedOf = (row: unknown): string => (textAt(row, 'data.name') === '' ? textAt(row, 'data.host') : handleText(row, 'data.'))

const mirroring = (redundancyAllowed: boolean, label: Localized): Action => ({
  label,
  operation: 'PUT /api/v1/server/redundancy/:host',
  body: { redundancyAllowed },
  when: is('following.hostRedundancyAllowed', !redundancyAllowed),
})

/** Why a follow is not decided. */
function whyItWaits(row: unknown, { data }: Shown): Html | Localized | null {
  if (valueAt(row, 'state') !== 'pending') return null
  const failing = (valueAt(data.failing, 'data') as unknown[]).find(is('host', valueAt(row, 'following.host')))
  if (!failing) return t('for the answer of the server')
  return rich('for the server, which cannot be reached: {error} Next try: {time}', {
    error: html`${textAt(failing, 'lastError')}`,
    time: html`${plain(valueAt(failing, 'nextTryAt'))}`,
  })
}

/** What is mirrored without being asked for. */
const policies = ({ data: { stats } }: Shown): Html =>
  html`<h2>${t('Policies')}</h2>${facts(
    (valueAt(stats, 'videosRedundancy') as unknown[]).map((policy) => [
      known(wordsOf(textAt(policy, 'strategy'))),
      html`${counted.videos(Number(valueAt(policy, 'totalVideos')))}, ${size(Number(valueAt(policy, 'totalUsed')))}${
        Number(valueAt(policy, 'totalSize')) > 0 && html` (${t('At most {size}.', { size: size(Number(valueAt(policy, 'totalSize'))) })})`
      }`,
    ]),
  )}<p class="soft">${t('They are chosen in the configuration file, below redundancy.videos.strategies.')}</p>`

export const federationScreens: readonly Screen[] = [
  screen('/admin/follows/following', t('Following'), { needs: 'POST /api/v1/server/following', reads: { failing: FAILING } }, [
    list('following', 'GET /api/v1/server/following', {
      id: (row) => (is('following.name', 'peertube')(row) ? textAt(row, 'following.host') : handleText(row, 'following.')),
      columns: {
        Server: handle('following.'),
        State: 'state',
        Waits: whyItWaits,
        Mirrored: 'following.hostRedundancyAllowed',
        Since: 'createdAt',
      },
      filters: { state: t('State') },
      actions: {
        mirror: mirroring(true, t('Mirror its videos')),
        unmirror: mirroring(false, t('Do not mirror')),
        unfollow: { label: t('Unfollow'), operation: 'DELETE /api/v1/server/following/:hostOrHandle', danger: true },
      },
      empty: t('This server follows no other one.'),
    }),
    // Nothing is stored of those that were never reached, but for the jobs that ask again.
    list('asked', 'GET /api/v1/jobs/:state', {
      title: t('Still asked'),
      at: { state: 'delayed' },
      query: () => ({ jobType: 'activitypub-follow' }),
      id: askedOf,
      columns: { Server: askedOf, Tries: 'data.tries', 'Last try': 'createdAt' },
      actions: { cancel: { label: t('Cancel'), operation: 'DELETE /api/v1/server/following/:hostOrHandle', danger: true } },
    }),
    form('follow', 'POST /api/v1/server/following', {
      title: t('Follow servers and channels'),
      fields: {
        hosts: { label: t('Servers'), as: 'lines', help: t('One in a line, such as video.example') },
        handles: { label: t('Accounts and channels'), as: 'lines', help: t('One in a line, such as birds@video.example') },
      },
      button: t('Follow'),
      said: t('The servers are asked.'),
    }),
  ]),
  screen('/admin/follows/followers', t('Followers'), { needs: 'POST /api/v1/server/followers/:nameWithHost/accept' }, [
    list('followers', 'GET /api/v1/server/followers', {
      id: (row) => handleText(row, 'follower.'),
      columns: { Server: handle('follower.'), State: 'state', Since: 'createdAt' },
      filters: { state: t('State') },
      actions: {
        accept: { label: t('Accept'), operation: 'POST /api/v1/server/followers/:nameWithHost/accept', when: isNot('state', 'accepted') },
        reject: { label: t('Reject'), operation: 'POST /api/v1/server/followers/:nameWithHost/reject', when: isNot('state', 'rejected') },
        remove: { label: t('Remove'), operation: 'DELETE /api/v1/server/followers/:nameWithHost', danger: true },
      },
      empty: t('No server follows this one.'),
    }),
  ]),
  screen('/admin/redundancy', t('Redundancy'), { needs: REDUNDANCY, reads: { stats: 'GET /api/v1/server/stats' } }, [
    policies,
    ...(['remote-videos', 'my-videos'] as const).map((target) => ({
      list: target,
      title: target === 'my-videos' ? t('Videos of this server on others') : t('Videos of others on this server'),
      operation: REDUNDANCY,
      query: () => ({ target }),
      id: 'redundancies.streamingPlaylists.0.id',
      columns: { Video: videoLink(), Copies: (row: unknown) => (valueAt(row, 'redundancies.streamingPlaylists') as unknown[]).length },
      ...(target === 'remote-videos'
        ? { actions: { remove: { label: t('Remove'), operation: 'DELETE /api/v1/server/redundancy/videos/:redundancyId' } } }
        : {}),
    })),
    form('mirror', 'POST /api/v1/server/redundancy/videos', {
      title: t('Mirror a video'),
      fields: { videoId: { label: t('Video'), help: t('Its id, or the address of its page.') } },
      body: (text) => ({ videoId: idIn(text('videoId')) }),
      button: t('Mirror'),
      said: t('The video will be copied.'),
    }),
  ]),
]
