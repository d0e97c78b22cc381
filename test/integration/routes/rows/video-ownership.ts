// Ownership changes of videos, and videos blocked by the instance.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn, staff, visitors } from '../row.ts'

/** A video of `other`, offered to `user`. */
async function offer(fixtures: RouteFixtures): Promise<{ params: { id: number } }> {
  const { user, other } = fixtures.users
  const video = await fixtures.video({ channel_id: other.channelId })
  const [made] = await fixtures.db.query<{ id: number }>(
    `insert into ownership_change (video_id, initiator_id, giver_id, receiver_id) values ($1, $2, $2, $3) returning id`,
    [video.id, other.accountId, user.accountId],
  )
  return { params: { id: made?.id ?? 0 } }
}

/** For the receiver only, regardless of roles. */
const receiver = (status: number) => signedIn(403, { user: status })

async function videoOf(fixtures: RouteFixtures, columns: Record<string, unknown> = {}) {
  return { params: { id: (await fixtures.video(columns)).uuid } }
}

async function blockedVideo(fixtures: RouteFixtures) {
  const { id, uuid } = await fixtures.video({ blocked: true })
  await fixtures.db.query("insert into video_block (video_id, type, reason) values ($1, 1, 'a reason')", [id])
  return { params: { id: uuid } }
}

/** A new user without other offers. */
async function usernameOf(fixtures: RouteFixtures): Promise<string> {
  const [user] = await fixtures.db.query<{ username: string }>('select username from users where id = $1', [await fixtures.bystander(2)])
  return user?.username ?? newUuid()
}

export const videoOwnershipRows = [
  row('POST /api/v1/videos/:id/give-ownership', ownerOrStaff(204, { moderator: 403 }), async (fixtures) => ({
    ...(await videoOf(fixtures)),
    body: { username: await usernameOf(fixtures) },
  })),
  row('GET /api/v1/videos/ownership', signedIn(200)),
  row('POST /api/v1/videos/ownership/:id/accept', receiver(204), async (fixtures) => ({
    ...(await offer(fixtures)),
    body: { channelId: fixtures.users.user.channelId },
  })),
  row('POST /api/v1/videos/ownership/:id/refuse', receiver(204), offer),

  row('GET /api/v1/videos/blacklist', staff(200)),
  row('POST /api/v1/videos/:id/blacklist', staff(204), async (fixtures) => ({
    ...(await videoOf(fixtures)),
    body: { reason: 'a reason', unfederate: true },
  })),
  row('PUT /api/v1/videos/:id/blacklist', staff(204), async (fixtures) => ({
    ...(await blockedVideo(fixtures)),
    body: { reason: 'another reason' },
  })),
  row('DELETE /api/v1/videos/:id/blacklist', staff(204), blockedVideo),
  row('GET /api/v1/videos/:id', ownerOrStaff(200), blockedVideo, 'blocked'),
  row('GET /api/v1/videos/:id/description', ownerOrStaff(200), blockedVideo, 'blocked'),
  row('GET /api/v1/videos', visitors(401, { moderator: 200, admin: 200 }), () => ({ query: { include: '2' } }), 'blocked ones'),
]
