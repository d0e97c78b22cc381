// What the collections of comments and outboxes are read by, and the search for playlists.

import { Migration } from '@mikro-orm/migrations'

export class Collections extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'create index comment_told on comment (video_id, id) where not held_for_review',
  'create index comment_answers on comment (parent_id, id) where parent_id is not null and not held_for_review',
  "create index video_unlisted on video (id) where not remote and (privacy <> 1 or state <> 'published')",
  'create index playlist_name on playlist using gin (name gin_trgm_ops) where privacy = 1',
]
