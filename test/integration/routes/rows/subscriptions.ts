// Channels that a user follows, and searches.

import type { Caller } from '../caller.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { row, signedIn, visitors } from '../row.ts'

const subscribed = async (fixtures: RouteFixtures, caller: Caller) => {
  const { admin } = fixtures.users
  await fixtures.db.query(`insert into follow (follower_id, target_id, state) values ($1, $2, 'accepted') on conflict do nothing`, [
    fixtures.callerOrOwner(caller).actorId,
    admin.channelActorId,
  ])
  return { params: { uri: `${admin.username}_channel@${new URL(fixtures.base).host}` } }
}

export const subscriptionRows = [
  row('GET /api/v1/users/me/subscriptions', signedIn(200)),
  row('POST /api/v1/users/me/subscriptions', signedIn(200), (fixtures) => ({
    body: { uri: `${fixtures.users.user.username}_channel@${new URL(fixtures.base).host}` },
  })),
  row('GET /api/v1/users/me/subscriptions/exist', signedIn(200), () => ({ query: { uris: 'nobody@video.example' } })),
  row('GET /api/v1/users/me/subscriptions/videos', signedIn(200)),
  row('GET /api/v1/users/me/subscriptions/:uri', signedIn(200), subscribed),
  row('DELETE /api/v1/users/me/subscriptions/:uri', signedIn(204), subscribed),
  row('DELETE /api/v1/vireo/followers/:id', signedIn(404), () => ({ params: { id: 2_000_000_000 } })),
  row('GET /api/v1/search/videos', visitors(200)),
  row('GET /api/v1/search/video-channels', visitors(200)),
  row('GET /api/v1/search/video-playlists', visitors(200)),
]
