// The search table of channels: names and usernames in one narrow table, without a look-up of the actor for each match. Triggers maintain
// it, also beside processes of the previous version. It does not contain channels of removed actors.

import { Migration } from '@mikro-orm/migrations'

const COLUMNS = 'id, actor_id, account_id, host_id, name, preferred_username'
const of = (channel: string, actor: string) =>
  `${channel}.id, ${actor}.id, ${channel}.account_id, ${actor}.host_id, ${channel}.name, ${actor}.preferred_username`

export class SearchOfChannels extends Migration {
  override up(): void {
    // In the order in which running processes lock both when they create a channel: the actor first.
    this.addSql('lock table actor, channel in share row exclusive mode')
    // The sizes bound the similarity to a text before it is computed.
    this.addSql(`create table channel_search (
      id integer primary key references channel on delete cascade,
      actor_id integer not null,
      account_id integer not null,
      host_id integer,
      name text not null,
      preferred_username text not null,
      name_size integer generated always as (cardinality(show_trgm(name))) stored,
      username_size integer generated always as (cardinality(show_trgm(preferred_username))) stored
    )`)
    // The lock waits for a running removal of the actor.
    this.addSql(`create function channel_search_insert() returns trigger language plpgsql as $$
      begin
        insert into channel_search (${COLUMNS}) select ${of('new', 'x')} from actor x
        where x.id = new.actor_id and x.deleted_at is null for share;
        return null;
      end $$`)
    this.addSql(`create function channel_search_update() returns trigger language plpgsql as $$
      begin
        update channel_search set name = new.name, account_id = new.account_id where id = new.id;
        return null;
      end $$`)
    this.addSql(`create function channel_search_actor() returns trigger language plpgsql as $$
      begin
        delete from channel_search where id = (select id from channel where actor_id = new.id);
        if new.deleted_at is null then
          insert into channel_search (${COLUMNS}) select ${of('c', 'new')} from channel c where c.actor_id = new.id;
        end if;
        return null;
      end $$`)
    this.addSql(`create trigger channel_search_insert after insert on channel for each row execute function channel_search_insert()`)
    this.addSql(`create trigger channel_search_update after update of name, account_id on channel for each row
      when ((old.name, old.account_id) is distinct from (new.name, new.account_id)) execute function channel_search_update()`)
    this.addSql(`create trigger channel_search_actor after update of preferred_username, host_id, deleted_at on actor for each row
      when ((old.preferred_username, old.host_id, old.deleted_at is null)
        is distinct from (new.preferred_username, new.host_id, new.deleted_at is null))
      execute function channel_search_actor()`)
    this.addSql(`insert into channel_search (${COLUMNS}) select ${of('c', 'x')} from channel c join actor x on x.id = c.actor_id
      where x.deleted_at is null order by c.id`)
    this.addSql('create index channel_search_names on channel_search using gin (name gin_trgm_ops, preferred_username gin_trgm_ops)')
  }
}
