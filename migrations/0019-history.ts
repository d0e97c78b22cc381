// The history of users: where each of them was last in each video.

import { Migration } from '@mikro-orm/migrations'

export class History extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table history (
    account_id integer not null references account on delete cascade,
    video_id integer not null references video on delete cascade,
    seconds integer not null,
    watched_at timestamptz(3) not null,
    primary key (account_id, video_id)
  )`,
  'create index history_video on history (video_id)',
  // The list of an account, and what is too old.
  'create index history_listed on history (account_id, watched_at desc, video_id desc)',
  'create index history_age on history (watched_at)',
]
