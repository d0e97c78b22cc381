// Delete: an actor removes itself, a video or playlist of its server, or a comment.

import { awaitSavers } from '../../actors/incoming-activity/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { readDelete } from '../wire/index.ts'
import { expectRead, type Handler, type Inbound, type InboundContext, refuseForeign } from './context.ts'
import { forward } from './forward.ts'
import { removePlaylist } from './playlist.ts'
import { owns } from './video.ts'

type Removal = (target: string, inbound: Inbound, context: InboundContext) => Promise<boolean>

/** By the local kind of the target; the first one that finds it returns true, which ends the search. */
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

/** The Update with a new owner may be late or lost, so a Delete by another actor of the server only causes a fetch from that server. */
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
    throw new DomainError('forbidden', `${target} still exists, although ${actor.url} deleted it.`)
  }
  await remoteVideos.remove(video.id, { askedAt })
  return true
}

/** Like for a refreshed video: a refusal (401, 403) may be temporary, and may concern everything. */
const WITHDRAWN = new Set<unknown>(['not_found', 'gone'])

/** Undefined if its server does not have it any more. */
function unlessWithdrawn(error: unknown): undefined {
  if (!(error instanceof DomainError && WITHDRAWN.has(error.kind))) throw error
}

async function removeNote(target: string, inbound: Inbound, context: InboundContext): Promise<boolean> {
  const { comments, waitingComments } = context
  const removal = { url: target, actorId: inbound.actor.id }
  await waitingComments.withdraw(removal)
  return Boolean(await comments.removeReceived({ ...removal, passOn: forward(inbound, context) }))
}
