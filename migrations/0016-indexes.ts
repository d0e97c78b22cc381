// Indexes of tables that may be large: made while the server of the version before goes on writing to them.

import { Migration } from '@mikro-orm/migrations'

export class Indexes extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const [name, on] of Object.entries(indexes)) {
      // One that was not finished stays behind, invalid.
      this.addSql(`drop index concurrently if exists ${name}`)
      this.addSql(`create index concurrently ${name} on ${on}`)
    }
  }
}

const indexes = {
  // Channels are found by parts of their names.
  channel_name: 'channel using gin (name gin_trgm_ops)',
  actor_username: 'actor using gin (preferred_username gin_trgm_ops)',
  // Pages of collections, in the order in which they are read.
  share_video: 'share (video_id, id)',
  follow_follower: 'follow (follower_id, state, id)',
  comment_told: 'comment (video_id, id) where not held_for_review',
  comment_answers: 'comment (parent_id, id) where parent_id is not null and not held_for_review',
  video_unlisted: "video (id) where not remote and (privacy <> 1 or state <> 'published')",
  playlist_name: 'playlist using gin (name gin_trgm_ops) where privacy = 1',
  // What the operator looks at.
  delivery_parked: "delivery (host_id, id) where state = 'parked'",
  delivery_backlog: "delivery (host_id, id) include (created_at) where state = 'waiting'",
  incoming_activity_parked: "incoming_activity (id) where state = 'parked'",
  incoming_activity_parked_host: "incoming_activity (host, id) where state = 'parked'",
  incoming_activity_open: "incoming_activity (received_at) where state in ('received', 'unverified', 'retrying')",
  // The last words of an actor about a thing.
  incoming_activity_subject:
    "incoming_activity (actor_hash, subject_hash) where state = 'done' and subject_hash is not null",
  incoming_activity_ended: "incoming_activity (actor_hash, ended_hash) where state = 'done' and ended_hash is not null",
} as const
