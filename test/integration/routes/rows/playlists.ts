// Playlists: lists, one playlist in each privacy, change and removal, and elements.

import type { RouteFixtures } from '../fixtures.ts'
import { everybody, ownerOrStaff, row, signedIn, visitors } from '../row.ts'

const privacies = { public: 1, unlisted: 2, private: 3 } as const

const playlistOf = (privacy: keyof typeof privacies, body?: object) => async (fixtures: RouteFixtures) => ({
  params: { playlistId: (await fixtures.playlist({ privacy: privacies[privacy] })).uuid },
  ...(body === undefined ? {} : { body }),
})

const elementOf = (body?: object) => async (fixtures: RouteFixtures) => {
  const { uuid, elementId } = await fixtures.playlist()
  return { params: { playlistId: uuid, playlistElementId: elementId }, ...(body === undefined ? {} : { body }) }
}

/** Only administrators change playlists of others; moderators may remove them. */
const ownerOrAdministrator = (status: number) => ownerOrStaff(status, { moderator: 403 })

const ONE = 'GET /api/v1/video-playlists/:playlistId'
const VIDEOS = '/api/v1/video-playlists/:playlistId/videos'
const ELEMENT = `${VIDEOS}/:playlistElementId`

export const playlistRows = [
  row('GET /api/v1/video-playlists', visitors(200)),
  row('GET /api/v1/video-playlists/privacies', everybody(200)),
  row('GET /api/v1/accounts/:name/video-playlists', visitors(200), (fixtures) => ({
    params: { name: fixtures.users.user.username },
  })),
  row('GET /api/v1/video-channels/:channelHandle/video-playlists', visitors(200), (fixtures) => ({
    params: { channelHandle: `${fixtures.users.user.username}_channel` },
  })),
  row(ONE, visitors(200), playlistOf('public'), 'public'),
  row(ONE, visitors(200), playlistOf('unlisted'), 'unlisted'),
  row(ONE, ownerOrAdministrator(200), playlistOf('private'), 'private'),
  row('POST /api/v1/video-playlists', signedIn(200), () => ({ body: { displayName: 'Mine' } })),
  row('PUT /api/v1/video-playlists/:playlistId', ownerOrAdministrator(204), playlistOf('public', { displayName: 'New' })),
  row('DELETE /api/v1/video-playlists/:playlistId', ownerOrStaff(204), playlistOf('private')),

  row(`GET ${VIDEOS}`, visitors(200), playlistOf('public'), 'public'),
  row(`GET ${VIDEOS}`, ownerOrAdministrator(200), playlistOf('private'), 'private'),
  row(`POST ${VIDEOS}`, ownerOrAdministrator(200), async (fixtures) => ({
    ...(await playlistOf('public')(fixtures)),
    body: { videoId: (await fixtures.video()).uuid },
  })),
  row(`POST ${VIDEOS}/reorder`, ownerOrAdministrator(204), playlistOf('public', { startPosition: 1, insertAfterPosition: 0 })),
  row(`PUT ${ELEMENT}`, ownerOrAdministrator(204), elementOf({ startTimestamp: 1 })),
  row(`DELETE ${ELEMENT}`, ownerOrAdministrator(204), elementOf()),
  row('GET /api/v1/users/me/video-playlists/videos-exist', signedIn(200), async (fixtures) => ({
    query: { videoIds: String((await fixtures.video()).id) },
  })),
]
