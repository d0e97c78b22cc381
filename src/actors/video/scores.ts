// What videos are sorted by beside their counters: trending, hot, best, and the size of their files. The fold keeps the scores
// of a video whose counters change; a job renews what time or other servers change, and what is new.

import type { Database } from '../../platform/database/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { LISTED_PRIVACIES } from './video.entity.ts'

/** SQL for the columns of a video that its scores come from. */
export interface Counted {
  likes: string
  dislikes: string
  comments: string
  views: string
  publishedAt: string
}

/** Views that weigh as much as a like or a comment. */
const VIEWS_FOR_ONE = 20
/** So much older a video may be, in seconds, when ten times as many liked it: half a day. */
const TENFOLD_AGE = 43_200

/** SQL: interest on a logarithmic scale, and the newer the higher. It changes with the counters only, not as time goes by. */
export const hotOf = ({ likes, dislikes, comments, views, publishedAt }: Counted): string =>
  `(log(greatest(1, ${likes} - ${dislikes} + ${comments} + (${views}) / ${VIEWS_FOR_ONE}.0)::float8)
    + extract(epoch from ${publishedAt})::float8 / ${TENFOLD_AGE})`

/**
 * SQL: what share of its raters likes a video, at the least (the lower end of Wilson's interval of 95 %), and among equals the
 * one that more have seen.
 */
export const bestOf = ({ likes, dislikes, views }: Counted): string => {
  const raters = `(${likes} + ${dislikes})::float8`
  const share = `((${likes} + 1.9208) / ${raters} - 1.96 * sqrt((${likes})::float8 * (${dislikes}) / ${raters} + 0.9604) / ${raters})
    / (1 + 3.8416 / ${raters})`
  return `(case when ${likes} >= 0 and ${dislikes} >= 0 and ${likes} + ${dislikes} > 0 then ${share} else 0 end
    + ln(1 + greatest(0, ${views})::float8) / 100)`
}

/** SQL: today, in UTC. */
export const today = "(now() at time zone 'utc')::date"

/** So many days before today the views of a day are kept, for the statistics of channels; longer where trending looks further. */
export const DAYS_OF_VIEWS = 30

const BATCH = 2000

/** Weighs some videos at each look; all of them within an hour or so, when there are a hundred thousand. */
export function registerScores({ db, registry, config }: ActorDeps): void {
  let renewed = 0
  registry.periodic('video-scores', {
    everyMs: () => config().vireo.schedulers.video_scores,
    run: async () => {
      const days = config().trending.videos.interval_days
      renewed = (await renewScores(db, { days, after: renewed })) ?? 0
    },
  })
}

/**
 * Renews the scores of the videos that were watched or published lately, of those whose views grew too old, and of the next
 * ones in the order of their ids. Answers the id to go on after; undefined when these were the last ones. Videos that somebody
 * else works on are left for the next time.
 */
export async function renewScores(
  db: Pick<Database, 'query'>,
  { days, after = 0, limit = BATCH }: { days: number; after?: number; limit?: number },
): Promise<number | undefined> {
  const score: Counted = {
    likes: 'v.likes',
    dislikes: 'v.dislikes',
    comments: 'v.comments',
    views: 'v.views',
    publishedAt: 'v.published_at',
  }
  const [batch] = await db.query<{ videos: number; last: number | null }>(
    `with walk as (
       select id from video where id > $1 order by id limit $2
     ), expired as (
       delete from video_day_views where day <= ${today} - $3::int and day < ${today} - ${DAYS_OF_VIEWS} returning video_id
     ), due as (
       select id from walk
       union select video_id from expired
       union (select video_id from video_day_views where day = ${today} - $3::int limit 2 * $2)
       union (select video_id from video_day_views where day = ${today} limit 2 * $2)
       union (select id from video where privacy in ${LISTED_PRIVACIES} and state = 'published' and published_at > now() - interval '1 day'
         order by published_at desc, id desc limit $2)
     ), locked as materialized (
       select id from video where id in (select id from due) order by id for no key update skip locked
     ), renewed as (
       update video v set trending = t.trending, hot = ${hotOf(score)}, best = ${bestOf(score)}, files_size = t.files_size
       from (select l.id,
           (select coalesce(sum(d.views), 0)::int from video_day_views d
             where d.video_id = l.id and d.day > ${today} - $3::int) as trending,
           (select coalesce(sum(f.size), 0) from video_file f join video o on o.id = f.video_id and not o.remote
             where f.video_id = l.id) as files_size
         from locked l) t
       where v.id = t.id and (v.trending, v.hot, v.best, v.files_size)
         is distinct from (t.trending, ${hotOf(score)}, ${bestOf(score)}, t.files_size)
     ) select count(*)::int as videos, max(id) as last from walk`,
    [after, limit, days],
  )
  return batch && batch.videos === limit ? (batch.last ?? undefined) : undefined
}
