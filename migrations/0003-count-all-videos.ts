// Totals of all videos that are not removed, by what lists are filtered by: before, only the public ones were counted.

import { Migration } from '@mikro-orm/migrations'

const KEY = 'local, nsfw, privacy, published, blocked, listed'
const keyOf = (row: 'old' | 'new'): string =>
  `not ${row}.remote, ${row}.nsfw, ${row}.privacy, ${row}.state = 'published', ${row}.blocked, ${row}.listed`

/** What is there already is of the public videos, as the processes of the version before still write it. */
const addKey = (table: string): string =>
  `alter table ${table}
     add column privacy smallint not null default 1, add column published boolean not null default true,
     add column blocked boolean not null default false, add column listed boolean not null default true`

export class CountAllVideos extends Migration {
  override up(): void {
    this.addSql(addKey('video_total'))
    this.addSql(addKey('video_total_delta'))
    this.addSql(`alter table video_total drop constraint video_total_pkey, add primary key (${KEY})`)
    this.addSql(`create or replace function video_total_follow() returns trigger language plpgsql as $$
      begin
        if tg_op in ('UPDATE', 'DELETE') and old.state <> 'removed' then
          insert into video_total_delta (${KEY}, delta) values (${keyOf('old')}, -1);
        end if;
        if tg_op in ('UPDATE', 'INSERT') and new.state <> 'removed' then
          insert into video_total_delta (${KEY}, delta) values (${keyOf('new')}, 1);
        end if;
        return null;
      end $$`)
    for (const event of ['insert', 'update', 'delete']) this.addSql(`drop trigger video_total_${event} on video`)
    this.addSql(
      'create trigger video_total_insert after insert on video for each row execute function video_total_follow()',
    )
    this.addSql(
      'create trigger video_total_delete after delete on video for each row execute function video_total_follow()',
    )
    this.addSql(`create trigger video_total_update after update of privacy, state, nsfw, blocked, listed on video for each row
      when ((old.privacy, old.state = 'published', old.state = 'removed', old.nsfw, old.blocked, old.listed)
        is distinct from (new.privacy, new.state = 'published', new.state = 'removed', new.nsfw, new.blocked, new.listed))
      execute function video_total_follow()`)
    // Nobody writes videos meanwhile: the triggers of this transaction have locked the table.
    this.addSql(`insert into video_total (${KEY}, total)
      select k.local, k.nsfw, k.privacy, k.published, k.blocked, k.listed, coalesce(c.total, 0)
      from (
        select local.value as local, nsfw.value as nsfw, privacy, published.value as published, blocked.value as blocked,
          listed.value as listed
        from unnest(array[true, false]) local (value), unnest(array[true, false]) nsfw (value), generate_series(1, 5) privacy,
          unnest(array[true, false]) published (value), unnest(array[true, false]) blocked (value),
          unnest(array[true, false]) listed (value)
      ) k left join (
        select not remote as local, nsfw, privacy, state = 'published' as published, blocked, listed, count(*)::int as total
        from video where state <> 'removed' group by 1, 2, 3, 4, 5, 6
      ) c using (${KEY})
      on conflict (${KEY}) do nothing`)
  }
}
