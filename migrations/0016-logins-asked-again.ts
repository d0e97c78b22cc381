// Questions to other systems that outlive the process that asks.

import { Migration } from '@mikro-orm/migrations'

export class LoginsAskedAgain extends Migration {
  override up(): void {
    // The grant stays in its row meanwhile. Processes of the version before take it out, and do not look at this column.
    this.addSql('alter table session add column external_asked_at timestamptz(3)')
    this.addSql(`alter table external_identity
      add column asked_at timestamptz(3),
      add column gone_at timestamptz(3)`)
  }
}
