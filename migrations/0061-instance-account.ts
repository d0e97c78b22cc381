// The instance has an account, as other servers have here, and all of them count among the accounts.

import { Migration } from '@mikro-orm/migrations'

export class InstanceAccount extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `insert into account (actor_id, name, created_at, updated_at)
   select id, preferred_username, created_at, created_at from actor where host_id is null and type = 'Application'
   on conflict (actor_id) do nothing`,
  `create or replace trigger actor_total_insert after insert on actor for each row when (new.deleted_at is null)
   execute function actor_total_follow()`,
  `create or replace trigger actor_total_update after update of deleted_at on actor for each row
   when ((old.deleted_at is null) <> (new.deleted_at is null)) execute function actor_total_follow()`,
  `create or replace trigger actor_total_delete after delete on actor for each row when (old.deleted_at is null)
   execute function actor_total_follow()`,
  `insert into actor_total_delta (channels, delta)
   select false, count(*) from actor where type = 'Application' and deleted_at is null having count(*) > 0`,
]
