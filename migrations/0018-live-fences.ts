// Fencing of live connections: segment numbers that no other connection uses, and the time of the last media. All columns are null in rows
// of processes of the previous version.

import { Migration } from '@mikro-orm/migrations'

export class LiveFences extends Migration {
  override up(): void {
    this.addSql('alter table live_session add column reserved integer, add column heard_at timestamptz(3)')
    this.addSql('alter table live_piece add column position integer, add column discontinuities integer')
  }
}
