// Accept and Reject: the followed side answers a local follow.

import { findActorByUrl } from '../../actors/actor/index.ts'
import { findFollow } from '../../actors/follow/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { EmbeddedFollow } from '../wire/index.ts'
import { readAccept, readReject } from '../wire/index.ts'
import { expectRead, type Handler, type InboundContext } from './context.ts'

export const handleAccept: Handler = async ({ document, actor }, context) => {
  const { follow } = expectRead(readAccept(document))
  const { followId, state } = await findAnsweredFollow(follow, actor.id, context)
  if (state !== 'accepted') await context.follows.receiveAnswer(followId, 'accepted')
}

export const handleReject: Handler = async ({ document, actor }, context) => {
  const { follow } = expectRead(readReject(document))
  const { followId, state } = await findAnsweredFollow(follow, actor.id, context)
  if (state !== 'rejected') await context.follows.receiveAnswer(followId, 'rejected')
}

/** The local follow of the answering actor; an answer about a follow of another actor is refused. */
async function findAnsweredFollow(
  follow: EmbeddedFollow,
  targetId: number,
  { db, urls }: InboundContext,
): Promise<{ followId: number; state: string }> {
  const byId = follow.id === null ? undefined : await findFollow(db, { url: follow.id })
  // For a withdrawn follow: it does not answer the one that came after it.
  if (!byId && follow.id !== null && urls.isLocal(follow.id)) throw new DomainError('gone', 'This follow was withdrawn.')
  const found = byId ?? (await byActors(follow, targetId, db))
  if (!found) throw new DomainError('not_found', 'No local follow waits for this answer.')
  if (found.target_id !== targetId) throw new DomainError('forbidden', 'This follow is of another actor.')
  return { followId: found.id, state: found.state }
}

async function byActors(follow: EmbeddedFollow, targetId: number, db: InboundContext['db']) {
  if (follow.actor === null) return undefined
  const follower = await findActorByUrl(db.query, follow.actor)
  return follower?.isLocal ? await findFollow(db, { followerId: follower.id, targetId }) : undefined
}
