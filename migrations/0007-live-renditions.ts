// The renditions of live streams. Their pieces have a table of their own: running processes of the version before read all rows of
// live_piece as pieces of the source.

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
