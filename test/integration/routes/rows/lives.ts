// Lives and their sessions.

import { newUuid } from '../../../../src/platform/ids.ts'
import { makeVideo } from '../../../support/builders.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn, visitors } from '../row.ts'

const ADDRESS = '/api/v1/videos/live'

/** A live of `user`. */
async function live(fixtures: RouteFixtures): Promise<{ params: { videoId: number } }> {
  const columns = { is_live: true, state: 'waiting-for-live' }
  const { id: videoId } = await makeVideo(fixtures.db, { channelId: fixtures.users.user.channelId, columns })
  await fixtures.db.query(
    'insert into video_live (video_id, stream_key, save_replay, permanent_live, latency_mode) values ($1, $2, false, false, 1)',
    [videoId, newUuid()],
  )
  return { params: { videoId } }
}

/** A replay of such a live. */
async function replay(fixtures: RouteFixtures): Promise<{ params: { videoId: number } }> {
  const { id: videoId } = await makeVideo(fixtures.db, { channelId: fixtures.users.user.channelId })
  await fixtures.db.query(
    `insert into live_session (video_id, state, context, save_replay, replay_video_id, first_sequence, started_at, created_at, updated_at)
     values ($1, 'ended', '{}', true, $2, 0, now(), now(), now())`,
    [(await live(fixtures)).params.videoId, videoId],
  )
  return { params: { videoId } }
}

// Moderators see the lives of others, but cannot change them.
export const liveRows = [
  row(`POST ${ADDRESS}`, signedIn(200), (fixtures, caller) => ({
    body: { channelId: fixtures.callerOrOwner(caller).channelId, name: 'a stream' },
  })),
  row(`GET ${ADDRESS}/:videoId`, visitors(200), live),
  row(`PUT ${ADDRESS}/:videoId`, ownerOrStaff(204), async (fixtures) => ({ ...(await live(fixtures)), body: { permanentLive: true } })),
  row(`GET ${ADDRESS}/:videoId/sessions`, ownerOrStaff(200), live),
  row('GET /api/v1/videos/:videoId/live-session', visitors(200), replay),
]
