// Indexes of searches and filters that read only what is shown: the videos that visitors see, by words, by date and by liking, where most videos
// may be of servers that are not followed; and the videos of a channel with all that lists are filtered by.

import { Migration } from '@mikro-orm/migrations'

const SHOWN = "privacy in (1, 4) and state = 'published' and listed and not blocked"
const INDEXES = {
  video_shown_words: `using gin (words) where ${SHOWN}`,
  video_shown_published_at: `(published_at desc, id desc) where ${SHOWN}`,
  video_shown_best: `(best desc, id desc) where ${SHOWN}`,
  // Every order and most filters of a channel's videos: read from this index alone.
  video_channel_listed: `(channel_id, published_at desc, id desc)
    include (privacy, state, blocked, listed, nsfw, remote, is_live, has_hls, has_web_videos, category, licence, language, views, likes,
      name, duration, created_at, originally_published_at, trending, hot, best, files_size)`,
}

export class SearchedVideos extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction; each statement may be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const [name, definition] of Object.entries(INDEXES)) {
      // One that was not finished stays behind, invalid.
      this.addSql(`drop index concurrently if exists ${name}`)
      this.addSql(`create index concurrently ${name} on video ${definition}`)
    }
    this.addSql('drop index concurrently if exists video_channel_sorted')
  }
}
