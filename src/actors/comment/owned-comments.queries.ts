// Reads for who owns videos: all comments below them, also those that wait for approval.

import { containing, type Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile } from '../video/index.ts'

export interface OwnedCommentRow {
  id: number
  url: string
  text: string
  thread_id: number | null
  parent_id: number | null
  created_at: string
  updated_at: string
  held: boolean
  account: ActorProfile
  video: { id: number; uuid: string; name: string }
}

/** The names of the contract, which are those of video lists: what comments have none of sorts by their date. */
const SORT_KEYS = {
  createdAt: 'm.created_at',
  publishedAt: 'm.created_at',
  name: 'v.name',
  duration: 'v.duration',
  originallyPublishedAt: 'v.originally_published_at',
  views: 'v.views',
  likes: 'v.likes',
  trending: 'm.created_at',
  hot: 'm.created_at',
  best: 'm.created_at',
  localVideoFilesSize: 'm.created_at',
} as const

export type OwnedCommentSort = keyof typeof SORT_KEYS
export const ownedCommentSorts: readonly OwnedCommentSort[] = [
  'createdAt',
  'publishedAt',
  'name',
  'duration',
  'originallyPublishedAt',
  'views',
  'likes',
  'trending',
  'hot',
  'best',
  'localVideoFilesSize',
]

export interface OwnedCommentQuery {
  /** Whose videos. */
  accountId: number
  start: number
  count: number
  sort: { by: OwnedCommentSort; descending: boolean }
  /** In the text, the author's names and the video's name. */
  search?: string | undefined
  searchAccount?: string | undefined
  searchVideo?: string | undefined
  videoId?: number | undefined
  channelId?: number | undefined
  isHeld?: boolean | undefined
}

/** One page of the comments below an account's videos, with the count of all that match. One statement. */
export async function listOwnedComments(
  db: Pick<Database, 'query'>,
  query: OwnedCommentQuery,
): Promise<{ total: number; rows: OwnedCommentRow[] }> {
  const order = query.sort.descending ? 'desc nulls last' : 'asc'
  const idOrder = query.sort.descending ? 'desc' : 'asc'
  const [page] = await db.query<{ total: number; rows: OwnedCommentRow[] }>(
    `with matching as (
       select m.id, ${SORT_KEYS[query.sort.by]} as sort_key
       from comment m ${JOINS}
       where c.account_id = $1 and m.deleted_at is null and v.state <> 'removed'
         and ($2::text is null or m.text ilike $2 or a.name ilike $2 or x.preferred_username ilike $2 or v.name ilike $2)
         and ($3::text is null or a.name ilike $3 or x.preferred_username ilike $3)
         and ($4::text is null or v.name ilike $4)
         and ($5::int is null or v.id = $5) and ($6::int is null or c.id = $6)
         and ($7::boolean is null or m.held_for_review = $7)
     ), chosen as (
       select * from matching order by sort_key ${order}, id ${idOrder} limit $8 offset $9
     ), page as (
       select chosen.sort_key, m.id, m.url, m.text, m.thread_id, m.parent_id, m.created_at, m.updated_at,
         m.held_for_review as held, ${accountProfile('a', 'x')} as account,
         jsonb_build_object('id', v.id, 'uuid', v.uuid, 'name', v.name) as video
       from chosen join comment m on m.id = chosen.id ${JOINS}
     )
     select (select count(*) from matching) as total,
       coalesce((select jsonb_agg(to_jsonb(page) order by sort_key ${order}, id ${idOrder}) from page), '[]') as rows`,
    [
      query.accountId,
      ...[query.search, query.searchAccount, query.searchVideo].map(like),
      query.videoId ?? null,
      query.channelId ?? null,
      query.isHeld ?? null,
      query.count,
      query.start,
    ],
  )
  return page ?? { total: 0, rows: [] }
}

const JOINS = `join video v on v.id = m.video_id join channel c on c.id = v.channel_id
  join account a on a.id = m.account_id join actor x on x.id = a.actor_id`

const like = (text: string | undefined): string | null => (text ? containing(text) : null)

/** Who owns a channel of this server; undefined when there is no such channel. */
export async function findChannelOwner(db: Pick<Database, 'query'>, channelId: number): Promise<number | undefined> {
  const [row] = await db.query<{ account_id: number }>(
    `select c.account_id from channel c join actor x on x.id = c.actor_id
     where c.id = $1 and x.host_id is null and x.deleted_at is null`,
    [channelId],
  )
  return row?.account_id
}
