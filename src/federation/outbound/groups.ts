// Group federation (FEP-1b12): servers of communities accept activities below a video only from its channel, as an Announce of the
// activity. They get that instead of the activity; all others get the activity and no Announce.

import type { Recipient } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { FederationDeps } from '../deps.ts'
import { publicAudience } from '../documents/index.ts'
import { buildAnnouncement, type JsonObject } from '../wire/index.ts'
import type { Sender } from './sender.ts'

/** Their names in NodeInfo. */
export const COMMUNITIES = ['lemmy', 'piefed', 'mbin', 'kbin']

/** SQL: the followers `x` of a local actor on servers of communities, whose names are `software`. */
export const groupsFollowing = (actorId: string, software: string): string =>
  `select x.id from follow f join actor x on x.id = f.follower_id join remote_host h on h.id = x.host_id
   where f.target_id = ${actorId} and f.state = 'accepted' and x.deleted_at is null and h.software = any(${software})`

/** The channel of a local video announces an activity to the servers of communities that follow it. */
export async function announceToGroups(
  { urls }: FederationDeps,
  { send }: Sender,
  unit: Unit,
  { videoId, activity, except }: { videoId: number; activity: JsonObject; except?: number | null },
): Promise<void> {
  const followers = await unit.query<Recipient & { channelId: number; channelUrl: string }>(
    `select distinct coalesce(x.shared_inbox_url, x.inbox_url) as "inboxUrl", x.host_id as "hostId", c.actor_id as "channelId",
       y.url as "channelUrl"
     from video v join channel c on c.id = v.channel_id join actor y on y.id = c.actor_id
       join actor x on x.id in (${groupsFollowing('c.actor_id', '$2')})
     where v.id = $1 and not v.remote`,
    [videoId, COMMUNITIES],
  )
  const [first] = followers
  if (!first) return
  const { channelId, channelUrl } = first
  const announcement = buildAnnouncement({
    id: urls.announcement(channelUrl, String(activity.id)),
    actor: channelUrl,
    activity,
    ...publicAudience(urls, channelUrl),
  })
  const recipients = followers.filter(({ hostId }) => hostId !== except)
  await send(unit, { activity: announcement, senderId: channelId, recipients, isSignedInside: false })
}

/** Recipients that accept activities as they are. */
export async function withoutGroups(query: Sql, recipients: Recipient[]): Promise<Recipient[]> {
  if (recipients.length === 0) return recipients
  const hosts = await query<{ id: number }>('select id from remote_host where id = any($1) and software = any($2)', [
    [...new Set(recipients.map(({ hostId }) => hostId))],
    COMMUNITIES,
  ])
  const groups = new Set(hosts.map(({ id }) => id))
  return recipients.filter(({ hostId }) => !groups.has(hostId))
}
