// Screens of other servers: follows both ways, redundancy.

import { t } from '../../../platform/language.ts'
import { textAt, valueAt } from './api.ts'
import { form, list, type Screen, screen } from './parts.ts'
import { handle, handleText, is, isNot, videoLink } from './words.ts'

export const federationScreens: readonly Screen[] = [
  screen('/admin/follows/following', t('Following'), { needs: 'POST /api/v1/server/following' }, [
    list('following', 'GET /api/v1/server/following', {
      id: (row) => (is('following.name', 'peertube')(row) ? textAt(row, 'following.host') : handleText(row, 'following')),
      columns: { Server: handle('following'), State: 'state', Mirrored: 'following.hostRedundancyAllowed', Since: 'createdAt' },
      filters: { state: t('State') },
      actions: {
        mirror: {
          label: t('Mirror its videos'),
          operation: 'PUT /api/v1/server/redundancy/:host',
          body: { redundancyAllowed: true },
          when: is('following.hostRedundancyAllowed', false),
        },
        unmirror: {
          label: t('Do not mirror'),
          operation: 'PUT /api/v1/server/redundancy/:host',
          body: { redundancyAllowed: false },
          when: is('following.hostRedundancyAllowed', true),
        },
        unfollow: { label: t('Unfollow'), operation: 'DELETE /api/v1/server/following/:hostOrHandle', danger: true },
      },
      empty: t('This server follows no other one.'),
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
      id: (row) => handleText(row, 'follower'),
      columns: { Server: handle('follower'), State: 'state', Since: 'createdAt' },
      filters: { state: t('State') },
      actions: {
        accept: { label: t('Accept'), operation: 'POST /api/v1/server/followers/:nameWithHost/accept', when: isNot('state', 'accepted') },
        reject: { label: t('Reject'), operation: 'POST /api/v1/server/followers/:nameWithHost/reject', when: isNot('state', 'rejected') },
        remove: { label: t('Remove'), operation: 'DELETE /api/v1/server/followers/:nameWithHost', danger: true },
      },
      empty: t('No server follows this one.'),
    }),
  ]),
  screen('/admin/redundancy', t('Redundancy'), [
    ...(['remote-videos', 'my-videos'] as const).map((target) => ({
      list: target,
      title: target === 'my-videos' ? t('Videos of this server on others') : t('Videos of others on this server'),
      operation: 'GET /api/v1/server/redundancy/videos',
      query: () => ({ target }),
      id: 'redundancies.streamingPlaylists.0.id',
      columns: { Video: videoLink(), Copies: (row: unknown) => (valueAt(row, 'redundancies.streamingPlaylists') as unknown[]).length },
      ...(target === 'remote-videos'
        ? { actions: { remove: { label: t('Remove'), operation: 'DELETE /api/v1/server/redundancy/videos/:redundancyId' } } }
        : {}),
    })),
    form('mirror', 'POST /api/v1/server/redundancy/videos', {
      title: t('Mirror a video'),
      fields: { videoId: { label: t('Video'), help: t('Its id, as in the address of its page.') } },
      button: t('Mirror'),
      said: t('The video will be copied.'),
    }),
  ]),
]
