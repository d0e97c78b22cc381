// What waits for each server, in its order: the list of peers counts it, and finds the oldest.

import { Migration } from '@mikro-orm/migrations'

export class Peers extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  "create index delivery_backlog on delivery (host_id, id) include (created_at) where state = 'waiting'",
]
