// Which swarms are of videos of ours.

import type { Database } from '../../platform/database/index.ts'

/** Whether the info hash (hexadecimal) is of a file or a playlist of ours that others may exchange. */
export async function isSwarmOfOurs(db: Pick<Database, 'query'>, infoHash: string): Promise<boolean> {
  const [found] = await db.query(
    `select 1 from video_file f join video v on v.id = f.video_id
     where f.info_hash = $1 and not v.remote and not v.blocked and v.state <> 'removed'
     union all
     select 1 from streaming_playlist p join video v on v.id = p.video_id
     where p.p2p_media_loader_info_hashes @> array[$1] and not v.remote and not v.blocked and v.state <> 'removed'
     limit 1`,
    [infoHash],
    { prepared: true },
  )
  return found !== undefined
}
