// What administrators changed of the configuration while the server runs, and who changed it when.

import { Migration } from '@mikro-orm/migrations'

export class RuntimeConfig extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // One row, which is the aggregate: its lock puts changes in order, and processes compare its version with theirs.
  `create table runtime_config (
    id smallint primary key check (id = 1),
    overrides jsonb not null default '{}',
    version integer not null default 0,
    updated_at timestamptz(3) not null default now()
  )`,
  'insert into runtime_config (id) values (1)',

  // Names of keys only: values may be private. The name of the user outlives the user.
  `create table runtime_config_change (
    version integer primary key,
    user_id integer references users on delete set null,
    username text not null,
    keys text[] not null,
    created_at timestamptz(3) not null
  )`,
  'create index runtime_config_change_user on runtime_config_change (user_id) where user_id is not null',
]
