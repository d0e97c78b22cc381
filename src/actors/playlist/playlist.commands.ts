// Playlists: every user has one of videos to watch later, which nobody else sees.

import type { Unit } from '../runtime/index.ts'

/** `VideoPlaylistType` of the contract. */
export const playlistTypes = { regular: 1, watchLater: 2 } as const

const PRIVATE = 3

/** In the transaction that makes the account. */
export async function insertWatchLater(unit: Unit, accountId: number): Promise<void> {
  await unit.query(
    "insert into playlist (account_id, name, type, privacy, created_at, updated_at) values ($1, 'Watch later', $2, $3, $4, $4)",
    [accountId, playlistTypes.watchLater, PRIVATE, unit.now],
  )
}
