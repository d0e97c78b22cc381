// Reads about accounts.

import type { Database } from '../../platform/database/index.ts'
import { type SeenActor, seenColumns, totalOfActors } from '../actor/index.ts'
import { type ActorProfile, accountProfile } from '../video/index.ts'

export type FoundAccount = ActorProfile & { seen: SeenActor }

/**
 * The account of this name, of ours (`host` null) or of another server; with `orGone` also one of which only the name is left,
 * because somebody blocked it.
 */
export async function findAccount(
  db: Pick<Database, 'query'>,
  { name, host }: { name: string; host: string | null },
  { orGone = false } = {},
): Promise<FoundAccount | undefined> {
  const [row] = await db.query<{ account: ActorProfile; actorId: number } & Omit<SeenActor, 'id'>>(
    `select ${accountProfile('a', 'x')} as account, ${seenColumns('x')}
     from actor x join account a on a.actor_id = x.id left join remote_host h on h.id = x.host_id
     where lower(x.preferred_username) = lower($1) and h.host is not distinct from lower($2) and ($3 or x.deleted_at is null)
       and x.type <> 'Application'`,
    [name, host, orGone],
  )
  if (!row) return undefined
  const { account, actorId: id, remote, refreshedAt } = row
  return { ...account, seen: { id, remote, refreshedAt } }
}

export interface AccountListQuery {
  start: number
  count: number
  sort: { by: 'createdAt'; descending: boolean }
}

/** A page of all accounts, of ours and of other servers, in one statement. */
export async function listAccounts(
  db: Pick<Database, 'query'>,
  query: AccountListQuery,
): Promise<{ total: number; rows: ActorProfile[] }> {
  const { text, values } = buildAccountList(query)
  const [page] = await db.query<{ total: number; rows: ActorProfile[] }>(text, values)
  return page ?? { total: 0, rows: [] }
}

/** The statement of a page: one row with `total` and `rows`. */
export function buildAccountList({ start, count, sort }: AccountListQuery): { text: string; values: unknown[] } {
  const direction = sort.descending ? 'desc' : 'asc'
  const text = `with page as materialized (
      select a.id, a.created_at from account a join actor x on x.id = a.actor_id
      where x.deleted_at is null and x.type <> 'Application'
      order by a.created_at ${direction}, a.id ${direction} limit $1 offset $2
    )
    select ${totalOfActors('accounts')} as total,
      coalesce((
        select jsonb_agg(${accountProfile('a', 'x')} order by p.created_at ${direction}, p.id ${direction})
        from page p join account a on a.id = p.id join actor x on x.id = a.actor_id), '[]') as rows`
  return { text, values: [count, start] }
}
