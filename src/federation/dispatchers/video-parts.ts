// Parts of a local video: its collections, its Create, and single announces, ratings and Creates of comments.

import { hiddenAnswers, hiddenFromAll, showsComments } from '../../actors/comment/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import { isBegun, type Video } from '../../actors/video/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import {
  announceActivity,
  commentDocument,
  createCommentActivity,
  createVideoActivity,
  rateActivity,
  videoDocument,
} from '../documents/index.ts'
import type { VideoCollection } from '../urls.ts'
import { buildChapters, type ChapterDocument, type JsonObject } from '../wire/index.ts'
import { assertOpen, isNotUnfederated, type VideoAccess } from './access.ts'
import { collectionDocument, type Page, type PageParts, readPage } from './collection.ts'
import type { DispatcherDeps } from './deps.ts'

type Deps = Pick<DispatcherDeps, 'db' | 'urls' | 'config'>

/** A collection of a video, or a page of it; its chapters are one document. One statement. */
export async function videoCollection(
  { db, urls, config }: Deps,
  video: VideoAccess,
  name: VideoCollection,
  page: Page,
): Promise<JsonObject> {
  const id = urls.videoCollection(video.uuid, name)
  if (name === 'chapters') return await chaptersDocument({ db }, video.id, id)
  const pageSize = config().vireo.federation.collection_page_items
  const parts = { ...videoPages[name], value: video.id }
  return await collectionDocument({ id, page, pageSize, read: (range) => readPage<string>(db.query, parts, range) })
}

/** Each chapter ends where the next one begins, the last at the end of the video. */
async function chaptersDocument({ db }: Pick<Deps, 'db'>, videoId: number, id: string): Promise<JsonObject> {
  const rows = await db.query<ChapterDocument>(
    `select c.title as name, c.timecode as "startOffset", greatest(c.timecode,
       coalesce(lead(c.timecode) over (order by c.timecode), v.duration)) as "endOffset"
     from video_chapter c join video v on v.id = c.video_id where c.video_id = $1 order by c.timecode`,
    [videoId],
  )
  return buildChapters({ id, chapters: rows })
}

/** Addresses of the rows of a table, oldest first: new ones change only the last page. */
const oldestFirst = (table: string, where: string): PageParts => ({
  ids: `select t.id from ${table} t where ${where} order by t.id`,
  item: 'to_jsonb(t.url)',
  join: `join ${table} t on t.id = page.id`,
})

/** Deleted comments stay as Tombstones if they were visible; hidden comments are left out. */
export const videoPages: Record<Exclude<VideoCollection, 'chapters'>, PageParts> = {
  announces: oldestFirst('share', 't.video_id = $1'),
  comments: oldestFirst(
    'comment',
    `t.video_id = $1 and not t.held_for_review and t.id not in (${hiddenFromAll('$1')})
      and exists (select from video v where v.id = $1 and ${showsComments('v')})`,
  ),
  likes: oldestFirst('rating', "t.video_id = $1 and t.type = 'like'"),
  dislikes: oldestFirst('rating', "t.video_id = $1 and t.type = 'dislike'"),
}

/** Replies to a comment. */
export const replyPages: PageParts = oldestFirst(
  'comment',
  `t.parent_id = $1 and not t.held_for_review and t.id not in (${hiddenAnswers('$1')})`,
)

/** The replies to a local comment, or a page of them. One statement. */
export async function commentReplies({ db, urls, config }: Deps, comment: { id: number; url: string }, page: Page): Promise<JsonObject> {
  return await collectionDocument({
    id: urls.commentReplies(comment.url),
    page,
    pageSize: config().vireo.federation.collection_page_items,
    read: (range) => readPage<string>(db.query, { ...replyPages, value: comment.id }, range),
  })
}

/** The Create of a video. */
export async function videoCreation({ db, urls }: Deps, video: VideoAccess): Promise<JsonObject> {
  const found = await videoDocument(db.query, urls, video.id)
  if (!found) throw notFound('Video not found')
  return createVideoActivity(urls, found)
}

/** The Create of a local comment. */
export async function commentCreation({ db, urls }: Deps, commentId: number): Promise<JsonObject> {
  const found = await commentDocument(db.query, urls, commentId)
  const activity = found?.isLocal && found.isShown ? createCommentActivity(urls, found) : null
  if (!activity) throw notFound('Video comment thread not found')
  return activity
}

/** The approval of a comment below a local video. */
export async function commentApproval({ db, urls }: Deps, video: VideoAccess, commentId: number): Promise<JsonObject> {
  const found = await commentDocument(db.query, urls, commentId)
  if (!found?.approval || found.videoId !== video.id) throw notFound('Video comment thread not found')
  return found.approval
}

/** The Announce of a video by a local actor. */
export async function videoAnnounce({ db, urls }: Deps, video: VideoAccess, actorId: number): Promise<JsonObject> {
  const [share] = await db.query<{ id: string; actorUrl: string; accountUrl: string }>(
    `select s.url as id, x.url as "actorUrl", o.url as "accountUrl"
     from share s join actor x on x.id = s.actor_id
       join video v on v.id = s.video_id join channel c on c.id = v.channel_id
       join account a on a.id = c.account_id join actor o on o.id = a.actor_id
     where s.video_id = $1 and s.actor_id = $2 and x.host_id is null`,
    [video.id, actorId],
  )
  if (!share) throw notFound('Video share not found')
  return announceActivity(urls, { ...share, videoUrl: video.url, privacy: video.privacy })
}

/** The Like or Dislike of a video, local or remote, by a local account. One statement. */
export async function rate({ db, urls }: Deps, url: string): Promise<JsonObject> {
  const [rating] = await db.query<
    Columns<Video, 'privacy' | 'blocked'> & { id: string; type: 'like' | 'dislike'; actorUrl: string; videoUrl: string }
  >(
    `select r.url as id, r.type, x.url as "actorUrl", v.url as "videoUrl", v.privacy, v.blocked
     from rating r join account a on a.id = r.account_id join actor x on x.id = a.actor_id
       join video v on v.id = r.video_id
     where r.url_hash = md5($1)::uuid and r.url = $1 and x.host_id is null and ${isBegun('v')}
       and ${isNotUnfederated('v')}`,
    [url],
  )
  if (!rating) throw notFound('Account video rate not found')
  assertOpen(rating)
  return rateActivity(urls, rating)
}
