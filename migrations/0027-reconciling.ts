// Where the walks stand that count the causes of kept counters anew, and the indexes that they count by.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Reconciling extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction, so every statement may run twice. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql(
      'create table if not exists reconciliation (counter text primary key, after integer not null, looked_at timestamptz(3))',
    )
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}

const indexes = {
  actor_counted: 'actor (type) where deleted_at is null',
  actor_ours: 'actor (id) where host_id is null',
} as const
