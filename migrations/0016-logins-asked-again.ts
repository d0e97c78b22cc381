// Requests to login providers that survive a crash of the requesting process.

import { Migration } from '@mikro-orm/migrations'

export class LoginsAskedAgain extends Migration {
  override up(): void {
    // The grant remains in its row meanwhile. Processes of the previous version remove it, and ignore this column.
    this.addSql('alter table session add column external_asked_at timestamptz(3)')
    this.addSql(`alter table external_identity
      add column asked_at timestamptz(3),
      add column gone_at timestamptz(3)`)
  }
}
