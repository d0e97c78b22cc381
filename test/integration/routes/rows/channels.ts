// Accounts and channels: lists, parts, creation, change and removal.

import { newUuid } from '../../../../src/platform/ids.ts'
import { makeChannel } from '../../../support/builders.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { pictureForm } from '../picture.ts'
import { everybody, ownerOrStaff, row, signedIn, visitors } from '../row.ts'

const account = (fixtures: RouteFixtures) => ({ params: { name: fixtures.users.user.username } })
const channel = (fixtures: RouteFixtures) => ({ params: { channelHandle: `${fixtures.users.user.username}_channel` } })

/** A removable channel, since the user has another one. */
const secondChannel = async (fixtures: RouteFixtures) => {
  const username = `second_${newUuid()}`
  await makeChannel(fixtures.db, { accountId: fixtures.users.user.accountId, username, origin: fixtures.base })
  return { params: { channelHandle: username } }
}

const EXTERNAL = 'https://video.example.com/c/x'

const synchronisation = async ({ db, users }: RouteFixtures) => {
  const [row] = await db.query<{ id: number }>(
    `insert into channel_sync (channel_id, external_channel_url, state) values ($1, $2, 'waiting-first-run') returning id`,
    [users.user.channelId, EXTERNAL],
  )
  return { params: { channelSyncId: row?.id ?? 0 } }
}

/** Not even for the staff. */
const ownerOnly = (status: number) => signedIn(status, { other: 403, moderator: 403, admin: 403 })

const CHANNEL = '/api/v1/video-channels/:channelHandle'
const ofStaff = visitors(401, { moderator: 200, admin: 200 })
const privateOnes = { query: { privacyOneOf: '3' } }

export const channelRows = [
  row('GET /api/v1/accounts', visitors(200)),
  row('GET /api/v1/accounts/:name/videos', visitors(200), account),
  row('GET /api/v1/accounts/:name/videos', ofStaff, (fixtures) => ({ ...account(fixtures), ...privateOnes }), 'private ones'),
  row('GET /api/v1/accounts/:name/video-channels', visitors(200), account),
  row('GET /api/v1/accounts/:name/ratings', ownerOnly(200), account),
  row('GET /api/v1/accounts/:name/followers', ownerOnly(200), account),

  row('GET /api/v1/accounts/:name/video-channel-syncs', ownerOrStaff(200), account),
  row('POST /api/v1/video-channel-syncs', ownerOrStaff(200), (fixtures) => ({
    body: { externalChannelUrl: EXTERNAL, videoChannelId: fixtures.users.user.channelId },
  })),
  row('POST /api/v1/video-channel-syncs/:channelSyncId/sync', ownerOrStaff(204), synchronisation),
  row('DELETE /api/v1/video-channel-syncs/:channelSyncId', ownerOrStaff(204), synchronisation),

  row('GET /api/v1/video-channels', visitors(200)),
  row('POST /api/v1/video-channels', signedIn(200), () => ({
    body: { name: `made_${newUuid()}`.replaceAll('-', '_'), displayName: 'New' },
  })),
  row(`GET ${CHANNEL}`, everybody(200), channel),
  row(`PUT ${CHANNEL}`, ownerOrStaff(204), (fixtures) => ({ ...channel(fixtures), body: { displayName: 'Another name' } })),
  row(`DELETE ${CHANNEL}`, ownerOrStaff(204), secondChannel),
  row(`GET ${CHANNEL}/videos`, visitors(200), channel),
  row(`GET ${CHANNEL}/videos`, ofStaff, (fixtures) => ({ ...channel(fixtures), ...privateOnes }), 'private ones'),
  row(`GET ${CHANNEL}/followers`, ownerOrStaff(200), channel),
  row(`POST ${CHANNEL}/import-videos`, ownerOrStaff(204), (fixtures) => ({
    ...channel(fixtures),
    body: { externalChannelUrl: EXTERNAL },
  })),
  ...(['avatar', 'banner'] as const).flatMap((kind) => [
    row(`POST ${CHANNEL}/${kind}/pick`, ownerOrStaff(200), async (fixtures) => ({
      ...channel(fixtures),
      body: await pictureForm(`${kind}file`),
    })),
    row(`DELETE ${CHANNEL}/${kind}`, ownerOrStaff(204), channel),
  ]),
]
