// Screens of what users keep: playlists, comments, offers, history, subscriptions.

import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { shortText } from '../bodies/text.ts'
import { textAt, valueAt } from './api.ts'
import { type Action, form, list, type Screen, screen } from './parts.ts'
import { channelsOf, handle, is, link, ME, ofOwn, playlistPrivacies, removeFollower, videoLink, without } from './words.ts'

const ACCEPT = 'POST /api/v1/videos/ownership/:id/accept'
const REORDER = 'POST /api/v1/video-playlists/:playlistId/videos/reorder'

/** Moves an element after the one that is so many places behind it. */
const move = (places: number): Pick<Action, 'operation' | 'body' | 'isSingle'> => ({
  operation: REORDER,
  body: (id) => ({ startPosition: Number.parseInt(id, 10), insertAfterPosition: Number.parseInt(id, 10) + places }),
  isSingle: true,
})

export const libraryScreens: readonly Screen[] = [
  screen('/my-library/video-playlists', t('Playlists'), [
    list('playlists', 'GET /api/v1/accounts/:name/video-playlists', {
      columns: {
        Name: link('/my-library/video-playlists', 'shortUUID', 'displayName'),
        Privacy: 'privacy',
        Videos: 'videosLength',
        Changed: 'updatedAt',
      },
      actions: {
        delete: { label: t('Delete'), operation: 'DELETE /api/v1/video-playlists/:playlistId', danger: true, when: is('type.id', 1) },
      },
      empty: t('No playlists yet.'),
    }),
    form('new', 'POST /api/v1/video-playlists', {
      title: t('A new playlist'),
      fields: {
        displayName: t('Name'),
        privacy: { label: t('Who may see it'), choices: without(playlistPrivacies, '1') },
        description: { label: t('Description'), as: 'long' },
      },
      initial: () => ({ privacy: 3 }),
      button: t('Make the playlist'),
      leadsTo: (answer) => `/my-library/video-playlists/${textAt(answer, 'videoPlaylist.shortUUID')}`,
    }),
  ]),
  screen('/my-library/video-playlists/:playlistId', t('Edit the playlist'), ofOwn('playlist', { me: ME }), [
    ({ data: { playlist } }) => html`<p>${link('/w/p', 'shortUUID', 'displayName')(playlist)}</p>`,
    list('elements', 'GET /api/v1/video-playlists/:playlistId/videos', {
      // The last is the parameter.
      id: (row) => `${textAt(row, 'position')}~${textAt(row, 'id')}`,
      columns: { '#': 'position', Video: videoLink('video.') },
      actions: {
        up: { ...move(-2), label: t('Up'), when: (row) => Number(valueAt(row, 'position')) > 1 },
        down: { ...move(1), label: t('Down'), when: (row, total) => Number(valueAt(row, 'position')) < total },
        remove: { label: t('Remove'), operation: 'DELETE /api/v1/video-playlists/:playlistId/videos/:playlistElementId' },
      },
      empty: t('Videos get here from their own pages.'),
    }),
    form('order', REORDER, {
      title: t('Move a video'),
      fields: {
        startPosition: t('The video at'),
        insertAfterPosition: { label: t('after the one at'), help: t('0 for the first place.') },
      },
      button: t('Move'),
    }),
    form('playlist', 'PUT /api/v1/video-playlists/:playlistId', {
      title: t('Details'),
      when: is('data.playlist.type.id', 1),
      initial: ({ data }) => ({ ...(data.playlist as object), videoChannelId: valueAt(data.playlist, 'videoChannel.id') }),
      changesOnly: true,
      fields: (shown) => ({
        displayName: t('Name'),
        description: { label: t('Description'), as: 'long' },
        privacy: { label: t('Who may see it'), choices: playlistPrivacies },
        videoChannelId: { label: t('Channel'), choices: channelsOf(shown), none: t('None') },
      }),
    }),
  ]),
  screen('/my-library/comments', t('Comments'), [
    list('comments', 'GET /api/v1/users/me/videos/comments', {
      id: (row) => `${textAt(row, 'videoId')}~${textAt(row, 'id')}`,
      columns: {
        From: handle('account.', '/a'),
        Comment: (row) =>
          html`<a href="/w/${textAt(row, 'video.uuid')}?threadId=${textAt(row, 'threadId')}#comments"><bdi>${shortText(textAt(row, 'text'))}</bdi></a>`,
        Video: videoLink('video.'),
        Written: 'createdAt',
        Waits: 'heldForReview',
      },
      filters: { isHeldForReview: t('Waits for approval') },
      actions: {
        approve: { label: t('Approve'), operation: 'POST /api/v1/videos/:id/comments/:commentId/approve', when: is('heldForReview', true) },
        delete: { label: t('Delete'), operation: 'DELETE /api/v1/videos/:id/comments/:commentId', danger: true },
      },
      empty: t('No comments yet.'),
    }),
  ]),
  screen('/my-library/ownership', t('Offers'), { reads: { me: ME } }, [
    list('offers', 'GET /api/v1/videos/ownership', {
      columns: { Video: videoLink('video.'), From: handle('initiatorAccount.'), State: 'status', Since: 'createdAt' },
      actions: {
        accept: { label: t('Accept'), operation: ACCEPT, body: {}, when: is('status', 'WAITING') },
        refuse: { label: t('Refuse'), operation: 'POST /api/v1/videos/ownership/:id/refuse', when: is('status', 'WAITING') },
      },
      inputs: {
        operation: ACCEPT,
        fields: (shown) => ({ channelId: { label: t('Channel for accepted videos'), choices: channelsOf(shown), required: true } }),
      },
      empty: t('Nobody offers you a video.'),
    }),
  ]),
  screen('/my-library/history/videos', t('History'), [
    list('history', 'GET /api/v1/users/me/history/videos', {
      columns: { Video: videoLink(), Channel: 'channel.displayName', 'Watched to (seconds)': 'userHistory.currentTime' },
      actions: { forget: { label: t('Forget'), operation: 'DELETE /api/v1/users/me/history/videos/:videoId' } },
      empty: t('No videos watched yet.'),
    }),
    form('forget', 'POST /api/v1/users/me/history/videos/remove', {
      button: t('Forget everything'),
      danger: true,
      said: t('The history is empty.'),
    }),
  ]),
  screen('/my-library/subscriptions', t('Subscriptions'), [
    list('subscriptions', 'GET /api/v1/users/me/subscriptions', {
      id: (row) => `${textAt(row, 'name')}@${textAt(row, 'host')}`,
      columns: { Channel: 'displayName', Handle: handle('', '/c'), Subscribers: 'followersCount' },
      actions: { end: { label: t('Unsubscribe'), operation: 'DELETE /api/v1/users/me/subscriptions/:uri' } },
      empty: t('No subscriptions yet.'),
    }),
    form('subscribe', 'POST /api/v1/users/me/subscriptions', {
      title: t('Subscribe to a channel'),
      fields: { uri: { label: t('Its handle'), help: t('Such as birds@video.example') } },
      button: t('Subscribe'),
    }),
  ]),
  screen('/my-library/followers', t('Followers'), [
    list('followers', 'GET /api/v1/accounts/:name/followers', {
      columns: { Follower: handle('follower.'), Of: handle('following.'), Since: 'createdAt' },
      actions: { remove: removeFollower },
      empty: t('No followers yet.'),
    }),
  ]),
]
