// Counters of videos. Each cause writes a small row, and the rows are folded into the columns every second, so that a popular video is no
// hot row. Reads add what is not folded yet.

import type { Database } from '../../platform/database/index.ts'
import { waitingBelow } from '../comment/comment.entity.ts'
import { type ActorDeps, foldTotal, hasRows, type MaintainedTotal, setTotalRight, sumOf, type Unit } from '../runtime/index.ts'
import { bestOf, hotOf, today } from './scores.ts'
import { videoPrivacies } from './video.entity.ts'

export interface VideoDelta {
  likes?: number
  dislikes?: number
  comments?: number
  views?: number
}

export async function addDelta(unit: Unit, videoId: number, delta: VideoDelta): Promise<void> {
  const { likes = 0, dislikes = 0, comments = 0, views = 0 } = delta
  await unit.query('insert into video_delta (video_id, likes, dislikes, comments, views) values ($1, $2, $3, $4, $5)', [
    videoId,
    likes,
    dislikes,
    comments,
    views,
  ])
}

/** Comments of several videos at once. */
export async function addComments(unit: Unit, comments: ReadonlyMap<number, number>): Promise<void> {
  if (comments.size === 0) return
  await unit.query('insert into video_delta (video_id, comments) select * from unnest((select $1::int[]), (select $2::int[]))', [
    [...comments.keys()],
    [...comments.values()],
  ])
}

/** Views of many videos at once. */
export async function addViews(unit: Unit, views: readonly { videoId: number; views: number }[]): Promise<void> {
  await unit.query('insert into video_delta (video_id, views) select * from unnest((select $1::int[]), (select $2::int[]))', [
    views.map(({ videoId }) => videoId),
    views.map((of) => of.views),
  ])
}

const BATCH = 1000

/** All videos that are not removed, by the columns that lists filter by. */
const VIDEOS: MaintainedTotal = {
  table: 'video_count',
  key: ['local', 'nsfw', 'privacy', 'published', 'blocked', 'listed'],
}

export function registerCounters({ db, registry, config }: ActorDeps): void {
  registry.periodic('counters', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: async () => {
      while ((await foldDeltas(db)) >= BATCH);
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
 * Folds the rows of the videos that it can lock and leaves the locked ones for the next run. It never waits while it holds a lock, so it
 * deadlocks neither with another process that folds nor with the removal of a video, which deletes the rows. Returns how many rows were
 * folded.
 */
export async function foldDeltas(db: Pick<Database, 'query'>): Promise<number> {
  const folded = (await hasRows(db, 'video_delta')) ? await foldVideos(db) : 0
  await foldTotal(db, VIDEOS)
  return folded
}

async function foldVideos(db: Pick<Database, 'query'>): Promise<number> {
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
  return videos?.rows ?? 0
}

/**
 * Corrects the counters of the next batch of videos by counting their causes; bugs and cascading deletes make them differ. Concurrent folds
 * are harmless, since both only add; two concurrent runs are not. The ratings of a remote video are those that its server reports. Returns
 * the id to continue after; undefined at the end. Locked videos are left for the next run.
 */
export async function reconcileCounters(
  db: Pick<Database, 'query'>,
  { after = 0, limit = BATCH }: { after?: number; limit?: number } = {},
): Promise<number | undefined> {
  const [batch] = await db.query<{ videos: number; last: number | null }>(
    `with batch as (
       select id, remote, likes, dislikes, comments from video where id > $1 order by id limit $2
     ), lacking as materialized (
       select b.id, ${lackingRates('like')} as likes, ${lackingRates('dislike')} as dislikes,
         (select count(*) from comment c where c.video_id = b.id and c.deleted_at is null
           and c.id not in (${waitingBelow('b.id')}))
           - ${known('comments')} as comments
       from batch b
     ), locked as materialized (
       select id from video where id in (select id from lacking where (likes, dislikes, comments) <> (0, 0, 0))
       order by id for no key update skip locked
     ), corrected as (
       update video v set likes = v.likes + l.likes, dislikes = v.dislikes + l.dislikes, comments = v.comments + l.comments
       from lacking l join locked on locked.id = l.id where v.id = l.id
     ) select count(*)::int as videos, max(id) as last from batch`,
    [after, limit],
  )
  return batch && batch.videos === limit ? (batch.last ?? undefined) : undefined
}

const known = (counter: 'likes' | 'dislikes' | 'comments'): string =>
  `(b.${counter} + (select coalesce(sum(d.${counter}), 0) from video_delta d where d.video_id = b.id))`

const lackingRates = (type: 'like' | 'dislike'): string =>
  `case when b.remote then 0 else
     (select count(*) from rating r where r.video_id = b.id and r.type = '${type}') - ${known(`${type}s`)} end`

/** SQL for the number of videos that match `where` (SQL on the columns of the key). Removed videos do not count. */
export const totalVideos = (where: string): string => sumOf(VIDEOS, where)

/** For `totalVideos`: videos in the public lists. */
export const PUBLIC_VIDEOS = `privacy = ${videoPrivacies.public} and published and not blocked and listed`

export const reconcileVideoTotals = (db: Pick<Database, 'query'>): Promise<void> =>
  setTotalRight(
    db,
    VIDEOS,
    `select not remote as local, nsfw, privacy, state = 'published' as published, blocked, listed, count(*)::int as rows
     from video where state <> 'removed' group by 1, 2, 3, 4, 5, 6`,
  )
