// Follows and their answers, for the other side. All go to personal inboxes: the reference ignores an Accept in the shared one.

import { inboxOf } from '../../actors/delivery/index.ts'
import type { Follow } from '../../actors/follow/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { Aliased } from '../../platform/database/index.ts'
import type { FederationDeps } from '../deps.ts'
import { buildAccept, buildFollow, buildReject, buildUndo, type FollowDocument } from '../wire/index.ts'
import type { Sender } from './sender.ts'

interface FollowRow extends FollowDocument, Aliased<Follow, 'followerId' | 'targetId'> {
  followId: number
  isFollowerLocal: boolean
  isTargetLocal: boolean
}

export function sendFollows({ registry, urls }: FederationDeps, { send }: Sender): void {
  registry.on('FollowRequested', 'federation', async ({ followId }, unit) => {
    const follow = await load(unit, followId)
    if (!follow?.isFollowerLocal || follow.isTargetLocal) return
    const recipients = await inboxOf(unit.query, follow.targetId, { personal: true })
    await send(unit, { activity: buildFollow(follow), senderId: follow.followerId, recipients })
  })

  registry.on('FollowWithdrawn', 'federation', async ({ followUrl, followerId, targetId }, unit) => {
    const actors = await urlsOf(unit, followerId, targetId)
    if (!actors?.isFollowerLocal) return
    const undone = buildFollow({ id: followUrl, actor: actors.follower, target: actors.target })
    const activity = buildUndo({
      id: urls.undoOf(followUrl),
      actor: actors.follower,
      undone,
      to: [actors.target],
      cc: [],
    })
    const recipients = await inboxOf(unit.query, targetId, { personal: true })
    await send(unit, { activity, senderId: followerId, recipients })
  })

  registry.on('FollowerAccepted', 'federation', async ({ followId }, unit) => {
    const follow = await load(unit, followId)
    if (!follow?.isTargetLocal || follow.isFollowerLocal) return
    const activity = buildAccept({ id: urls.acceptFollow(followId), actor: follow.target, follow })
    const recipients = await inboxOf(unit.query, follow.followerId, { personal: true })
    await send(unit, { activity, senderId: follow.targetId, recipients })
  })

  registry.on('FollowerRejected', 'federation', async ({ followId }, unit) => {
    const follow = await load(unit, followId)
    if (follow?.isTargetLocal && !follow.isFollowerLocal) await reject(unit, follow)
  })

  registry.on('FollowerRemoved', 'federation', async ({ followId, followUrl, followerId, targetId }, unit) => {
    const actors = await urlsOf(unit, followerId, targetId)
    if (!actors || actors.isFollowerLocal) return
    const { follower, target } = actors
    await reject(unit, { followId, id: followUrl, actor: follower, target, followerId, targetId })
  })

  async function reject(unit: Unit, follow: Omit<FollowRow, 'isFollowerLocal' | 'isTargetLocal'>): Promise<void> {
    const activity = buildReject({ id: urls.rejectFollow(unit.now), actor: follow.target, follow })
    const recipients = await inboxOf(unit.query, follow.followerId, { personal: true })
    await send(unit, { activity, senderId: follow.targetId, recipients })
  }
}

async function load(unit: Unit, followId: number): Promise<FollowRow | undefined> {
  const [row] = await unit.query<FollowRow>(
    `select f.id as "followId", f.url as id, f.follower_id as "followerId", f.target_id as "targetId",
       a.url as actor, b.url as target, a.host_id is null as "isFollowerLocal", b.host_id is null as "isTargetLocal"
     from follow f join actor a on a.id = f.follower_id join actor b on b.id = f.target_id
     where f.id = $1 and f.url is not null`,
    [followId],
  )
  return row
}

async function urlsOf(
  unit: Unit,
  followerId: number,
  targetId: number,
): Promise<{ follower: string; target: string; isFollowerLocal: boolean } | undefined> {
  const [row] = await unit.query<{ follower: string; target: string; isFollowerLocal: boolean }>(
    `select a.url as follower, b.url as target, a.host_id is null as "isFollowerLocal"
     from actor a, actor b where a.id = $1 and b.id = $2`,
    [followerId, targetId],
  )
  return row
}
