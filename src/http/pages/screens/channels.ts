// Screens of the visitor's channels and their synchronisation.

import type { Config } from '../../../config/index.ts'
import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { textAt } from './api.ts'
import { form, list, type Screen, screen } from './parts.ts'
import { ownVideos, PROCESSING } from './videos.ts'
import { channelsOf, handle, link, ME, ofOwn, picture, removeFollower } from './words.ts'

export const newChannel = form('new', 'POST /api/v1/video-channels', {
  title: t('A new channel'),
  fields: {
    name: { label: t('Name in its address'), help: t('Small letters, digits, dots and underscores.') },
    displayName: t('Name that others see'),
    description: { label: t('Description'), as: 'long' },
  },
  button: t('Make the channel'),
})

const syncsNothing = (config: Config): boolean => !config.import.video_channel_synchronization.enabled

export const channelScreens: readonly Screen[] = [
  screen('/my-library/video-channels', t('Channels'), [
    list('channels', 'GET /api/v1/accounts/:name/video-channels', {
      id: 'name',
      columns: {
        Name: link('/my-library/video-channels', 'name', 'displayName'),
        Handle: handle(),
        Subscribers: 'followersCount',
        Made: 'createdAt',
      },
      actions: { delete: { label: t('Delete'), operation: 'DELETE /api/v1/video-channels/:channelHandle', danger: true } },
      empty: t('No channels yet.'),
    }),
    newChannel,
  ]),
  screen('/my-library/video-channels/:channelHandle', t('Edit the channel'), ofOwn('channel', { processing: PROCESSING }), [
    ({ data: { channel } }) => html`<p>${link('/c', 'name', 'displayName')(channel)}</p>`,
    form('channel', 'PUT /api/v1/video-channels/:channelHandle', {
      initial: ({ data }) => data.channel,
      changesOnly: true,
      fields: {
        displayName: t('Name that others see'),
        description: { label: t('Description'), as: 'long' },
        support: { label: t('How viewers can support you'), as: 'long' },
        bulkVideosSupportUpdate: { label: t('Write this into all videos of the channel'), as: 'check' },
      },
    }),
    picture('avatar', t('Picture'), 'POST /api/v1/video-channels/:channelHandle/avatar/pick'),
    picture('banner', t('Banner'), 'POST /api/v1/video-channels/:channelHandle/banner/pick'),
    list('videos', 'GET /api/v1/users/me/videos', {
      ...ownVideos,
      title: t('Videos'),
      query: ({ data }) => ({ channelId: textAt(data.channel, 'id') }),
    }),
    list('followers', 'GET /api/v1/video-channels/:channelHandle/followers', {
      title: t('Subscribers'),
      columns: { Account: handle('follower.'), Since: 'createdAt' },
      actions: { remove: removeFollower },
      empty: t('No subscribers yet.'),
    }),
  ]),
  screen('/my-library/video-channel-syncs', t('Synchronisation'), { reads: { me: ME }, isOff: syncsNothing }, [
    list('syncs', 'GET /api/v1/accounts/:name/video-channel-syncs', {
      columns: { From: 'externalChannelUrl', To: 'channel.displayName', State: 'state', Last: 'lastSyncAt' },
      actions: {
        sync: { label: t('Look now'), operation: 'POST /api/v1/video-channel-syncs/:channelSyncId/sync' },
        remove: { label: t('Remove'), operation: 'DELETE /api/v1/video-channel-syncs/:channelSyncId' },
      },
      empty: t('No channel is synchronised with one of another site.'),
    }),
    form('sync', 'POST /api/v1/video-channel-syncs', {
      title: t('Synchronise a channel'),
      fields: (shown) => ({
        externalChannelUrl: { label: t('Address of the channel on the other site') },
        videoChannelId: { label: t('Your channel'), choices: channelsOf(shown) },
      }),
      button: t('Synchronise'),
    }),
  ]),
]
