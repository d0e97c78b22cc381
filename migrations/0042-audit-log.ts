// Who changed what: kept for a while, for administrators.

import { Migration } from '@mikro-orm/migrations'

export class AuditLog extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  // Without foreign keys: what happened stays true when those whom it is about are gone. `entity`: before a change, or as it
  // was made; `changes`: what became of the fields that differ.
  `create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz(3) not null,
    user_id integer not null,
    username text not null,
    role smallint not null,
    domain text not null,
    action text not null,
    entity_id bigint not null,
    entity jsonb not null,
    changes jsonb
  )`,
  'create index audit_log_at on audit_log (at, id)',
]
