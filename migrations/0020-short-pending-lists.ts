// Each search reads the whole list of entries that a GIN index has not sorted in yet, by default up to 4 MB: 12 ms with a million videos.
// Each renewed score of a video adds its words to these lists. Shorter lists are sorted in more often.

import { Migration } from '@mikro-orm/migrations'

const INDEXES = [
  'abuse_channel_name',
  'abuse_reasons',
  'abuse_reportee_name',
  'abuse_reporter_name',
  'abuse_video_name',
  'account_name',
  'actor_username',
  'channel_name',
  'channel_search_names',
  'comment_text',
  'playlist_name',
  'streaming_playlist_swarms',
  'users_search',
  'video_name',
  'video_shown_words',
  'video_tags',
  'video_words',
]

export class ShortPendingLists extends Migration {
  /** Each statement locks its index for a moment, and can be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    // In kB. With 512 writes take a quarter longer; with 64, twice as long.
    for (const index of INDEXES) this.addSql(`alter index ${index} set (gin_pending_list_limit = 512)`)
  }
}
