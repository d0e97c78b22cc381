// Which files are the uploaded one, that plays until its renditions are there.

import { Migration } from '@mikro-orm/migrations'

export class ProvisionalFiles extends Migration {
  override up(): void {
    this.addSql('alter table video_file add column provisional boolean not null default false')
  }
}
