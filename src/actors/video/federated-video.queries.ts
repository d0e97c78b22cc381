// A video as its activities need it: what decides whether other servers are notified, and the actors of its owners. One statement.

import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Video } from './video.entity.ts'

export interface FederatedVideo extends Columns<Video, 'id' | 'url' | 'uuid' | 'remote' | 'privacy' | 'blocked' | 'state'> {
  /** True if a block removes the video from other servers. */
  isWithdrawn: boolean
  accountActorId: number
  accountUrl: string
  channelActorId: number
  channelUrl: string
}

export async function findFederatedVideo(query: Sql, id: number): Promise<FederatedVideo | undefined> {
  const [video] = await listFederatedVideos(query, [id])
  return video
}

/** In no particular order, including removed ones. */
export const listFederatedVideos = (query: Sql, ids: readonly number[]): Promise<FederatedVideo[]> =>
  query<FederatedVideo>(
    `select v.id, v.url, v.uuid, v.remote, v.privacy, v.blocked, v.state,
       coalesce((select b.unfederated from video_block b where b.video_id = v.id), false) as "isWithdrawn",
       a.actor_id as "accountActorId", aa.url as "accountUrl", c.actor_id as "channelActorId", ca.url as "channelUrl"
     from video v join channel c on c.id = v.channel_id join actor ca on ca.id = c.actor_id
       join account a on a.id = c.account_id join actor aa on aa.id = a.actor_id
     where v.id = any((select $1::int[])::int[])`,
    [ids],
  )
