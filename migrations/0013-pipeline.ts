// What the operator sees of other servers: when a delivery succeeded last, what failed last, and what is parked.

import { Migration } from '@mikro-orm/migrations'

export class Pipeline extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `alter table remote_host add column last_success_at timestamptz(3), add column last_error text,
    add column last_error_at timestamptz(3)`,
]
