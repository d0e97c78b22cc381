// The documents of local comments: a Note, or the Tombstone of what was deleted.

import { type Comment, isHiddenFromAll, showsComments } from '../../actors/comment/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import { markdownToHtml } from '../../platform/markdown.ts'
import type { Urls } from '../urls.ts'
import {
  AS_PUBLIC,
  type Audience,
  buildNote,
  buildReplyApproval,
  buildTombstone,
  type JsonObject,
  type MentionDocument,
} from '../wire/index.ts'

export interface FoundComment {
  kind: 'note' | 'tombstone'
  document: JsonObject
  /** True if everybody who may see the video sees it. */
  isShown: boolean
  /** True for a local author; remote comments are served at their own address. */
  isLocal: boolean
  url: string
  authorUrl: string | null
  /** Recipients when it is sent: everybody; in copy the mentioned actors and the followers of the author or of a local video. */
  audience: Audience
  videoId: number
  videoUuid: string
  videoPrivacy: number
  /** The approval by the owner of a local video; null while it is pending review, and on remote videos. */
  approval: JsonObject | null
}

interface CommentRow extends Columns<typeof Comment, 'url' | 'text' | 'deletedAt' | 'createdAt' | 'updatedAt' | 'approvalUrl'> {
  held: boolean
  shown: boolean
  author_url: string | null
  is_local: boolean
  video_id: number
  video_url: string
  video_uuid: string
  video_privacy: number
  is_video_local: boolean
  owner_url: string
  channel_url: string
  parent_url: string | null
  mentions: { url: string; username: string; host: string | null }[]
}

/** SQL: actors that a text names as `@name@host`. The number is limited. */
export const namedIn = (text: string, host: string): string => `select y.id from (
    select distinct lower(t.parts[1]) as name, lower(rtrim(t.parts[2], '.:-')) as host
    from regexp_matches(${text}, '@([a-zA-Z0-9_.-]+)@([a-zA-Z0-9.:-]+)', 'g') as t (parts) limit 20
  ) said left join remote_host h on h.host = said.host
    join actor y on lower(y.preferred_username) = said.name and y.deleted_at is null
      and case when said.host = ${host} then y.host_id is null else y.host_id = h.id end`

/** A comment by its id, in any state. Null if it does not exist. One statement. */
export async function commentDocument(query: Sql, urls: Urls, commentId: number): Promise<FoundComment | null> {
  const [row] = await query<CommentRow>(
    `with recursive above as (
       select p.id, p.parent_id, p.account_id, 1 as distance
       from comment m join comment p on p.id = m.parent_id where m.id = $1
       union all
       select p.id, p.parent_id, p.account_id, above.distance + 1 from above join comment p on p.id = above.parent_id
     )
     select m.url, m.text, m.held_for_review as held, ${showsComments('v')} and not ${isHiddenFromAll('m.id')} as shown, m.deleted_at, m.created_at, m.updated_at,
       x.url as author_url, coalesce(x.host_id is null, starts_with(m.url, $2)) as is_local,
       m.approval_url, v.id as video_id, v.url as video_url, v.uuid as video_uuid, v.privacy as video_privacy,
       not v.remote as is_video_local, ox.url as owner_url, cx.url as channel_url, p.url as parent_url,
       (select coalesce(jsonb_agg(jsonb_build_object('url', y.url, 'username', y.preferred_username, 'host', h.host)
          order by said.distance), '[]')
        from (select b.actor_id as id, min(above.distance) as distance from above join account b on b.id = above.account_id
              group by b.actor_id
              union all select named.id, 1000000 from (${namedIn('m.text', '$3')}) named) said
          join actor y on y.id = said.id left join remote_host h on h.id = y.host_id
        where y.id is distinct from x.id) as mentions
     from comment m join video v on v.id = m.video_id left join comment p on p.id = m.parent_id
       join channel c on c.id = v.channel_id join actor cx on cx.id = c.actor_id
       join account o on o.id = c.account_id join actor ox on ox.id = o.actor_id
       left join account a on a.id = m.account_id left join actor x on x.id = a.actor_id
     where m.id = $1 and v.state <> 'removed'`,
    [commentId, `${urls.origin}/`, urls.host.toLowerCase()],
  )
  if (!row) return null
  const isNote = row.deleted_at === null && row.author_url !== null
  return {
    kind: isNote ? 'note' : 'tombstone',
    document: isNote ? noteOf(row, row.author_url ?? '', urls) : tombstoneOf(row),
    isShown: row.shown,
    isLocal: row.is_local,
    url: row.url,
    authorUrl: row.author_url,
    audience: audienceOf(row, urls),
    videoId: row.video_id,
    videoUuid: row.video_uuid,
    videoPrivacy: row.video_privacy,
    approval:
      isNote && row.is_video_local && row.shown
        ? approvalOf(urls, {
            commentId,
            url: row.url,
            videoUuid: row.video_uuid,
            ownerUrl: row.owner_url,
            inReplyTo: row.parent_url ?? row.video_url,
          })
        : null,
  }
}

