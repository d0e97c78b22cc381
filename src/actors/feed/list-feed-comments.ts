// The newest public comments: on one video, on those of an account or a channel, or on all.

import { type Columns, type Database, pageOf } from '../../platform/database/index.ts'
import { type ActorSummary, summaryOf } from '../actor/index.ts'
import { mutedChannels } from '../blocklist/index.ts'
import type { Comment } from '../comment/comment.entity.ts'
import { isHiddenFromAll, showsComments } from '../comment/index.ts'
import { isPublic } from '../video/video.entity.ts'

export interface FeedCommentRow extends Columns<typeof Comment, 'id' | 'text' | 'threadId' | 'createdAt'> {
  video: { uuid: string; name: string }
  account: ActorSummary
}

export interface FeedCommentsQuery {
  /** A video that the reader may see, which the caller has checked: unlisted ones too. */
  videoId?: number | undefined
  /** Owner of the videos. */
  accountId?: number | undefined
  channelId?: number | undefined
  /** Excludes comments on sensitive videos. */
  nsfw: boolean
  count: number
}

/** One statement, ordered by date. */
export async function listFeedComments(db: Pick<Database, 'query'>, query: FeedCommentsQuery): Promise<FeedCommentRow[]> {
  const { text, values } = buildFeedComments(query)
  // The best plan depends on the owner of the videos.
  const prepared = query.accountId === undefined && query.channelId === undefined
  return await db.query<FeedCommentRow>(text, values, { prepared })
}

export function buildFeedComments(query: FeedCommentsQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const where = conditions(query, bind).join(' and ')
  const text = `with page as materialized (
      ${pageOf({ columns: 'm.id', rows: `comment m join video v on v.id = m.video_id where ${where}`, order: 'm.created_at desc, m.id desc' }, { start: 0, count: query.count }, bind)}
    )
    select m.id, m.text, m.thread_id, m.created_at, jsonb_build_object('uuid', v.uuid, 'name', v.name) as video,
      ${summaryOf('a', 'x')} as account
    from page join comment m on m.id = page.id join video v on v.id = m.video_id
      join account a on a.id = m.account_id join actor x on x.id = a.actor_id
    order by m.created_at desc, m.id desc`
  return { text, values }
}

function conditions(query: FeedCommentsQuery, bind: (value: unknown) => string): string[] {
  const { videoId, accountId, channelId, nsfw } = query
  const hasOwnerFilter = videoId !== undefined || accountId !== undefined || channelId !== undefined
  const found = ['m.deleted_at is null', 'm.account_id is not null', 'not m.held_for_review', showsComments('v')]
  if (videoId === undefined) {
    found.push(isPublic('v'))
    found.push(`v.channel_id not in (${mutedChannels('null')})`)
    if (!nsfw) found.push('not v.nsfw')
  } else found.push(`m.video_id = ${bind(videoId)} and v.state <> 'removed'`)
  if (accountId !== undefined) found.push(`v.channel_id in (select id from channel where account_id = ${bind(accountId)})`)
  if (channelId !== undefined) found.push(`v.channel_id = ${bind(channelId)}`)
  // Unknown servers cannot put content into public lists.
  if (!hasOwnerFilter) found.push('v.listed')
  found.push(`not ${isHiddenFromAll('m.id')}`)
  return found
}
