// Lists of comments on many videos: those of an owner, or all. Includes comments that are pending review.

import { type Columns, containing, type Database, pageOf } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile } from '../actor/index.ts'
import { commentsTagged, tagsOfComment } from '../automatic-tag/index.ts'
import type { Comment } from './comment.entity.ts'
import { totalComments } from './totals.ts'

export interface ListedCommentRow
  extends Columns<typeof Comment, 'id' | 'url' | 'text' | 'threadId' | 'parentId' | 'createdAt' | 'updatedAt'> {
  held: boolean
  automatic_tags: string[]
  account: ActorProfile
  video: { id: number; uuid: string; name: string }
}

/** The names of the contract, which are those of video lists; names of columns that comments lack sort by date. */
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

export type CommentSort = keyof typeof SORT_KEYS
export const commentSorts: readonly CommentSort[] = [
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

export interface CommentListQuery {
  /** The account that owns the videos; by default all videos. */
  ownerAccountId?: number | undefined
  /** Includes the automatic tags of this account's lists; null: of the instance's lists. */
  tagsOf: number | null
  autoTagOneOf?: readonly string[] | undefined
  start: number
  count: number
  sort: { by: CommentSort; descending: boolean }
  /** Searched in the text, the author's names and the video's name. */
  search?: string | undefined
  searchAccount?: string | undefined
  searchVideo?: string | undefined
  videoId?: number | undefined
  channelId?: number | undefined
  isHeld?: boolean | undefined
  /** True for local authors. */
  isLocal?: boolean | undefined
  onLocalVideo?: boolean | undefined
}

/** One page of comments, with the total. One statement. */
export async function listComments(
  db: Pick<Database, 'query'>,
  query: CommentListQuery,
): Promise<{ total: number; rows: ListedCommentRow[] }> {
  const { text, values } = buildCommentList(query)
  // The best plan of a search depends on the frequency of its words.
  const prepared = !(query.search || query.searchAccount || query.searchVideo)
  const rows = await db.query<(ListedCommentRow | { id: null }) & { total: number }>(text, values, { prepared })
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.filter((row): row is ListedCommentRow & { total: number } => row.id !== null),
  }
}

/** The statement of a page. An empty page has one row of nulls, so that the total is always returned. */
export function buildCommentList(query: CommentListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const { by, descending } = query.sort
  const key = SORT_KEYS[by]
  const direction = descending ? 'desc' : 'asc'
  const order = `sort_key ${direction}${by === 'originallyPublishedAt' ? ' nulls last' : ''}, id ${direction}`
  const from = key.startsWith('v.') ? 'comment m join video v on v.id = m.video_id' : 'comment m'
  const where = conditions(query, bind).join(' and ')
  const like = query.search ? bind(containing(query.search)) : undefined
  const rowsOf = (condition: string) => `select m.id, ${key} as sort_key from ${from} where ${where} and ${condition}`
  const firstOf = (condition: string) => `(${rowsOf(condition)} order by ${order} limit ${Number(query.start) + Number(query.count)})`
  const page = like === undefined ? rowsOf('true') : firstFound(like, firstOf)
  const text = `with ${like === undefined ? '' : `${called(like)}, ${found(like, where)}, `}page as materialized (
      ${pageOf({ columns: 'id, sort_key', rows: `(${page}) found`, order }, query, bind)}
    )
    select ${totalOf(query, where)} as total, m.id, m.url, m.text, m.thread_id, m.parent_id, m.created_at, m.updated_at,
      m.held_for_review as held, ${tagsOfComment('m.id', query.tagsOf)} as automatic_tags, ${accountProfile('a', 'x')} as account,
      jsonb_build_object('id', v.id, 'uuid', v.uuid, 'name', v.name) as video
    from (values (1)) one left join page on true left join comment m on m.id = page.id
      left join video v on v.id = m.video_id left join account a on a.id = m.account_id left join actor x on x.id = a.actor_id
    order by page.${order.replace(' id ', ' page.id ')}`
  return { text, values }
}

type Bind = (value: unknown) => string

function conditions(query: CommentListQuery, bind: Bind): string[] {
  const { ownerAccountId, searchAccount, searchVideo, videoId, channelId, isHeld, isLocal, onLocalVideo } = query
  const found = ['m.deleted_at is null', NOT_GONE]
  if (ownerAccountId !== undefined) {
    found.push(inVideos(`channel_id in (select id from channel where account_id = ${bind(ownerAccountId)})`))
  }
  if (searchAccount) found.push(`m.account_id in (${accountsCalled(bind(containing(searchAccount)))})`)
  if (searchVideo) found.push(inVideos(`name ilike ${bind(containing(searchVideo))}`))
  if (videoId !== undefined) found.push(`m.video_id = ${bind(videoId)}`)
  if (channelId !== undefined) found.push(inVideos(`channel_id = ${bind(channelId)}`))
  if (query.autoTagOneOf) found.push(`m.id in (${commentsTagged(query.tagsOf, query.autoTagOneOf, bind)})`)
  if (isHeld !== undefined) found.push(isHeld ? 'm.held_for_review' : 'not m.held_for_review')
  // Local comments are few, and have their own index.
  if (isLocal !== undefined) {
    found.push(`${isLocal ? '' : 'not '}exists (select from account o where o.id = m.account_id and o.user_id is not null)`)
  }
  if (onLocalVideo !== undefined) {
    found.push(`${onLocalVideo ? '' : 'not '}exists (select from video o where o.id = m.video_id and not o.remote)`)
  }
  return found
}

