// Which swarms the tracker serves.

import type { Database } from '../../platform/database/index.ts'
import { FEDERATED_PRIVACIES } from '../video/video.entity.ts'

export type SwarmAccess = 'open' | 'closed' | 'unknown'

/**
 * Access of an info hash (hexadecimal): it belongs to a file or playlist of a public local video, to one of another local video, or to
 * nothing.
 */
export async function findSwarmAccess(db: Pick<Database, 'query'>, infoHash: string): Promise<SwarmAccess> {
  const [found] = await db.query<{ isOpen: boolean }>(
    `select v.privacy in ${FEDERATED_PRIVACIES} and not v.blocked and v.state <> 'removed' as "isOpen" from video v
     where not v.remote and v.id in (
       select f.video_id from video_file f where f.info_hash = $1
       union all select p.video_id from streaming_playlist p where p.p2p_media_loader_info_hashes @> array[$1])
     order by 1 desc limit 1`,
    [infoHash],
  )
  if (!found) return 'unknown'
  return found.isOpen ? 'open' : 'closed'
}
