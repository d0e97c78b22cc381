// Videos whose file is replaced: when it was, which files are of the one before, and which upload brings the new one.

import { Migration } from '@mikro-orm/migrations'

export class Changes extends Migration {
  override up(): void {
    this.addSql('alter table video add column input_file_updated_at timestamptz(3)')
    this.addSql('alter table video_file add column outdated boolean not null default false')
    // An upload whose video went meanwhile still has its bytes, which go with the upload.
    this.addSql('alter table upload add column replaces_id integer references video on delete set null')
    this.addSql('alter table upload alter column fields drop not null')
    this.addSql('create index upload_replaces on upload (replaces_id) where replaces_id is not null')
  }
}
