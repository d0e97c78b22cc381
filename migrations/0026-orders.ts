// Indexes of the orders of videos that were still sorted, or looked for among everybody's, and of comments by author and video.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Orders extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction, so every statement may run twice. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of concurrently(indexes)) this.addSql(statement)
    for (const name of replaced) this.addSql(`drop index concurrently if exists ${name}`)
  }
}

const LISTED = "privacy in (1, 4) and state = 'published'"
const UNLISTED = "(privacy not in (1, 4) or state <> 'published') and state <> 'removed'"

/** Of `UNLISTED`: few videos, and seldom changed, so that an index for each order costs the others nothing. */
const orders = {
  created_at: 'created_at desc, id desc',
  originally_published_at: 'originally_published_at desc nulls last, id desc',
  originally_published_at_up: 'originally_published_at, id',
  views: 'views desc, id',
  likes: 'likes desc, id',
  name: 'name desc, id desc',
  duration: 'duration, id',
  trending: 'trending desc, views desc, id',
  hot: 'hot desc, id',
  best: 'best desc, id',
  files_size: 'files_size desc, id',
}

const indexes = {
  // Every order of a channel's videos: sorted from this index alone.
  video_channel_sorted: `video (channel_id, published_at desc, id desc) include (privacy, state, blocked, listed, nsfw, remote,
    is_live, views, likes, name, duration, created_at, originally_published_at, trending, hot, best, files_size)`,
  // The id goes up in both directions. Many last no time at all, few are equally long, so the latter may be sorted.
  video_listed_duration_up: `video (duration, id) where ${LISTED}`,
  // The newest. Read alone to count.
  video_unlisted_published_at: `video (published_at desc, id desc) include (privacy, state, blocked, listed, nsfw, remote,
    channel_id) where ${UNLISTED}`,
  ...Object.fromEntries(
    Object.entries(orders).map(([name, order]) => [`video_unlisted_${name}`, `video (${order}) where ${UNLISTED}`]),
  ),
  // Whether a comment is below a video of this server.
  video_local: 'video (id) where not remote',
  // The comments of authors and of videos whose names hold a word: read, sorted and counted from these alone.
  comment_author: 'comment (account_id, created_at, id) include (video_id, held_for_review, deleted_at)',
  comment_place: 'comment (video_id, created_at, id) include (account_id, held_for_review, deleted_at)',
}

const replaced = ['video_listed_channel', 'video_listed_duration', 'video_unlisted_sorted', 'comment_video']
