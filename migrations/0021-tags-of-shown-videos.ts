// The tags of videos that lists show, newest first, in one narrow table: an index of arrays has no order, so that a page of a tag read each
// of its videos. Triggers maintain it, also beside processes of the previous version.

import { Migration } from '@mikro-orm/migrations'

const COLUMNS = 'id, tag, published_at, privacy, nsfw, channel_id'
const tagsOf = (video: string) =>
  `select distinct ${video}.id, tag, ${video}.published_at, ${video}.privacy, ${video}.nsfw, ${video}.channel_id`
/** The predicate of the indexes named `video_shown_…`. */
const isShown = (video: string) =>
  `${video}.privacy in (1, 4) and ${video}.state = 'published' and ${video}.listed and not ${video}.blocked`

export class TagsOfShownVideos extends Migration {
  override up(): void {
    this.addSql('lock table video in share row exclusive mode')
    this.addSql(`create table video_tag (
      id integer not null references video on delete cascade,
      tag text not null,
      published_at timestamptz(3) not null,
      privacy smallint not null,
      nsfw boolean not null,
      channel_id integer not null
    )`)
    this.addSql(`insert into video_tag (${COLUMNS})
      ${tagsOf('v')} from video v cross join lateral unnest(lower_tags(v.tags)) tag where ${isShown('v')}`)
    this.addSql('alter table video_tag add primary key (id, tag)')
    this.addSql('create index video_tag_newest on video_tag (tag, published_at desc, id desc) include (privacy, nsfw, channel_id)')
    this.addSql(`create function video_tag_follow() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' then
          delete from video_tag where id = new.id;
        end if;
        if ${isShown('new')} then
          insert into video_tag (${COLUMNS}) ${tagsOf('new')} from unnest(lower_tags(new.tags)) tag;
        end if;
        return null;
      end $$`)
    this.addSql(`create trigger video_tag_insert after insert on video for each row
      when (${isShown('new')}) execute function video_tag_follow()`)
    this.addSql(`create trigger video_tag_update
      after update of tags, privacy, state, listed, blocked, published_at, nsfw, channel_id on video for each row
      when ((old.tags, old.published_at, old.privacy, old.nsfw, old.channel_id, ${isShown('old')})
        is distinct from (new.tags, new.published_at, new.privacy, new.nsfw, new.channel_id, ${isShown('new')}))
      execute function video_tag_follow()`)
  }
}
