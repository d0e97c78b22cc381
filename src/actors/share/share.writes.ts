// Shares of local actors, which federation sends.

import type { Sql } from '../../platform/database/index.ts'

export const storeShare = (query: Sql, { videoId, actorId, url }: { videoId: number; actorId: number; url: string }) =>
  query('insert into share (video_id, actor_id, url) values ($1, $2, $3) on conflict (video_id, actor_id) do nothing', [
    videoId,
    actorId,
    url,
  ])

/** Removes the shares of local actors except for the channel of the video and the instance. */
export const removeFormerShares = (
  query: Sql,
  videoId: number,
  { channelActorId, instanceActorId }: { channelActorId: number; instanceActorId: number },
) =>
  query<{ url: string; actorId: number; actorUrl: string }>(
    `delete from share s using actor a
     where a.id = s.actor_id and a.host_id is null and s.video_id = $1 and s.actor_id <> $2 and s.actor_id <> $3
     returning s.url, a.id as "actorId", a.url as "actorUrl"`,
    [videoId, channelActorId, instanceActorId],
  )

/** Removes the shares of local actors; returns true if there were some. */
export async function removeLocalShares(query: Sql, videoId: number): Promise<boolean> {
  const shares = await query(
    `delete from share where video_id = $1 and actor_id in (select id from actor where host_id is null) returning id`,
    [videoId],
  )
  return shares.length > 0
}
