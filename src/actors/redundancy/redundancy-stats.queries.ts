// Statistics of each mirroring strategy.

import type { Database } from '../../platform/database/index.ts'

export interface RedundancyStats {
  strategy: 'most-views' | 'trending' | 'recently-added' | 'manual'
  /** Limit of the strategy in bytes; null without one. */
  totalSize: number | null
  /** Bytes. */
  totalUsed: number
  totalVideos: number
  totalVideoFiles: number
}

/** The configured strategies in order, and manual copies at the end. One statement. */
export async function redundancyStats(
  db: Pick<Database, 'query'>,
  strategies: readonly { strategy: 'most-views' | 'trending' | 'recently-added'; size: number }[],
): Promise<RedundancyStats[]> {
  const rows = await db.query<{ strategy: string; used: number; videos: number; files: number }>(
    `select r.strategy, sum(r.size)::float8 as used, count(distinct r.video_id)::int as videos,
       sum(case when r.file_id is not null then 1
         else (select count(*) from video_file f where f.streaming_playlist_id = r.streaming_playlist_id) end)::int as files
     from redundancy r where r.strategy = any($1) and r.path is not null and r.state in ('stored', 'announced')
     group by r.strategy`,
    [[...strategies.map(({ strategy }) => strategy), 'manual']],
  )
  const held = new Map(rows.map((row) => [row.strategy, row]))
  const statsOf = (strategy: RedundancyStats['strategy'], totalSize: number | null): RedundancyStats => {
    const { used = 0, videos = 0, files = 0 } = held.get(strategy) ?? {}
    return { strategy, totalSize, totalUsed: used, totalVideos: videos, totalVideoFiles: files }
  }
  return [...strategies.map(({ strategy, size }) => statsOf(strategy, size)), statsOf('manual', null)]
}
