// Passes an activity about a video of ours on to the servers that follow the video, as it came: its own signature
// vouches for it there. Its own server does not get it back.

import { enqueueDocument } from '../../actors/delivery/index.ts'
import { audienceOf } from '../outbound/audience.ts'
import { typeNameOf } from '../outbound/sender.ts'
import type { Inbound, InboundContext } from './context.ts'

export async function forward(
  { activity, document, actor }: Inbound,
  videoId: number,
  { db, tell, instanceActorId }: InboundContext,
): Promise<void> {
  if (!activity.hasSignature && !activity.hasProof) return
  const [video] = await db.query<{ accountActorId: number; channelActorId: number }>(
    `select a.actor_id as "accountActorId", c.actor_id as "channelActorId"
     from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
     where v.id = $1 and not v.remote`,
    [videoId],
  )
  if (!video) return
  const actors = [video.accountActorId, video.channelActorId, await instanceActorId()]
  await tell.create(async (unit) => {
    const readers = await audienceOf(unit.query, actors, videoId)
    await enqueueDocument(
      unit,
      {
        activityId: activity.id,
        type: typeNameOf(document),
        body: JSON.stringify(document),
        senderId: video.accountActorId,
      },
      readers.filter((reader) => reader.hostId !== actor.hostId),
    )
  })
}
