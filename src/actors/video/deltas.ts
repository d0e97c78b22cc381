// Counters of videos: each cause writes a small row, and the rows are folded into the columns every second, so that a
// popular video is no hot row. Reads add what is not folded yet.

import type { Database } from '../../platform/database/index.ts'
import { waitingBelow } from '../comment/comment.entity.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'
import { bestOf, hotOf, today } from './scores.ts'

export interface VideoDelta {
  likes?: number
  dislikes?: number
  comments?: number
  views?: number
}

export async function addDelta(unit: Unit, videoId: number, delta: VideoDelta): Promise<void> {
  const { likes = 0, dislikes = 0, comments = 0, views = 0 } = delta
  await unit.query(
    'insert into video_delta (video_id, likes, dislikes, comments, views) values ($1, $2, $3, $4, $5)',
    [videoId, likes, dislikes, comments, views],
    { prepared: true },
  )
}

/** A batch of videos at a time: 60,000 videos are counted within the hour. */
const RECONCILE_EVERY_MS = 60_000
const BATCH = 1000

/** Folds all the time, and counts the truth of some videos a minute. */
export function registerCounters(deps: ActorDeps): void {
  const { db, registry, config } = deps
  let reconciled = 0
  registry.periodic('counters', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: async () => {
      while ((await foldDeltas(db)) >= BATCH);
    },
  })
  registry.periodic('reconcile-counters', {
    everyMs: () => RECONCILE_EVERY_MS,
    run: async () => {
      reconciled = (await reconcileCounters(db, { after: reconciled })) ?? 0
    },
  })
}

const FOLDED = {
  likes: '(v.likes + s.likes)',
  dislikes: '(v.dislikes + s.dislikes)',
  comments: '(v.comments + s.comments)',
  views: '(v.views + s.views)',
  publishedAt: 'v.published_at',
}

/**
 * Takes the rows of the videos that it could lock, and leaves those that somebody else works on for the next time: it
 * never waits while it holds something, so it deadlocks neither with another process that folds nor with the removal
 * of a video, which takes the rows along. Answers how many rows were folded.
 */
export async function foldDeltas(db: Pick<Database, 'query'>): Promise<number> {
  const [videos] = await db.query<{ rows: number }>(
    `with due as materialized (
       select distinct video_id from (select video_id from video_delta order by id limit ${BATCH}) oldest
     ), locked as materialized (
       select id from video where id in (select video_id from due) order by id for no key update skip locked
     ), taken as (
       delete from video_delta where video_id in (select id from locked)
       returning video_id, likes, dislikes, comments, views
     ), sums as (
       select video_id, sum(likes) as likes, sum(dislikes) as dislikes, sum(comments) as comments, sum(views) as views
       from taken group by video_id
     ), seen as (
       insert into video_day_views (video_id, day, views) select video_id, ${today}, views from sums where views > 0
       on conflict (video_id, day) do update set views = video_day_views.views + excluded.views
     ), folded as (
       update video v set likes = v.likes + s.likes, dislikes = v.dislikes + s.dislikes,
         comments = v.comments + s.comments, views = v.views + s.views, trending = v.trending + greatest(0, s.views),
         hot = ${hotOf(FOLDED)}, best = ${bestOf(FOLDED)}
       from sums s where v.id = s.video_id
     ) select count(*)::int as rows from taken`,
  )
  const [totals] = await db.query<{ rows: number }>(
    `with locked as materialized (
       select local, nsfw from video_total for no key update skip locked
     ), taken as (
       delete from video_total_delta where (local, nsfw) in (select local, nsfw from locked)
       returning local, nsfw, delta
     ), sums as (select local, nsfw, sum(delta) as delta from taken group by local, nsfw),
     folded as (
       update video_total t set total = t.total + s.delta from sums s where t.local = s.local and t.nsfw = s.nsfw
     ) select count(*)::int as rows from taken`,
  )
  return (videos?.rows ?? 0) + (totals?.rows ?? 0)
}

/**
 * Sets the counts of the next videos of ours to what the rows say, where a bug or a restored backup made them differ.
 * A video that is folded meanwhile is left for the next time. Answers the id to go on after; undefined when these were
 * the last ones.
 */
export async function reconcileCounters(
  db: Pick<Database, 'query'>,
  { after = 0, limit = BATCH }: { after?: number; limit?: number } = {},
): Promise<number | undefined> {
  const [batch] = await db.query<{ videos: number; last: number | null }>(
    `with batch as (
       select id, likes, dislikes, comments from video where id > $1 and not remote order by id limit $2
     ), truth as (
       select b.id, b.likes as seen_likes, b.dislikes as seen_dislikes, b.comments as seen_comments,
         ${rated('like')} as likes, ${rated('dislike')} as dislikes,
         (select count(*) from comment c where c.video_id = b.id and c.deleted_at is null
           and c.id not in (${waitingBelow('b.id')}))
           - ${unfolded('comments')} as comments
       from batch b
     ), wrong as (
       select v.id, t.likes, t.dislikes, t.comments from video v join truth t on t.id = v.id
       where (v.likes, v.dislikes, v.comments) = (t.seen_likes, t.seen_dislikes, t.seen_comments)
         and (t.seen_likes, t.seen_dislikes, t.seen_comments) is distinct from (t.likes, t.dislikes, t.comments)
       order by v.id for no key update of v skip locked
     ), corrected as (
       update video v set likes = w.likes, dislikes = w.dislikes, comments = w.comments from wrong w where v.id = w.id
     ) select count(*)::int as videos, max(id) as last from batch`,
    [after, limit],
  )
  return batch && batch.videos === limit ? (batch.last ?? undefined) : undefined
}

const unfolded = (counter: 'likes' | 'dislikes' | 'comments'): string =>
  `(select coalesce(sum(d.${counter}), 0) from video_delta d where d.video_id = b.id)`

const rated = (type: 'like' | 'dislike'): string =>
  `(select count(*) from rating r where r.video_id = b.id and r.type = '${type}') - ${unfolded(`${type}s`)}`
