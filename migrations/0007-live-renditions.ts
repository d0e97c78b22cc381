// The renditions of live streams. Their segments have a separate table: running processes of the previous version read all rows of
// live_piece as segments of the source.

import { Migration } from '@mikro-orm/migrations'

export class LiveRenditions extends Migration {
  override up(): void {
    this.addSql('alter table live_session add column plan jsonb')
    this.addSql(`create table live_rendition_piece (
      session_id integer not null,
      rendition smallint not null,
      sequence integer not null,
      bytes integer,
      sha256 text,
      primary key (session_id, rendition, sequence),
      foreign key (session_id, sequence) references live_piece on delete cascade
    )`)
  }
}
