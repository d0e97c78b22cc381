// Keeps the counts of followers and followings on the actors, after the fact.

import { recountFollows } from '../actor/index.ts'
import type { Registry, Unit } from '../runtime/index.ts'

export function keepFollowCounts(registry: Registry): void {
  const recountFollow = async ({ followId }: { followId: number }, unit: Unit) => {
    const [follow] = await unit.query<{ follower_id: number; target_id: number }>(
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
  // In one order, so that two recounts of the same actors do not deadlock.
  for (const id of [followerId, targetId].toSorted((a, b) => a - b)) await recountFollows(unit, id)
}
