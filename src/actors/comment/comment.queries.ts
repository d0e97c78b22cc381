// Reads about comments: the threads of a video, one thread with all its replies, and a single comment.

import type { Aliased, Columns, Database, InJson } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile } from '../actor/index.ts'
import { isAnythingMuted, isMutedFor } from '../blocklist/index.ts'
import { type Comment, waits } from './comment.entity.ts'
import { showsComments } from './hidden.ts'

export interface CommentRow
  extends InJson<Columns<typeof Comment, 'id' | 'url' | 'text' | 'threadId' | 'parentId' | 'videoId' | 'createdAt' | 'updatedAt'>>,
    InJson<Columns<typeof Comment, 'deletedAt'>> {
  held: boolean
  /** Visible replies of a whole thread, at every depth; 0 unless the comment starts a thread. */
  replies: number
  replies_from_owner: number
  /** Null for a removed comment. */
  account: ActorProfile | null
}

export interface CommentReader {
  videoId: number
  ownerAccountId: number
  /** Account of the reader. Readers see their own comments, even hidden ones. */
  accountId: number | null
  /** True if the reader sees all comments that are pending review. */
  seesPendingReview: boolean
}

export interface ThreadQuery extends CommentReader {
  start: number
  count: number
  sort: { by: 'createdAt' | 'totalReplies'; descending: boolean }
}

type Reader = Pick<Database, 'query'>

const readerValues = (reader: CommentReader) => [reader.videoId, reader.ownerAccountId, reader.accountId, reader.seesPendingReview]

// Subqueries that the planner does not inspect, so that one plan serves all readers.
const READER = '(select $3::int)'
const SEES_HELD = '(select $4::boolean)'

/** What the reader must not see: comments of others that are pending review, comments of muted accounts, and all replies to those. */
const HIDDEN = `with recursive hidden as (
    select m.id from comment m
    where m.video_id = $1 and m.account_id is distinct from ${READER}
      and (${waits('m')} and not ${SEES_HELD} or ${isAnythingMuted(READER)} and ${isMutedFor('m.account_id', READER)})
    union select r.id from comment r join hidden h on r.parent_id = h.id
  )`
const isShown = (alias: string) => `${alias}.id not in (select id from hidden)`
const REPLIES = `from comment r where r.thread_id = m.id and r.deleted_at is null and ${isShown('r')}`

const COLUMNS = `m.id, m.url, m.text, m.thread_id, m.parent_id, m.video_id, m.created_at, m.updated_at, m.deleted_at,
  ${waits('m')} as held, replies.n as replies, replies.of_owner as replies_from_owner,
  case when m.deleted_at is null then ${accountProfile('a', 'x')} end as account`
const JOINS = `left join account a on a.id = m.account_id left join actor x on x.id = a.actor_id,
  lateral (select count(*) as n, count(*) filter (where r.account_id = $2) as of_owner ${REPLIES}) replies`
const COMMENTED = `video v where v.id = $1 and ${showsComments('v')}`

/** One page of threads, in one statement. Removed threads are shown as long as they have replies. */
export async function listThreads(db: Reader, query: ThreadQuery): Promise<{ total: number; notDeleted: number; rows: CommentRow[] }> {
  const key = query.sort.by === 'createdAt' ? 'm.created_at' : `(select count(*) ${REPLIES})`
  const order = query.sort.descending ? 'desc' : 'asc'
  const [page] = await db.query<{ total: number; notDeleted: number; rows: CommentRow[] }>(
    `${HIDDEN}, threads as not materialized (
       select m.id, ${key} as sort_key from comment m
       where m.video_id = $1 and m.thread_id is null and ${isShown('m')}
         and (m.deleted_at is null or exists (select 1 ${REPLIES}))
     ), page as (
       select id, sort_key from threads order by sort_key ${order}, id ${order} limit $5 offset $6
     ), shown as (
       select page.sort_key, ${COLUMNS} from page join comment m on m.id = page.id ${JOINS}
     )
     select (select count(*) from threads) as total,
       (select count(*) from comment m where m.video_id = $1 and m.deleted_at is null and ${isShown('m')}) as "notDeleted",
       coalesce((select jsonb_agg(to_jsonb(shown) order by sort_key ${order}, id ${order}) from shown), '[]') as rows
     from ${COMMENTED}`,
    [...readerValues(query), query.count, query.start],
  )
  return page ?? { total: 0, notDeleted: 0, rows: [] }
}

/** Comments of a thread, oldest first: all, or the `part`. Empty if the thread does not exist or is hidden. One statement. */
export async function findThread(
  db: Reader,
  reader: CommentReader & { threadId: number; part?: { start: number; count: number } },
): Promise<CommentRow[]> {
  const found = await db.query<{ comment: CommentRow }>(
    `${HIDDEN} select to_jsonb(shown) as comment from (
       select ${COLUMNS} from comment m ${JOINS}
       where m.video_id = $1 and (m.id = $5 or m.thread_id = $5) and ${isShown('m')} and exists (select 1 from ${COMMENTED})
     ) shown order by shown.created_at, shown.id limit $6::int offset $7::int`,
    [...readerValues(reader), reader.threadId, reader.part?.count ?? null, reader.part?.start ?? 0],
  )
  return found.map(({ comment }) => comment)
}

/** One comment, even if it is hidden: for its author, right after writing it. One statement. */
export async function findComment(db: Reader, reader: CommentReader & { commentId: number }): Promise<CommentRow | undefined> {
  const [found] = await db.query<{ comment: CommentRow }>(
    `${HIDDEN} select to_jsonb(shown) as comment from (
       select ${COLUMNS} from comment m ${JOINS} where m.video_id = $1 and m.id = $5
     ) shown`,
    [...readerValues(reader), reader.commentId],
  )
  return found?.comment
}

/** The place of a comment, for refusals that name the reason. */
export async function findPlace(db: Reader, commentId: number): Promise<{ videoId: number; isThread: boolean } | undefined> {
  const [row] = await db.query<Aliased<typeof Comment, 'videoId'> & { isThread: boolean }>(
    'select video_id as "videoId", thread_id is null as "isThread" from comment where id = $1',
    [commentId],
  )
  return row
}
