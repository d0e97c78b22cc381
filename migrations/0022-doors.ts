// Deliveries that fail for a reason of their own are put off by themselves, apart from those of the same host.

import { Migration } from '@mikro-orm/migrations'

export class Doors extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('alter table delivery add column if not exists due_at timestamptz(3)')
    // One that was not finished stays behind, invalid.
    this.addSql('drop index concurrently if exists delivery_put_off')
    this.addSql(
      `create index concurrently delivery_put_off on delivery (host_id, actor_id, id)
       where state = 'waiting' and due_at is not null`,
    )
  }
}
