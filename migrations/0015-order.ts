// When an activity was said and what it decides about: of what an actor says about one thing, the last word counts.

import { Migration } from '@mikro-orm/migrations'

export class Order extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // What came before this counts as said when it came, and as about nothing.
  'alter table incoming_activity add column said_at timestamptz(3), add column subject_hash uuid',
  'update incoming_activity set said_at = received_at',
  'alter table incoming_activity alter column said_at set not null',
  "create index incoming_activity_subject on incoming_activity (actor_hash, subject_hash, said_at) where state = 'done'",
  'create index incoming_activity_undone on incoming_activity (activity_hash, actor_hash) where subject_hash is not null',
]
