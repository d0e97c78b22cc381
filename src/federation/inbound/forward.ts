// Passes an activity about a video of ours on to the servers that follow the video, as it came: its own signature
// vouches for it there. Its own server does not get it back, and nobody hears of a video that nobody was told of.

import { enqueueDocument } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { audienceOf, isTold } from '../outbound/audience.ts'
import { announceToGroups, withoutGroups } from '../outbound/groups.ts'
import { typeNameOf } from '../outbound/sender.ts'
import type { Inbound, InboundContext } from './context.ts'

interface ToldVideo {
  accountActorId: number
  channelActorId: number
}

export async function forward(inbound: Inbound, videoId: number, context: InboundContext): Promise<void> {
  const { activity, document, actor } = inbound
  const video = await toldVideo(videoId, context)
  if (!video) return
  const actors = [video.accountActorId, video.channelActorId, await context.instanceActorId()]
  await context.tell.create(async (unit) => {
    await announce(inbound, videoId, unit, context)
    if (!activity.hasSignature && !activity.hasProof) return
    const readers = await withoutGroups(unit.query, await audienceOf(unit.query, actors, videoId))
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

/** What servers of communities alone are told of. */
export async function passToGroups(inbound: Inbound, videoId: number, context: InboundContext): Promise<void> {
  if (!(await toldVideo(videoId, context))) return
  await context.tell.create((unit) => announce(inbound, videoId, unit, context))
}

/** They ask its author's server when they do not believe it, so that it needs no signature. */
const announce = ({ document, actor }: Inbound, videoId: number, unit: Unit, context: InboundContext): Promise<void> =>
  announceToGroups(context, context.sender, unit, { videoId, activity: document, except: actor.hostId })

async function toldVideo(videoId: number, { db, config }: InboundContext): Promise<ToldVideo | undefined> {
  const [video] = await db.query<ToldVideo & { privacy: number; state: string }>(
    `select a.actor_id as "accountActorId", c.actor_id as "channelActorId", v.privacy, v.state
     from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
     where v.id = $1 and not v.remote`,
    [videoId],
  )
  return video && isTold(video, config()) ? video : undefined
}
