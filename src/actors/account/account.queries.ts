// Reads about accounts.

import type { Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile, type SeenActor, seenColumns, totalOfActors } from '../actor/index.ts'
import { isNotMuted, mutedAccounts, mutedHosts } from '../blocklist/index.ts'

export type FoundAccount = ActorProfile & { seen: SeenActor }

/**
 * The account of this name, local (`host` null) or remote; with `orGone` also a removed one, of which the name remains because somebody
 * blocked it.
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
     order by x.deleted_at is not null, a.id limit 1`,
    [name, host, orGone],
  )
  if (!row) return undefined
  const { account, actorId: id, remote, refreshedAt } = row
  return { ...account, seen: { id, remote, refreshedAt } }
}

/** The account of this row, unless it is removed. */
export async function findAccountById(db: Pick<Database, 'query'>, id: number): Promise<ActorProfile | undefined> {
  const [row] = await db.query<{ account: ActorProfile }>(
    `select ${accountProfile('a', 'x')} as account from account a join actor x on x.id = a.actor_id
     where a.id = $1 and x.deleted_at is null`,
    [id],
  )
  return row?.account
}

export interface AccountListQuery {
  start: number
  count: number
  sort: { by: 'createdAt'; descending: boolean }
  /** Excludes accounts muted by the instance or this account (null: by the instance alone). */
  mutedFor: number | null
}

/** A page of all accounts, local and remote, in one statement. */
export async function listAccounts(db: Pick<Database, 'query'>, query: AccountListQuery): Promise<{ total: number; rows: ActorProfile[] }> {
  const { text, values } = buildAccountList(query)
  const [page] = await db.query<{ total: number; rows: ActorProfile[] }>(text, values)
  return page ?? { total: 0, rows: [] }
}

/** The statement of a page: one row with `total` and `rows`. */
export function buildAccountList(query: AccountListQuery): { text: string; values: unknown[] } {
  const { start, count, sort, mutedFor } = query
  const direction = sort.descending ? 'desc' : 'asc'
  const reader = '$3::int'
  const text = `with page as materialized (
      select a.id, a.created_at from account a join actor x on x.id = a.actor_id
      where ${IS_KNOWN} and ${isNotMuted('a.id', 'x.host_id', reader)}
      order by a.created_at ${direction}, a.id ${direction} limit $1 offset $2
    )
    select ${totalOfActors('accounts')} - ${mutedOf(reader)} as total,
      coalesce((
        select jsonb_agg(${accountProfile('a', 'x')} order by p.created_at ${direction}, p.id ${direction})
        from page p join account a on a.id = p.id join actor x on x.id = a.actor_id), '[]') as rows`
  return { text, values: [count, start, mutedFor] }
}

const IS_KNOWN = 'x.deleted_at is null'

/** SQL: number of accounts that the instance or a reader mutes. */
const mutedOf = (reader: string): string =>
  `(select count(*)::int from (
      select a.id from account a join actor x on x.id = a.actor_id where a.id in (${mutedAccounts(reader)}) and ${IS_KNOWN}
      union select a.id from actor x join account a on a.actor_id = x.id
      where x.host_id in (${mutedHosts(reader)}) and ${IS_KNOWN}) muted)`
