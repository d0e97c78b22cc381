// Reads about accounts.

import type { Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile } from '../video/index.ts'

/** The account of this name, of ours (`host` null) or of another server. */
export async function findAccount(
  db: Pick<Database, 'query'>,
  { name, host }: { name: string; host: string | null },
): Promise<ActorProfile | undefined> {
  const [row] = await db.query<{ account: ActorProfile }>(
    `select ${accountProfile('a', 'x')} as account
     from actor x join account a on a.actor_id = x.id left join remote_host h on h.id = x.host_id
     where lower(x.preferred_username) = lower($1) and h.host is not distinct from lower($2) and x.deleted_at is null
       and x.type <> 'Application'`,
    [name, host],
  )
  return row?.account
}
