// What an administrator wants of a transcoding: which files, and whether the file that they are made of stays. Null and
// constant defaults, so that no row is written.

import { Migration } from '@mikro-orm/migrations'

export class TranscodingWish extends Migration {
  override up(): void {
    this.addSql(
      `alter table transcoding add column if not exists outputs text,
         add column if not exists keep_source boolean not null default false`,
    )
  }
}
