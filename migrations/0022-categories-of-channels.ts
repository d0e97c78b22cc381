// An index for the videos of a category in many channels, as those of a server. `video_local` goes: `video_local_sums` has the same keys.

import { Migration } from '@mikro-orm/migrations'

export class CategoriesOfChannels extends Migration {
  /** PostgreSQL creates no index `concurrently` inside a transaction; each statement can be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    // An unfinished one remains, invalid.
    this.addSql('drop index concurrently if exists video_shown_category')
    this.addSql(`create index concurrently video_shown_category on video (channel_id, category, published_at desc, id desc)
      include (privacy, nsfw) where privacy in (1, 4) and state = 'published' and listed and not blocked`)
    this.addSql('drop index concurrently if exists video_local')
  }
}
