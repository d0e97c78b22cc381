// Screens of the visitor's channels and their synchronisation.

import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { textAt } from './api.ts'
import type { Screen } from './parts.ts'
import { channelsOf, handle, link, ME, PICTURES, removeFollower } from './words.ts'

export const channelScreens: readonly Screen[] = [
  {
    path: '/my-library/video-channels',
    title: t('Channels'),
    parts: [
      {
        list: 'channels',
        operation: 'GET /api/v1/accounts/:name/video-channels',
        id: 'name',
        columns: {
          Name: link('/my-library/video-channels', 'name', 'displayName'),
          Handle: handle(''),
          Subscribers: 'followersCount',
          Made: 'createdAt',
        },
        actions: { delete: { label: t('Delete'), operation: 'DELETE /api/v1/video-channels/:channelHandle', danger: true } },
        empty: t('No channels yet.'),
      },
      {
        form: 'new',
        title: t('A new channel'),
        operation: 'POST /api/v1/video-channels',
        fields: {
          name: { label: t('Name in its address'), help: t('Small letters, digits, dots and underscores.') },
          displayName: t('Name that others see'),
          description: { label: t('Description'), as: 'long' },
        },
        button: t('Make the channel'),
      },
    ],
  },
  {
    path: '/my-library/video-channels/:channelHandle',
    title: t('Edit the channel'),
    reads: { channel: 'GET /api/v1/video-channels/:channelHandle' },
    parts: [
      ({ data: { channel } }) =>
        html`<p><a href="/c/${textAt(channel, 'name')}/videos"><bdi>${textAt(channel, 'displayName')}</bdi></a></p>`,
      {
        form: 'channel',
        operation: 'PUT /api/v1/video-channels/:channelHandle',
        initial: ({ data }) => data.channel,
        fields: {
          displayName: t('Name that others see'),
          description: { label: t('Description'), as: 'long' },
          support: { label: t('How viewers can support you'), as: 'long' },
          bulkVideosSupportUpdate: { label: t('Write this into all videos of the channel'), as: 'check' },
        },
        button: t('Save'),
      },
      ...(['avatar', 'banner'] as const).map((kind) => ({
        form: kind,
        title: kind === 'avatar' ? t('Picture') : t('Banner'),
        operation: `POST /api/v1/video-channels/:channelHandle/${kind}/pick`,
        files: true,
        fields: { [`${kind}file`]: { label: t('File'), as: 'file' as const, accept: PICTURES } },
        button: t('Use the picture'),
      })),
      {
        list: 'followers',
        title: t('Subscribers'),
        operation: 'GET /api/v1/video-channels/:channelHandle/followers',
        id: 'id',
        columns: { Account: handle('follower'), Since: 'createdAt' },
        actions: { remove: removeFollower },
        empty: t('No subscribers yet.'),
      },
    ],
  },
  {
    path: '/my-library/video-channel-syncs',
    title: t('Synchronisation'),
    reads: { me: ME },
    parts: [
      {
        list: 'syncs',
        operation: 'GET /api/v1/accounts/:name/video-channel-syncs',
        id: 'id',
        columns: { From: 'externalChannelUrl', To: 'channel.displayName', State: 'state', Last: 'lastSyncAt' },
        actions: {
          sync: { label: t('Look now'), operation: 'POST /api/v1/video-channel-syncs/:channelSyncId/sync' },
          remove: { label: t('Remove'), operation: 'DELETE /api/v1/video-channel-syncs/:channelSyncId' },
        },
        empty: t('No channel is synchronised with one of another site.'),
      },
      {
        form: 'sync',
        title: t('Synchronise a channel'),
        operation: 'POST /api/v1/video-channel-syncs',
        fields: (shown) => ({
          externalChannelUrl: { label: t('Address of the channel on the other site') },
          videoChannelId: { label: t('Your channel'), choices: channelsOf(shown) },
        }),
        button: t('Synchronise'),
      },
    ],
  },
]
