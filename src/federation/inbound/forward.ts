// Passes an activity about a local video on to the servers that follow the video, as it came: its own signature
// vouches for it there. Its own server does not get it back, and nobody hears of a video that nobody was told of. In the
// transaction of its effect, so that none is stored that is not sent.

import { enqueueDocument } from '../../actors/delivery/index.ts'
import { type PassOn, perUnit, type Unit } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { audienceOf, isTold } from '../outbound/audience.ts'
import { announceToGroups, COMMUNITIES, groupsFollowing, withoutGroups } from '../outbound/groups.ts'
import { typeNameOf } from '../outbound/sender.ts'
import type { Inbound, InboundContext } from './context.ts'

interface ToldVideo {
  accountActorId: number
  channelActorId: number
  /** Servers of communities follow the channel. */
  hasGroups: boolean
}

/** To everybody who follows the video. */
export function forward(inbound: Inbound, context: InboundContext): PassOn {
  const { activity, document, actor } = inbound
  return async (unit, videoId) => {
    const video = await toldVideo(unit, videoId, context.config())
    if (!video) return
    if (video.hasGroups) await announce(inbound, videoId, unit, context)
    if (!activity.hasSignature && !activity.hasProof) return
    const actors = [video.accountActorId, video.channelActorId, await context.instanceActorId()]
    const readers = await readersOf(unit, videoId, actors)
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
  }
}

/** What servers of communities alone are told of. */
export function passToGroups(inbound: Inbound, context: InboundContext): PassOn {
  return async (unit, videoId) => {
    const video = await toldVideo(unit, videoId, context.config())
    if (video?.hasGroups) await announce(inbound, videoId, unit, context)
  }
}

/** They ask its author's server when they do not believe it, so that it needs no signature. */
const announce = ({ document, actor }: Inbound, videoId: number, unit: Unit, context: InboundContext): Promise<void> =>
  announceToGroups(context, context.sender, unit, { videoId, activity: document, except: actor.hostId })

async function toldVideo(unit: Unit, videoId: number, config: Config): Promise<ToldVideo | undefined> {
  const video = await lookAt(unit, videoId)
  return video && isTold(video, config) ? video : undefined
}

/** Once for all activities about it in one transaction, as what follows. */
const readersOf = perUnit(async ({ query }: Unit, videoId: number, actors: number[]) =>
  withoutGroups(query, await audienceOf(query, actors, videoId)),
)

const lookAt = perUnit(async (unit: Unit, videoId: number) => {
  const [video] = await unit.query<ToldVideo & { privacy: number; blocked: boolean; state: string }>(
    `select a.actor_id as "accountActorId", c.actor_id as "channelActorId", v.privacy, v.blocked, v.state,
       exists (${groupsFollowing('c.actor_id', '$2')}) as "hasGroups"
     from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
     where v.id = $1 and not v.remote`,
    [videoId, COMMUNITIES],
  )
  return video
})
