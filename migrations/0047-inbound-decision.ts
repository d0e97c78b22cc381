// What was not taken as other servers sent it, for moderators.

import { Migration } from '@mikro-orm/migrations'

export class InboundDecision extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // `host` is empty for servers that are neither known nor blocked; `activity_id` and `actor_url` are of the last one.
  `create table inbound_decision (
    host text not null,
    reason text not null,
    kind text not null,
    verdict text not null,
    count bigint not null,
    first_at timestamptz(3) not null,
    last_at timestamptz(3) not null,
    activity_id text,
    actor_url text,
    primary key (host, reason, kind)
  )`,
  'create index inbound_decision_last on inbound_decision (last_at)',
]
