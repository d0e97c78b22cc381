// Whether the lists of everybody show a video: of other servers those alone that this one follows.

import { Migration } from '@mikro-orm/migrations'

export class Listed extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const isCounted = (row: string): string =>
  `${row}.privacy = 1 and ${row}.state = 'published' and not ${row}.blocked and ${row}.listed`

const statements = [
  // A constant default, so that no row is written. A job looks at those that are there.
  'alter table video add column listed boolean not null default true',
  `create or replace function video_total_follow() returns trigger language plpgsql as $$
  begin
    if tg_op in ('UPDATE', 'DELETE') and ${isCounted('old')} then
      insert into video_total_delta (local, nsfw, delta) values (not old.remote, old.nsfw, -1);
    end if;
    if tg_op in ('UPDATE', 'INSERT') and ${isCounted('new')} then
      insert into video_total_delta (local, nsfw, delta) values (not new.remote, new.nsfw, 1);
    end if;
    return null;
  end $$`,
  `create or replace trigger video_total_update after update of privacy, state, nsfw, blocked, listed on video for each row
    when ((old.privacy, old.state, old.nsfw, old.blocked, old.listed)
      is distinct from (new.privacy, new.state, new.nsfw, new.blocked, new.listed))
    execute function video_total_follow()`,
]
