// When an activity was said and what it decides about: of what an actor says about one thing, the last word counts.

import { Migration } from '@mikro-orm/migrations'

export class Order extends Migration {
  override up(): void {
    // What came before this says nothing of either. The indexes are made by the next migration, while the server works.
    this.addSql(
      'alter table incoming_activity add column said_at timestamptz(3), add column subject_hash uuid, add column ended_hash uuid',
    )
  }
}
