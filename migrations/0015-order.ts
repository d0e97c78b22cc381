// When an activity was said and what it decides about: of what an actor says about one thing, the last word counts.

import { Migration } from '@mikro-orm/migrations'

export class Order extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // What came before this is about nothing, so that it does not matter when it was said.
  'alter table incoming_activity add column said_at timestamptz(3) not null default now(), add column subject_hash uuid',
  "create index incoming_activity_subject on incoming_activity (actor_hash, subject_hash, said_at) where state = 'done'",
  'create index incoming_activity_undone on incoming_activity (activity_hash, actor_hash) where subject_hash is not null',
]