const inVideos = (condition: string): string => `m.video_id in (select id from video where ${condition})`

/** Videos that are being removed are few, and found by an index. */
const GONE = "select id from video where state = 'removed'"
const NOT_GONE = `m.video_id not in (${GONE})`

// A text is searched in the comment, in the author's names and in the video's name. Each has its own index, and yields its first matches, since
// a word may be in every comment.
const inText = (like: string): string => `m.text ilike ${like}`

/** SQL: the authors and the videos whose names contain the text. Evaluated only as far as they are read. */
const called = (like: string): string =>
  `authors as materialized (${accountsCalled(like)}), videos as materialized (select id from video where name ilike ${like})`

/** The limit makes it look up the account of each actor found: a plan may compare the name of every account instead. */
const accountsCalled = (like: string): string =>
  `select id from account where name ilike ${like}
   union all select a.id from actor x cross join lateral (select id, name from account where actor_id = x.id limit 1) a
     where x.preferred_username ilike ${like} and a.name not ilike ${like}`

/**
 * An index yields the first comments of one author or video, not of several together. If there are few authors and videos, the first comments
 * of each are taken. If there are many, their comments are frequent and soon found in the order of the list. Many authors suffice for that:
 * the videos are not collected then.
 */
const FEW = 300
/** At most so many ids are collected; with more, the author of each comment is looked up. */
const MOST_AUTHORS = 2000
const areMore = (set: 'authors' | 'videos', than: number): string =>
  `(select count(*) > ${than} from (select from ${set} limit ${than + 1}) named)`

/** SQL: the first comments that contain the text, or have such an author or video. */
function firstFound(like: string, firstOf: (condition: string) => string): string {
  const ofFew = (set: 'authors' | 'videos', id: string) =>
    `select first.* from (select id from ${set} where not ${areMore('authors', FEW)} limit ${FEW + 1}) ${set}
      cross join lateral ${firstOf(`${id} = ${set}.id and not ${areMore(set, FEW)}`)} first`
  const ofFrequent = `(m.account_id in (select id from authors limit ${MOST_AUTHORS})
    or (select name ilike ${like} from video where id = m.video_id)
    or ${areMore('authors', MOST_AUTHORS)} and (select a.name ilike ${like} or x.preferred_username ilike ${like}
      from account a join actor x on x.id = a.actor_id where a.id = m.account_id))`
  return [
    firstOf(inText(like)),
    ofFew('authors', 'm.account_id'),
    ofFew('videos', 'm.video_id'),
    firstOf(`(${areMore('authors', FEW)} or ${areMore('videos', FEW)}) and ${ofFrequent}`),
  ].join(' union ')
}

/** Filtered totals are counted up to this. */
const MOST_COUNTED = 10_000
/** Totals of searches, which have to read more: see docs/adr/0007. */
const MOST_FOUND = 1000

/** SQL: the comments that match the text, one source after the other until there are enough. */
const found = (like: string, where: string): string =>
  `of_authors as materialized (
      select m.id from authors join comment m on m.account_id = authors.id where ${where} limit ${MOST_FOUND}),
    below_videos as materialized (
      select m.id from videos join comment m on m.video_id = videos.id where ${where}
        and (select count(*) < ${MOST_FOUND} from of_authors) limit ${MOST_FOUND}),
    found as (
      select id from of_authors union select id from below_videos
      union (select m.id from comment m where ${where} and ${inText(like)}
        and (select count(*) < ${MOST_FOUND} from of_authors) and (select count(*) < ${MOST_FOUND} from below_videos) limit ${MOST_FOUND}))`

/** The counters include the comments of videos that are being removed, which are subtracted. */
function totalOf(query: CommentListQuery, where: string): string {
  const { start, count, sort, isHeld, tagsOf, ...others } = query
  if (query.search) return `(select least(count(*), ${MOST_FOUND})::int from found)`
  if (Object.values(others).some((filter) => filter !== undefined && filter !== '')) {
    const most = query.searchAccount || query.searchVideo ? MOST_FOUND : MOST_COUNTED
    return `(select count(*)::int from (select m.id from comment m where ${where} limit ${most}) found)`
  }
  const held = isHeld === undefined ? '' : `and ${isHeld ? '' : 'not '}m.held_for_review`
  return `(${totalComments(isHeld)} - (select count(*) from comment m
    where m.deleted_at is null ${held} and m.video_id in (${GONE})))::int`
}

/** The owner of a local channel; undefined if there is no such channel. */
export async function findChannelOwner(db: Pick<Database, 'query'>, channelId: number): Promise<number | undefined> {
  const [row] = await db.query<{ account_id: number }>(
    `select c.account_id from channel c join actor x on x.id = c.actor_id
     where c.id = $1 and x.host_id is null and x.deleted_at is null`,
    [channelId],
  )
  return row?.account_id
}
