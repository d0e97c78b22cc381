// Forwards an activity about a local video to the servers that follow the video, unchanged: its own signature authenticates it there. Its
// own server does not get it back, and videos that are not federated are left out. Runs in the transaction of its effect, so that
// everything stored is sent.

import { enqueueDocument } from '../../actors/delivery/index.ts'
import { type PassOn, perUnit, type Unit } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { audienceOf, isAnnounced } from '../outbound/audience.ts'
import { announceToGroups, COMMUNITIES, groupsFollowing, withoutGroups } from '../outbound/groups.ts'
import { typeNameOf } from '../outbound/sender.ts'
import type { Inbound, InboundContext } from './context.ts'

interface AnnouncedVideo {
  accountActorId: number
  channelActorId: number
  /** True if servers of communities follow the channel. */
  hasGroups: boolean
}

/** To all followers of the video. */
export function forward(inbound: Inbound, context: InboundContext): PassOn {
  const { activity, document, actor } = inbound
  return async (unit, videoId) => {
    const video = await announcedVideo(unit, videoId, context.config())
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

/** For servers of communities only. */
export function passToGroups(inbound: Inbound, context: InboundContext): PassOn {
  return async (unit, videoId) => {
    const video = await announcedVideo(unit, videoId, context.config())
    if (video?.hasGroups) await announce(inbound, videoId, unit, context)
  }
}

/** They fetch it from its author's server if they do not trust it, so it needs no signature. */
const announce = ({ document, actor }: Inbound, videoId: number, unit: Unit, context: InboundContext): Promise<void> =>
  announceToGroups(context, context.sender, unit, { videoId, activity: document, except: actor.hostId })

async function announcedVideo(unit: Unit, videoId: number, config: Config): Promise<AnnouncedVideo | undefined> {
  const video = await lookAt(unit, videoId)
  return video && isAnnounced(video, config) ? video : undefined
}

/** Read once per transaction for all activities about a video, like the next one. */
const readersOf = perUnit(async ({ query }: Unit, videoId: number, actors: number[]) =>
  withoutGroups(query, await audienceOf(query, actors, videoId)),
)

const lookAt = perUnit(async (unit: Unit, videoId: number) => {
  const [video] = await unit.query<AnnouncedVideo & { privacy: number; blocked: boolean; state: string }>(
    `select a.actor_id as "accountActorId", c.actor_id as "channelActorId", v.privacy, v.blocked, v.state,
       exists (${groupsFollowing('c.actor_id', '$2')}) as "hasGroups"
     from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
     where v.id = $1 and not v.remote`,
    [videoId, COMMUNITIES],
  )
  return video
})
