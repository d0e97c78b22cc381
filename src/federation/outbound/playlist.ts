// Local playlists: Create, Update, and Delete, also when one becomes private.

import { findActorById } from '../../actors/actor/index.ts'
import { followersOf } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { createPlaylistActivity, type FoundPlaylist, playlistAudience, playlistDocument } from '../documents/index.ts'
import { buildDelete, buildUpdate } from '../wire/index.ts'
import type { Sender } from './sender.ts'

export function sendPlaylists(deps: FederationDeps & { instanceActorId: () => Promise<number> }, { send }: Sender): void {
  const { registry, urls, instanceActorId } = deps

  registry.on('PlaylistCreated', 'federation', async ({ playlistId }, unit) => {
    const found = await playlistDocument(unit.query, urls, playlistId)
    if (!found) return
    await send(unit, {
      activity: createPlaylistActivity(urls, found),
      senderId: found.accountActorId,
      recipients: await recipientsOf(unit, found),
    })
  })

  registry.on('PlaylistUpdated', 'federation', async ({ playlistId }, unit) => {
    if (await changesAgain(unit, playlistId)) return
    const found = await playlistDocument(unit.query, urls, playlistId)
    if (!found) return
    const activity = buildUpdate({
      id: urls.updateOf(found.url, unit.now),
      actor: found.accountUrl,
      object: found.document,
      ...playlistAudience(urls, found),
    })
    await send(unit, { activity, senderId: found.accountActorId, recipients: await recipientsOf(unit, found) })
  })

  registry.on('PlaylistRemoved', 'federation', async ({ url, accountActorId, channelActorId }, unit) => {
    const account = await findActorById(unit.query, accountActorId)
    if (!account) return
    await send(unit, {
      activity: buildDelete({ id: urls.deleteOf(url), actor: account.url, target: url }),
      senderId: accountActorId,
      recipients: await recipientsOf(unit, { accountActorId, channelActorId }),
    })
  })

  const recipientsOf = async (
    unit: Unit,
    { accountActorId, channelActorId }: Pick<FoundPlaylist, 'accountActorId'> & { channelActorId: number | null },
  ) => {
    const channel = channelActorId === null ? [] : [channelActorId]
    return await followersOf(unit.query, [accountActorId, ...channel, await instanceActorId()])
  }
}

/** One Update covers several changes: the last one. */
async function changesAgain(unit: Unit, playlistId: number): Promise<boolean> {
  const waiting = await unit.query(
    `select id from outbox where aggregate = 'playlist' and aggregate_id = $1 and event = 'PlaylistUpdated'
       and parked_at is null limit 2`,
    [playlistId],
  )
  return waiting.length > 1
}
