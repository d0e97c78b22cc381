// How many followers actors of other servers have there, and when that was asked for.

import { Migration } from '@mikro-orm/migrations'

export class RemoteFollowers extends Migration {
  override up(): void {
    this.addSql('alter table actor add column remote_followers integer, add column followers_asked_at timestamptz(3)')
  }
}
