// Mails of notifications: which of them wait to be sent together, which mail each went with, and how long a user is told of no more of
// a kind by mail.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class NotificationMails extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction; each statement may be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of [...columns, ...windows]) this.addSql(statement)
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}

const columns = [
  // `mail_waits`: for the mail that tells of several. `mail_job`: the job of the mail that tells of it. Both are of no meaning once
  // `mailed_at` is set.
  `alter table notification
     add column if not exists mail_waits boolean not null default false,
     add column if not exists mail_job bigint,
     add column if not exists mailed_at timestamptz(3)`,
]

const windows = [
  `create table if not exists notification_mail_window (
    user_id integer not null references users on delete cascade,
    type smallint not null,
    closes_at timestamptz(3) not null,
    primary key (user_id, type)
  )`,
  'create index if not exists notification_mail_window_end on notification_mail_window (closes_at)',
]

const indexes = {
  notification_mail_waits: 'notification (user_id, type, id) where mail_waits',
  notification_mail_job: 'notification (mail_job, id) where mail_job is not null',
}
