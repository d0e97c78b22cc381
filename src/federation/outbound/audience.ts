// Recipients of events about a video: the followers of its account, its channel and this instance, and those who shared it.

import { followersOf, type Recipient } from '../../actors/delivery/index.ts'
import { isFederatedState, videoPrivacies } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Sql } from '../../platform/database/index.ts'

/** Servers that follow any of the actors, or that shared the video. */
export async function audienceOf(query: Sql, actorIds: number[], videoId: number | null): Promise<Recipient[]> {
  const followers = await followersOf(query, actorIds)
  if (videoId === null) return followers
  const sharers = await query<Recipient>(
    `select distinct coalesce(a.shared_inbox_url, a.inbox_url) as "inboxUrl", a.host_id as "hostId"
     from share s join actor a on a.id = s.actor_id where s.video_id = $1 and a.host_id is not null`,
    [videoId],
  )
  return [...followers, ...sharers]
}

/** True if other servers are notified of a video and its comments. */
export const isAnnounced = (video: { privacy: number; blocked: boolean; state: string }, config: Config): boolean =>
  isFederatedState(video.state) &&
  !video.blocked &&
  (video.privacy === videoPrivacies.public || (video.privacy === videoPrivacies.unlisted && config.federation.videos.federate_unlisted))
