// Users get the state of their machine; who is deleted stays as an empty row until all that they owned is gone.

import { Migration } from '@mikro-orm/migrations'

export class UserStates extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  "alter table users add column state text not null default 'active', add column plugin_auth text",
  "update users set state = 'blocked' where blocked",
  // Whoever asks whether a user may log in goes by the state as well.
  'alter table users drop column blocked',
  "alter table users add column blocked boolean not null generated always as (state <> 'active') stored",
  "create index users_deleted on users (id) where state = 'deleted'",

  // The list of the staff: its orders, and its search by parts of names and addresses.
  ...['created_at', 'role', 'username'].map(
    (column) => `create index users_listed_${column} on users (${column}, id) where state <> 'deleted'`,
  ),
  // Who never came stands before all who did.
  "create index users_listed_last_login_at on users (last_login_at nulls first, id) where state <> 'deleted'",
  "create index users_search on users using gin (username gin_trgm_ops, email gin_trgm_ops) where state <> 'deleted'",

  // Actors of ours that are gone and can still sign: until the last that was to be told of their end was told.
  `create index actor_tombstone_keys on actor (id)
     where host_id is null and deleted_at is not null and private_key_sealed is not null`,
]
