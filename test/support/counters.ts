// Compares every stored counter with the count of its source rows, in statements over whole tables.

import { waitingBelow } from '../../src/actors/comment/comment.entity.ts'
import type { Database } from '../../src/platform/database/index.ts'

export interface Counter {
  counter: string
  /** The reconciliation that corrects it. */
  walk: string
  /** Rows `what, kept, causes`; `kept` includes deltas that are not folded yet. */
  sql: string
}

const unfolded = (counter: string): string =>
  `v.${counter} + (select coalesce(sum(d.${counter}), 0) from video_delta d where d.video_id = v.id)`
const rated = (type: string): string => `(select count(*) from rating r where r.video_id = v.id and r.type = '${type}')`
const follows = (side: string): string => `(select count(*) from follow f where f.${side} = x.id and f.state = 'accepted')`

export const counters: Counter[] = [
  {
    counter: 'likes of videos of ours',
    walk: 'videos',
    sql: `select v.id::text as what, ${unfolded('likes')} as kept, ${rated('like')} as causes from video v where not v.remote`,
  },
  {
    counter: 'dislikes of videos of ours',
    walk: 'videos',
    sql: `select v.id::text as what, ${unfolded('dislikes')} as kept, ${rated('dislike')} as causes from video v where not v.remote`,
  },
  {
    counter: 'comments of videos',
    walk: 'videos',
    sql: `select v.id::text as what, ${unfolded('comments')} as kept, (select count(*) from comment m
        where m.video_id = v.id and m.deleted_at is null and m.id not in (${waitingBelow('v.id')})) as causes from video v`,
  },
  {
    counter: 'lengths of playlists',
    walk: 'playlists',
    sql: `select p.id::text as what, p.elements_count as kept,
        (select count(*) from playlist_element e where e.playlist_id = p.id) as causes from playlist p`,
  },
  {
    counter: 'followers of actors of ours',
    walk: 'follows',
    sql: `select x.id::text as what, x.followers_count as kept, ${follows('target_id')} as causes
      from actor x where x.host_id is null and x.deleted_at is null`,
  },
  {
    counter: 'followings of actors of ours',
    walk: 'follows',
    sql: `select x.id::text as what, x.following_count as kept, ${follows('follower_id')} as causes
      from actor x where x.host_id is null and x.deleted_at is null`,
  },
  {
    counter: 'followers of actors of others',
    walk: 'remote-follows',
    sql: `select x.id::text as what, x.followers_count as kept, greatest(x.remote_followers, ${follows('target_id')}) as causes
      from actor x where x.host_id is not null and x.deleted_at is null`,
  },
  {
    counter: 'followings of actors of others',
    walk: 'remote-follows',
    sql: `select x.id::text as what, x.following_count as kept, ${follows('follower_id')} as causes
      from actor x where x.host_id is not null and x.deleted_at is null`,
  },
  {
    counter: 'totals of public videos',
    walk: 'video-totals',
    sql: `select (t.local, t.nsfw, t.privacy, t.published, t.blocked, t.listed)::text as what,
        t.total + (select coalesce(sum(d.delta), 0) from video_count_delta d
          where (d.local, d.nsfw, d.privacy, d.published, d.blocked, d.listed)
            = (t.local, t.nsfw, t.privacy, t.published, t.blocked, t.listed)) as kept,
        (select count(*) from video v where v.state <> 'removed'
          and (not v.remote, v.nsfw, v.privacy, v.state = 'published', v.blocked, v.listed)
            = (t.local, t.nsfw, t.privacy, t.published, t.blocked, t.listed)) as causes
      from video_count t`,
  },
  {
    counter: 'totals of accounts and channels',
    walk: 'actor-totals',
    sql: `select t.channels::text as what,
        t.total + (select coalesce(sum(d.delta), 0) from actor_total_delta d where d.channels = t.channels) as kept,
        (select count(*) from actor x where (x.type = 'Group') = t.channels
          and x.deleted_at is null) as causes
      from actor_total t`,
  },
  {
    counter: 'totals of playlists',
    walk: 'playlist-totals',
    sql: `select t.type::text as what,
        t.total + (select coalesce(sum(d.delta), 0) from playlist_total_delta d where d.type = t.type) as kept,
        (select count(*) from playlist p where p.type = t.type and p.privacy = 1) as causes
      from playlist_total t`,
  },
  {
    counter: 'totals of comments',
    walk: 'comment-totals',
    sql: `select t.held::text as what,
        t.total + (select coalesce(sum(d.delta), 0) from comment_total_delta d where d.held = t.held) as kept,
        (select count(*) from comment m where m.deleted_at is null and m.held_for_review = t.held) as causes
      from comment_total t`,
  },
  {
    counter: 'totals of reports',
    walk: 'abuse-totals',
    sql: `select t.kind as what,
        t.total + (select coalesce(sum(d.delta), 0) from abuse_total_delta d where d.kind = t.kind) as kept,
        (select count(*) from abuse a where a.kind = t.kind) as causes
      from abuse_total t`,
  },
]

export interface WrongCounter {
  counter: string
  what: string
  kept: number
  causes: number
}

/** The counters that differ, each read in one snapshot. */
export async function wrongCounters(db: Pick<Database, 'query'>): Promise<WrongCounter[]> {
  const wrong: WrongCounter[] = []
  for (const { counter, sql } of counters) {
    const rows = await db.query<Omit<WrongCounter, 'counter'>>(
      `select what, kept::int as kept, causes::int as causes from (${sql}) c where kept <> causes order by what`,
    )
    wrong.push(...rows.map((row) => ({ counter, ...row })))
  }
  return wrong
}
