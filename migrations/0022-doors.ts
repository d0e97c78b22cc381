// Deliveries that fail for a reason of their own are put off by themselves, apart from those of the same host.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Doors extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('alter table delivery add column if not exists due_at timestamptz(3)')
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}

const indexes = {
  delivery_put_off: "delivery (host_id, actor_id, id) where state = 'waiting' and due_at is not null",
}
