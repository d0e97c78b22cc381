// The look for likes, dislikes, shares and comments that are gone from their servers: when, how far it is, and what was missing.

import { Migration } from '@mikro-orm/migrations'

export class InteractionsCleaning extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // `due_at`: of the round that was asked for last, and `settings` from which it was reckoned. `kind` and `after_id`: the place of
  // the round that began at `round_at`; null between two rounds.
  `create table interactions_cleaning (
    id integer primary key check (id = 1),
    due_at timestamptz(3),
    settings text,
    kind text,
    after_id integer,
    round_at timestamptz(3)
  )`,
  'insert into interactions_cleaning (id) values (1)',
  // How many rounds in a row its server did not have something, up to that of `round_at`.
  `create table interaction_miss (
    kind text not null,
    interaction_id integer not null,
    misses integer not null,
    round_at timestamptz(3) not null,
    primary key (kind, interaction_id)
  )`,
  'create index interaction_miss_round on interaction_miss (round_at)',
]
