// Indexes for searches and filters that only cover visible videos, by words, date and likes, since most videos may belong to servers that
// are not followed; and the videos of a channel with all columns that lists filter by.

import { Migration } from '@mikro-orm/migrations'

const SHOWN = "privacy in (1, 4) and state = 'published' and listed and not blocked"
const INDEXES = {
  video_shown_words: `using gin (words) where ${SHOWN}`,
  video_shown_published_at: `(published_at desc, id desc) where ${SHOWN}`,
  video_shown_best: `(best desc, id desc) where ${SHOWN}`,
  // Every order and most filters of a channel's videos use this index alone.
  video_channel_listed: `(channel_id, published_at desc, id desc)
    include (privacy, state, blocked, listed, nsfw, remote, is_live, has_hls, has_web_videos, category, licence, language, views, likes,
      name, duration, created_at, originally_published_at, trending, hot, best, files_size)`,
}

export class SearchedVideos extends Migration {
  /** PostgreSQL creates no index `concurrently` inside a transaction; each statement can be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const [name, definition] of Object.entries(INDEXES)) {
      // An unfinished one remains, invalid.
      this.addSql(`drop index concurrently if exists ${name}`)
      this.addSql(`create index concurrently ${name} on video ${definition}`)
    }
    this.addSql('drop index concurrently if exists video_channel_sorted')
  }
}
