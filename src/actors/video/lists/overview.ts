// The overview: categories, tags and channels with several public videos, and the newest videos of each.

import type { Database } from '../../../platform/database/index.ts'
import { videoPrivacies } from '../video.entity.ts'
import type { VideoListRow } from '../video.rows.ts'
import type { VideoListQuery } from './list-query.ts'
import { buildVideoList, listedIn, type PageRow, withCards } from './list-videos.ts'

/** Ordered by the number of videos, descending. */
export interface Samples {
  categories: number[]
  tags: string[]
  channels: number[]
}

/** Limit of videos to look at, so that a large server does not read all of them. */
const NEWEST = 10_000

/** Categories, tags and channels with at least `minVideos` public videos among the newest, `most` of each kind. One statement. */
export async function findSamples(db: Pick<Database, 'query'>, { minVideos, most }: { minVideos: number; most: number }): Promise<Samples> {
  const groups = (key: string, from: string) =>
    `array(select key from (select ${key} as key, count(*) as videos from ${from} group by 1 having count(*) >= $1) g
       where key is not null order by videos desc, key limit $2)`
  const [found] = await db.query<Samples>(
    `with newest as materialized (
       select category, lower_tags(tags) as tags, channel_id from video where privacy = ${videoPrivacies.public} and state = 'published' and not blocked and listed
       order by published_at desc, id desc limit ${NEWEST}
     ) select ${groups('category', 'newest')} as categories, ${groups('channel_id', 'newest')} as channels,
       ${groups('tag', 'newest, unnest(tags) as tag')} as tags`,
    [minVideos, most],
  )
  return found ?? { categories: [], tags: [], channels: [] }
}

/** The pages of several lists, in two statements. */
export async function listSamples(db: Pick<Database, 'query'>, queries: VideoListQuery[]): Promise<VideoListRow[][]> {
  if (queries.length === 0) return []
  const values: unknown[] = []
  const texts = queries.map((query, sample) => `select ${sample} as sample, page.* from (${buildVideoList(query, values).text}) page`)
  const pages = await db.query<PageRow>(`select * from (${texts.join(' union all ')}) samples order by sample`, values)
  return await withCards(db, pages.map(listedIn))
}
