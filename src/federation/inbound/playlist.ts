// Activities about a playlist of the sender.

import type { StoredActor } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { type JsonObject, readPlaylist } from '../wire/index.ts'
import { accountOf, expectRead, type InboundContext, refuseForeign } from './context.ts'

/** Only an account can send its playlists; a job reads their elements. */
export async function storeRemotePlaylist(document: JsonObject, actor: StoredActor, context: InboundContext): Promise<void> {
  accountOf(actor)
  const { id } = expectRead(readPlaylist(document))
  refuseForeign(id, actor)
  const known = await context.remotePlaylists.find({ url: id })
  if (known && known.accountId !== actor.accountId) {
    throw new DomainError('forbidden', `${actor.url} does not own ${id}.`)
  }
  await context.playlists.save(document, actor)
}

/** Returns true if the playlist existed. */
export async function removePlaylist(url: string, actor: StoredActor, context: InboundContext): Promise<boolean> {
  const playlist = await context.remotePlaylists.find({ url })
  if (!playlist) return false
  refuseForeign(url, actor)
  await context.remotePlaylists.remove(playlist.id, actor)
  return true
}