/** Longest content of a Note that PeerTube accepts, in characters. */
const MAX_CONTENT = 10_000

/** A text rendered as HTML, which all other software shows, with its Markdown as the source; only Markdown if the HTML is too long. */
function contentOf(text: string, mentions: readonly MentionDocument[], urls: Urls) {
  const byHandle = new Map(mentions.map(({ href, name }) => [name.slice(1).toLowerCase(), href]))
  const html = markdownToHtml(text, urls.origin, { mentions: byHandle }).trimEnd()
  return html !== '' && html.length <= MAX_CONTENT
    ? { content: html, mediaType: 'text/html', source: text }
    : { content: text, mediaType: 'text/markdown', source: null }
}

function noteOf(row: CommentRow, author: string, urls: Urls): JsonObject {
  const mentions = mentionsOf(row.mentions, urls)
  return buildNote({
    id: row.url,
    to: [AS_PUBLIC],
    cc: [urls.actorCollection(author, 'followers'), ...mentions.map(({ href }) => href)],
    ...contentOf(row.text, mentions, urls),
    inReplyTo: row.parent_url ?? row.video_url,
    publishedAt: row.created_at,
    updatedAt: row.updated_at,
    url: row.url,
    attributedTo: [author],
    mentions,
    // Only the server of the video can approve, with an activity at this address.
    replies: urls.commentReplies(row.url),
    replyApproval: row.is_video_local && !row.held ? urls.commentApproval(row.url) : row.approval_url,
  })
}

function audienceOf(row: CommentRow, urls: Urls): Audience {
  const author = row.author_url === null ? [] : [row.author_url]
  const followed = row.is_video_local ? [row.channel_url, urls.instance, row.owner_url] : []
  const cc = [
    ...author.map((url) => urls.actorCollection(url, 'followers')),
    ...row.mentions.map(({ url }) => url),
    ...followed.map((url) => urls.actorCollection(url, 'followers')),
  ]
  return { to: [AS_PUBLIC], cc: [...new Set(cc)] }
}

/** The approval of a visible comment by the owner of a local video. */
export const approvalOf = (
  urls: Urls,
  comment: { commentId: number; url: string; inReplyTo: string; videoUuid: string; ownerUrl: string },
): JsonObject =>
  buildReplyApproval({
    id: urls.commentApproval(urls.comment(comment.videoUuid, comment.commentId)),
    actor: comment.ownerUrl,
    isApproved: true,
    comment: comment.url,
    inReplyTo: comment.inReplyTo,
  })

function mentionsOf(rows: CommentRow['mentions'], urls: Urls): MentionDocument[] {
  const byActor = new Map<string, MentionDocument>()
  for (const { url, username, host } of rows) {
    byActor.set(url, { href: url, name: `@${username}@${host ?? urls.host}` })
  }
  return [...byActor.values()]
}

function tombstoneOf(row: CommentRow): JsonObject {
  return buildTombstone({
    id: row.url,
    formerType: 'Note',
    inReplyTo: row.parent_url ?? row.video_url,
    publishedAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at ?? row.updated_at,
  })
}
