// Follow: a remote actor requests to follow a local one.

import { findActorByUrl } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { readFollow } from '../wire/index.ts'
import { expectRead, type Handler } from './context.ts'

export const handleFollow: Handler = async ({ document, actor }, { db, follows, objectAt }) => {
  const follow = expectRead(readFollow(document))
  const target = await findActorByUrl(db.query, await objectAt(follow.target))
  if (!target?.isLocal || target.isGone) throw new DomainError('not_found', `${follow.target} is not a local actor.`)
  await follows.receiveRequest({ followerId: actor.id, targetId: target.id, url: follow.id })
}
