// Follow: somebody asks to follow a local actor.

import { DomainError } from '../../actors/runtime/index.ts'
import { readFollow } from '../wire/index.ts'
import { expectRead, type Handler } from './context.ts'

export const handleFollow: Handler = async ({ document, actor }, { db, follows, objectAt }) => {
  const follow = expectRead(readFollow(document))
  const [target] = await db.query<{ id: number }>(
    'select id from actor where url_hash = md5($1)::uuid and url = $1 and host_id is null and deleted_at is null',
    [await objectAt(follow.target)],
  )
  if (!target) throw new DomainError('not_found', `${follow.target} is no actor of ours.`)
  await follows.receiveRequest({ followerId: actor.id, targetId: target.id, url: follow.id })
}
