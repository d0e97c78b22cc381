// Updates the counts of followers and followings on the actors, asynchronously.

import type { Columns } from '../../platform/database/index.ts'
import { recountFollows } from '../actor/index.ts'
import type { Registry, Unit } from '../runtime/index.ts'
import type { Follow } from './follow.entity.ts'

export function maintainFollowCounts(registry: Registry): void {
  const recountFollow = async ({ followId }: { followId: number }, unit: Unit) => {
    const [follow] = await unit.query<Columns<Follow, 'followerId' | 'targetId'>>(
      'select follower_id, target_id from follow where id = $1',
      [followId],
    )
    if (follow) await recount(unit, follow.follower_id, follow.target_id)
  }
  const recountGone = async ({ followerId, targetId }: { followerId: number; targetId: number }, unit: Unit) =>
    await recount(unit, followerId, targetId)

  registry.on('FollowAccepted', 'counts', recountFollow)
  registry.on('FollowRejected', 'counts', recountFollow)
  registry.on('FollowerAccepted', 'counts', recountFollow)
  registry.on('FollowerRejected', 'counts', recountFollow)
  registry.on('FollowWithdrawn', 'counts', recountGone)
  registry.on('FollowerRemoved', 'counts', recountGone)
}

async function recount(unit: Unit, followerId: number, targetId: number): Promise<void> {
  // In id order, so that concurrent recounts of the same actors do not deadlock.
  for (const id of [followerId, targetId].toSorted((a, b) => a - b)) await recountFollows(unit, id)
}

/**
 * Deletes the follows of removed actors in both directions and decrements the counts of their followers. Remote actors, which may be many,
 * are recounted gradually (`reconcile-remote-follows`).
 */
export async function dropFollows(unit: Unit, actorIds: number[]): Promise<void> {
  const others = await unit.query<{ id: number }>(
    `with gone as (
       delete from follow where follower_id = any($1) or target_id = any($1) returning follower_id, target_id
     ) select distinct a.id from gone join actor a on a.id in (gone.follower_id, gone.target_id)
     where a.host_id is null and a.deleted_at is null order by a.id`,
    [actorIds],
  )
  for (const { id } of others) await recountFollows(unit, id)
}

/** The same of one follow. */
export async function dropFollow(unit: Unit, followId: number): Promise<void> {
  const [gone] = await unit.query<Columns<Follow, 'followerId' | 'targetId'>>(
    'delete from follow where id = $1 returning follower_id, target_id',
    [followId],
  )
  if (gone) await recount(unit, gone.follower_id, gone.target_id)
}
