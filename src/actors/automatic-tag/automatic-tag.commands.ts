// Automatic tags: of videos by the lists of the instance, of comments by these and by the lists of the video's owner. Texts are searched
// before the transaction that stores them with their tags.

import { batched } from '../../platform/batched.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { CORE_TAGS, type FindLists, type ListOwner, type StoredList } from '../watched-words/index.ts'
import { untagComment } from './automatic-tag.writes.ts'
import { hasExternalLink } from './external-link.ts'

/** The searched texts of a video. */
export interface TaggedVideo {
  name: string
  description: string | null
  support: string | null
  tags: readonly string[]
}

export interface CommentTag {
  ownerId: ListOwner
  name: string
}

export interface CommentTags {
  tags: readonly CommentTag[]
  /** True if the owner of the video, a local account, reviews comments with these tags. */
  review: boolean
  /** True if the owner reviews comments with some tags. */
  reviews: boolean
}

interface NamedList extends StoredList {
  name: string
  ownerId: ListOwner
}

export const NO_TAGS: CommentTags = { tags: [], review: false, reviews: false }

const [EXTERNAL_LINK] = CORE_TAGS
/** Separates texts. It is neither part of a word, nor a space within a phrase. */
const BETWEEN = '\n\u0001\n'

const LISTS = `coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'version', l.version, 'name', l.name, 'ownerId', l.account_id)
  order by l.id), '[]')`

/** The word lists for comments on a video. */
interface ListsBelow {
  /** Null for a remote video. */
  ownerId: number | null
  lists: NamedList[]
  review: string[]
}

const VIDEOS_AT_ONCE = 100

export type AutomaticTags = ReturnType<typeof makeAutomaticTags>

export function makeAutomaticTags({ db, urls, findLists }: ActorDeps & { findLists: FindLists }) {
  // Called for each comment: concurrent calls share a statement.
  const listsBelow = batched<number, ListsBelow>(
    async (videoIds) => {
      const rows = await db.query<ListsBelow & { videoId: number }>(
        `select asked.video_id as "videoId", owner.id as "ownerId",
           (select ${LISTS} from watched_words_list l where l.account_id is null or l.account_id = owner.id) as lists,
           coalesce((select p.review from comment_tag_policy p where p.account_id = owner.id), '{}') as review
         from unnest((select $1::int[])) as asked (video_id) left join lateral (
           select c.account_id as id from video v join channel c on c.id = v.channel_id
           where v.id = asked.video_id and not v.remote
         ) as owner on true`,
        [[...new Set(videoIds)]],
      )
      const found = new Map(rows.map((row) => [row.videoId, row]))
      return videoIds.map((videoId) => found.get(videoId) ?? { ownerId: null, lists: [], review: [] })
    },
    { max: VIDEOS_AT_ONCE },
  )

  return {
    async ofVideo({ name, description, support, tags }: TaggedVideo): Promise<string[]> {
      const texts = [name, description ?? '', ...tags]
      const [row] = await db.query<{ lists: NamedList[] }>(
        `select ${LISTS} as lists from watched_words_list l where l.account_id is null`,
        [],
      )
      const found = await findLists(row?.lists ?? [], [...texts, support ?? ''].join(BETWEEN))
      // Support texts usually contain links.
      const links = hasExternalLink(texts.join(BETWEEN), urls.host) ? [EXTERNAL_LINK] : []
      return [...links, ...found.map((list) => list.name)]
    },

    async ofComment({ videoId, text, html }: { videoId: number; text: string; html?: string }): Promise<CommentTags> {
      const row = await listsBelow(videoId)
      const all = html === undefined ? text : text + BETWEEN + html
      const found: CommentTag[] = await findLists(row.lists, all)
      const owners = row.ownerId === null ? [null] : [null, row.ownerId]
      const links = hasExternalLink(all, urls.host) ? owners.map((ownerId) => ({ ownerId, name: EXTERNAL_LINK })) : []
      const tags = [...links, ...found.map(({ ownerId, name }) => ({ ownerId, name }))]
      const { review } = row
      return {
        tags,
        review: tags.some(({ ownerId, name }) => ownerId !== null && review.includes(name)),
        reviews: review.length > 0,
      }
    },
  }
}

/** Stores the tags of new comments. */
export async function tagComments(query: Sql, comments: readonly { id: number; tags: CommentTags }[]): Promise<void> {
  const all = comments.flatMap(({ id, tags: { tags } }) => tags.map(({ ownerId, name }) => ({ id, ownerId, name })))
  if (all.length === 0) return
  await query(
    `insert into comment_automatic_tag (comment_id, account_id, name)
     select * from unnest((select $1::int[]), (select $2::int[]), (select $3::text[])) on conflict do nothing`,
    [all.map(({ id }) => id), all.map(({ ownerId }) => ownerId), all.map(({ name }) => name)],
  )
}

/** The same for an edited comment. */
export async function retagComment(query: Sql, commentId: number, tags: CommentTags): Promise<void> {
  await untagComment(query, commentId)
  await tagComments(query, [{ id: commentId, tags }])
}

/** Replaces the tags of a video. */
export async function tagVideo(query: Sql, videoId: number, names: readonly string[]): Promise<void> {
  await query(
    `with gone as (delete from video_automatic_tag where video_id = $1 and not (name = any($2)))
     insert into video_automatic_tag (video_id, name) select $1, unnest((select $2::text[])) on conflict do nothing`,
    [videoId, names],
  )
}
