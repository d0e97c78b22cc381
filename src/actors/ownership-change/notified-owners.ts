// Owners of a local video that other servers know. Other servers accept a Delete only from the owner that they know. The first owner
// delivers the activities of all of them, so that they arrive in order.

import type { Unit } from '../runtime/index.ts'

export interface VideoOwner {
  accountActorId: number
  accountUrl: string
  channelActorId: number
}

/** The local channel that still shares a video that moved, with its account: the last owner that other servers know. */
export async function lastNotifiedOwner(
  unit: Unit,
  videoId: number,
  { channelActorId }: Pick<VideoOwner, 'channelActorId'>,
): Promise<VideoOwner | undefined> {
  const [former] = await unit.query<VideoOwner>(
    `select x.id as "accountActorId", x.url as "accountUrl", c.actor_id as "channelActorId"
     from share s join channel c on c.actor_id = s.actor_id join account a on a.id = c.account_id
       join actor x on x.id = a.actor_id
     where s.video_id = $1 and x.host_id is null and s.actor_id <> $2 order by s.id limit 1`,
    [videoId, channelActorId],
  )
  return former
}

/** Records that other servers may know this owner, also if the video belongs to another account now. */
export async function noteOwner(unit: Unit, videoId: number, owner: Omit<VideoOwner, 'accountUrl'>): Promise<void> {
  await unit.query(
    `insert into video_told_owner (video_id, account_actor_id, channel_actor_id)
     select v.id, $2, $3 from video v where v.id = $1 on conflict do nothing`,
    [videoId, owner.accountActorId, owner.channelActorId],
  )
}

/** The owners that other servers may know, in the order of their notifications; empty if the present owner was always the only one. */
export async function notifiedOwners(unit: Unit, videoId: number): Promise<VideoOwner[]> {
  return await unit.query<VideoOwner>(
    `select x.id as "accountActorId", x.url as "accountUrl", o.channel_actor_id as "channelActorId"
     from video_told_owner o join actor x on x.id = o.account_actor_id
     where o.video_id = $1 and x.deleted_at is null order by o.id`,
    [videoId],
  )
}
