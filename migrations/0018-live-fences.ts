// What keeps the connections of a live stream apart: numbers of pieces that no other one uses, and when media came last. All columns are
// null in rows of processes of the version before.

import { Migration } from '@mikro-orm/migrations'

export class LiveFences extends Migration {
  override up(): void {
    this.addSql('alter table live_session add column reserved integer, add column heard_at timestamptz(3)')
    this.addSql('alter table live_piece add column position integer, add column discontinuities integer')
  }
}
