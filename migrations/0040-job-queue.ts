// Whether jobs are started, when work that repeats is due, and what an administrator sees of jobs that are deliveries.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class JobQueue extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table if not exists job_queue (
    id integer primary key check (id = 1),
    state text not null default 'running',
    updated_at timestamptz(3) not null default now()
  )`,
  'insert into job_queue (id) values (1) on conflict do nothing',
  // Which process of the server has a task of those that repeat, and when the next one may take it. A task that is under way
  // is due again when its owner shows no life.
  `create table if not exists periodic_task (
    name text primary key,
    due_at timestamptz(3) not null,
    every_ms bigint not null,
    started_at timestamptz(3) not null,
    owner text
  )`,
  ...concurrently({
    delivery_parked_order: "delivery (id) where state = 'parked'",
    // Small, since its keys are few: jobs are counted by it.
    job_kinds: 'job (type, state)',
  }),
]
