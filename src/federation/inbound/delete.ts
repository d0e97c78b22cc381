// Delete: an actor removes itself, a video or playlist of its server, or a comment.

import { awaitSavers } from '../../actors/incoming-activity/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { readDelete } from '../wire/index.ts'
import { expectRead, type Handler, type Inbound, type InboundContext, refuseForeign } from './context.ts'
import { forward } from './forward.ts'
import { removePlaylist } from './playlist.ts'
import { owns } from './video.ts'

type Removal = (target: string, inbound: Inbound, context: InboundContext) => Promise<boolean>

/** By what the address is here; the first that knows it answers true, and is the last that is asked. */
export const removals: ReadonlyMap<string, Removal> = new Map([
  ['actor', removeActor],
  ['Video', removeVideo],
  ['Playlist', (target, { actor }, context) => removePlaylist(target, actor, context)],
  ['Note', removeNote],
])

export const handleDelete: Handler = async (inbound, context) => {
  const { target } = expectRead(readDelete(inbound.document))
  if (target !== inbound.actor.url) await awaitSavers(context.db.query, target)
  for (const remove of removals.values()) if (await remove(target, inbound, context)) return
}

async function removeActor(target: string, { actor }: Inbound, { remoteActors }: InboundContext): Promise<boolean> {
  if (target !== actor.url) return false
  await remoteActors.remove(actor.id)
  return true
}

/**
 * The news of a change of its owner may be on its way, or may have been lost: what somebody else of the server says is no more than
 * a hint to ask that server.
 */
async function removeVideo(target: string, { actor }: Inbound, context: InboundContext): Promise<boolean> {
  const { db, clock, remoteVideos, videos, fetchDocument } = context
  const video = await remoteVideos.find(target)
  if (!video) return false
  refuseForeign(target, actor)
  if (await owns(actor.id, video.channelId, db)) {
    await remoteVideos.remove(video.id)
    return true
  }
  const askedAt = clock.now()
  const found = await fetchDocument(target).catch(unlessWithdrawn)
  if (found) {
    await videos.save(found.document, { askedAt: found.askedAt })
    throw new DomainError('forbidden', `${target} is still there, whatever ${actor.url} says.`)
  }
  await remoteVideos.remove(video.id, { askedAt })
  return true
}

/** As of a video that is read again: a server that refuses us (401, 403) may do so for a while, and with everything. */
const WITHDRAWN = new Set<unknown>(['not_found', 'gone'])

/** Undefined for what its server does not have any more. */
function unlessWithdrawn(error: unknown): undefined {
  if (!(error instanceof DomainError && WITHDRAWN.has(error.kind))) throw error
}

async function removeNote(target: string, inbound: Inbound, context: InboundContext): Promise<boolean> {
  const { comments, waitingComments } = context
  const removal = { url: target, actorId: inbound.actor.id }
  await waitingComments.withdraw(removal)
  return Boolean(await comments.removeReceived({ ...removal, passOn: forward(inbound, context) }))
}
