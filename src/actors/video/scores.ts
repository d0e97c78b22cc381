// Sort scores of videos: trending, hot, best, and the size of their files. The fold updates the scores of videos whose counters change. A
// job renews what time, other servers or new videos change.

import type { Database } from '../../platform/database/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { LISTED_PRIVACIES } from './video.entity.ts'

/** SQL for the columns that the scores are computed from. */
export interface Counted {
  likes: string
  dislikes: string
  comments: string
  views: string
  publishedAt: string
}

/** Views that weigh as much as one like or comment. */
const VIEWS_FOR_ONE = 20
/** Seconds of age that ten times as many likes outweigh: half a day. */
const TENFOLD_AGE = 43_200

/** SQL: interest on a logarithmic scale, higher for newer videos. It changes with the counters only, not with time. */
export const hotOf = ({ likes, dislikes, comments, views, publishedAt }: Counted): string =>
  `(log(greatest(1, ${likes} - ${dislikes} + ${comments} + (${views}) / ${VIEWS_FOR_ONE}.0)::float8)
    + extract(epoch from ${publishedAt})::float8 / ${TENFOLD_AGE})`

/** SQL: lower bound of the share of raters who like the video (Wilson's 95 % interval); more views win among equals. */
export const bestOf = ({ likes, dislikes, views }: Counted): string => {
  const raters = `(${likes} + ${dislikes})::float8`
  const share = `((${likes} + 1.9208) / ${raters} - 1.96 * sqrt((${likes})::float8 * (${dislikes}) / ${raters} + 0.9604) / ${raters})
    / (1 + 3.8416 / ${raters})`
  return `(case when ${likes} >= 0 and ${dislikes} >= 0 and ${likes} + ${dislikes} > 0 then ${share} else 0 end
    + ln(1 + greatest(0, ${views})::float8) / 100)`
}

/** SQL: today, in UTC. */
export const today = "(now() at time zone 'utc')::date"

/** Days for which the daily views are stored, for the statistics of channels; longer if trending looks further back. */
export const DAYS_OF_VIEWS = 30

const BATCH = 2000

/** Renews some videos per run; a hundred thousand videos take about an hour. */
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
 * Renews the scores of videos that were watched or published recently, of those whose views expired, and of the next batch by id. Returns
 * the id to continue after; undefined at the end. Locked videos are left for the next run.
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
