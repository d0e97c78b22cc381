// What searches and filters ask for, kept beside each video: its words, and whether it has HLS and web videos. The indexes of
// lists that more than the order decides about.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Search extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction, so every statement may run twice. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of [...columns, ...triggers, tagsCalledNull, backFill]) this.addSql(statement)
    for (const statement of concurrently(indexes)) this.addSql(statement)
    // `video_counted` has the same order.
    this.addSql('drop index concurrently if exists video_listed_published_at')
  }
}

const columns = [
  // No default that is not constant, so that no row is written.
  `alter table video
    add column if not exists words tsvector,
    add column if not exists has_hls boolean not null default false,
    add column if not exists has_web_videos boolean not null default false`,

  // The dictionaries are named, so that the answer depends on nothing else: it is computed once for a statement.
  `create or replace function search_words(text) returns tsquery language sql immutable parallel safe
    as $$ select plainto_tsquery('simple'::regconfig, public.unaccent('public.unaccent'::regdictionary, $1)) $$`,
]

const HAS_HLS = 'exists (select from streaming_playlist s where s.video_id = v.id)'
const HAS_WEB_VIDEOS = 'exists (select from video_file f where f.video_id = v.id and f.streaming_playlist_id is null)'

const triggers = [
  `create or replace function video_words_begin() returns trigger language plpgsql as $$
  begin
    new.words = video_words(new.name, new.tags);
    return new;
  end $$`,
  `create or replace trigger video_words_insert before insert on video for each row execute function video_words_begin()`,
  // Not before the update: with such a trigger, every update of the table recomputes `url_hash`, which is a key, and so waits for
  // whoever refers to the row.
  `create or replace function video_words_renew() returns trigger language plpgsql as $$
  begin
    update video set words = video_words(name, tags) where id = new.id;
    return null;
  end $$`,
  `create or replace trigger video_words_update after update of name, tags on video for each row
    when ((old.name, old.tags) is distinct from (new.name, new.tags)) execute function video_words_renew()`,

  // Locked first: what a transaction before this one did to the same video is seen by the statement after that.
  `create or replace function video_files_follow() returns trigger language plpgsql as $$
  begin
    perform from video where id in (select video_id from changed) order by id for no key update;
    update video v set has_hls = ${HAS_HLS}, has_web_videos = ${HAS_WEB_VIDEOS}
    where id in (select video_id from changed)
      and (has_hls, has_web_videos) is distinct from (${HAS_HLS}, ${HAS_WEB_VIDEOS});
    return null;
  end $$`,
  ...['streaming_playlist', 'video_file'].flatMap((table) =>
    [
      ['insert', 'new'],
      ['delete', 'old'],
    ].map(
      ([change, rows]) =>
        `create or replace trigger ${table}_${change} after ${change} on ${table} referencing ${rows} table as changed
          for each statement execute function video_files_follow()`,
    ),
  ),
]

/** A tag "null" was once stored as NULL. */
const tagsCalledNull = 'update video set tags = array_remove(tags, null) where array_position(tags, null) is not null'

/** A batch at a time, each in a transaction of its own, while the server of the version before goes on. */
const backFill = `do $$
  declare
    last integer := coalesce((select min(id) from video), 0) - 1;
    final integer := coalesce((select max(id) from video), 0);
  begin
    while last < final loop
      update video v set words = video_words(name, tags), has_hls = ${HAS_HLS}, has_web_videos = ${HAS_WEB_VIDEOS}
      where id > last and id <= last + 2000
        and (words, has_hls, has_web_videos) is distinct from (video_words(name, tags), ${HAS_HLS}, ${HAS_WEB_VIDEOS});
      commit;
      last := last + 2000;
    end loop;
  end $$`

const LISTED = "privacy in (1, 4) and state = 'published'"
const UNLISTED = "(privacy not in (1, 4) or state <> 'published') and state <> 'removed'"

const indexes = {
  video_words: 'video using gin (words)',
  // The newest. Read alone, without the table, to count what filters leave, and to find what is rare.
  video_counted: `video (published_at desc, id desc) include (privacy, blocked, listed, nsfw, remote, is_live, has_hls,
    has_web_videos, category, licence, language, duration, channel_id) where ${LISTED}`,
  // All the orders of what only the staff lists: it is sorted from this index alone.
  video_unlisted_sorted: `video (published_at desc, id desc) include (privacy, state, blocked, listed, nsfw, remote, channel_id,
    views, likes, name, duration, created_at, originally_published_at, trending, hot, best, files_size) where ${UNLISTED}`,
}
