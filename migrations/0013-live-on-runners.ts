// The renditions of live streams that remote runners encode. Their segments are numbered separately, since runners choose their
// boundaries.

import { Migration } from '@mikro-orm/migrations'

export class LiveOnRunners extends Migration {
  override up(): void {
    this.addSql('alter table live_session add column remote jsonb')
    this.addSql(`create table live_remote_piece (
      session_id integer not null references live_session on delete cascade,
      rendition smallint not null,
      sequence integer not null,
      run integer not null,
      seconds double precision not null,
      starts_at timestamptz(3) not null,
      bytes integer,
      sha256 text,
      is_private boolean not null,
      primary key (session_id, rendition, sequence)
    )`)
  }
}
