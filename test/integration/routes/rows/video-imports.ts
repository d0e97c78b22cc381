// Imports of videos by URL, magnet URI and torrent file.

import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn } from '../row.ts'

const ADDRESS = '/api/v1/videos/imports'
let serial = 0
const magnetUri = () => `magnet:?xt=urn:btih:${String(++serial).padStart(40, '0')}`

/** An import of `user`. */
async function imported(fixtures: RouteFixtures, state: string): Promise<{ params: { id: number } }> {
  const { id: userId, channelId } = fixtures.users.user
  const fields = {
    channelId,
    name: 'an import',
    privacy: 1,
    category: null,
    licence: null,
    language: null,
    nsfw: false,
    description: null,
    support: null,
    waitTranscoding: true,
    commentsPolicy: 1,
    downloadEnabled: true,
    tags: [],
    originallyPublishedAt: null,
    passwords: [],
    schedule: null,
  }
  const [made] = await fixtures.db.query<{ id: number }>(
    `insert into video_import (user_id, channel_id, magnet_uri, fields, state) values ($1, $2, $3, $4, $5) returning id`,
    [userId, channelId, magnetUri(), JSON.stringify(fields), state],
  )
  return { params: { id: made?.id ?? 0 } }
}

// Moderators have no access to imports of others.
const ownerOrAdmin = (status: number) => ownerOrStaff(status, { moderator: 403 })

export const videoImportRows = [
  row(`POST ${ADDRESS}`, signedIn(200), (fixtures, caller) => ({
    body: { channelId: fixtures.callerOrOwner(caller).channelId, name: 'an import', magnetUri: magnetUri() },
  })),
  row('GET /api/v1/users/me/videos/imports', signedIn(200)),
  row(`DELETE ${ADDRESS}/:id`, ownerOrAdmin(204), (fixtures) => imported(fixtures, 'failed')),
  row(`POST ${ADDRESS}/:id/cancel`, ownerOrAdmin(204), (fixtures) => imported(fixtures, 'pending')),
  row(`POST ${ADDRESS}/:id/retry`, ownerOrAdmin(204), (fixtures) => imported(fixtures, 'failed')),
]
