// Since when a move is looked at by processes that do not know its target as the place of new files.

import { Migration } from '@mikro-orm/migrations'

export class UnwantedMoves extends Migration {
  override up(): void {
    this.addSql('alter table storage_move add column unwanted_since timestamptz(3)')
  }
}
