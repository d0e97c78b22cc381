// Which items of a user's archive were not brought in.

import { Migration } from '@mikro-orm/migrations'

export class ImportFailures extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // The first of them, stored with the position; how many they are in all is in `summary`.
  "alter table user_import add column failures jsonb not null default '[]'",
]
