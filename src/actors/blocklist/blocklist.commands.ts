// Blocks of accounts and servers, by the instance (no owner) or by a user (the owner's account). Idempotent; end-follows.ts handles the
// consequences.

import type { Columns } from '../../platform/database/index.ts'
import { type ActorDeps, notFound, type Unit } from '../runtime/index.ts'
import { renewSessions } from '../session/index.ts'
import type { ServerBlock } from './blocklist.entity.ts'
import { normalHost } from './server-list.ts'

export interface BlockedAccount {
  /** Account of the blocking user; null for the instance. */
  ownerId: number | null
  targetId: number
}

export interface BlockedServer {
  ownerId: number | null
  host: string
}

export interface ListOwner {
  kind: 'accounts' | 'servers'
  /** Account of the blocking user; null for the instance. */
  ownerId: number | null
}

const NAMES_AT_ONCE = 100

export type Blocklist = ReturnType<typeof makeBlocklist>

export function makeBlocklist({ tell }: ActorDeps) {
  return {
    /** Returns false if it was blocked before. */
    async blockAccount({ ownerId, targetId }: BlockedAccount): Promise<boolean> {
      return await tell.create(async (unit) => (await storeAccounts(unit, ownerId, [targetId])) > 0)
    },

    /** Throws `not_found`. */
    async unblockAccount({ ownerId, targetId }: BlockedAccount): Promise<void> {
      await tell.create(async (unit) => {
        const [gone] = await unit.query<{ id: number; url: string }>(
          `delete from account_block where owner_id is not distinct from $1::int and target_id = $2
           returning id, ${TARGET_URL}`,
          [ownerId, targetId],
        )
        if (!gone) throw notFound('Account block entry not found.')
        if (ownerId === null) noteBlock(unit, 'delete', gone.id, { account: gone.url })
      })
    },

    /** Returns false if it was blocked before. */
    blockServer({ ownerId, host }: BlockedServer): Promise<boolean> {
      return tell.create(async (unit) => (await storeServers(unit, ownerId, [nameOf(host)])) > 0)
    },

    /** Throws `not_found`. */
    async unblockServer({ ownerId, host }: BlockedServer): Promise<void> {
      await tell.create(async (unit) => {
        const [gone] = await unit.query<{ id: number }>(
          'delete from server_block where owner_id is not distinct from $1::int and host = $2 returning id',
          [ownerId, nameOf(host)],
        )
        if (!gone) throw notFound('Server block entry not found.')
        if (ownerId === null) noteBlock(unit, 'delete', gone.id, { host: nameOf(host) })
      })
    },
  }
}

export type BlockLists = ReturnType<typeof makeBlockLists>

/** Whole lists of blocks, to export and import. */
export function makeBlockLists({ db, tell, urls }: Pick<ActorDeps, 'db' | 'tell' | 'urls'>) {
  return {
    /** Handles (`name@host`) or hosts, in their order. */
    async names({ kind, ownerId }: ListOwner): Promise<string[]> {
      const rows = await db.query<{ name: string }>(kind === 'servers' ? SERVER_NAMES : ACCOUNT_NAMES, [
        ownerId,
        ...(kind === 'servers' ? [] : [urls.host]),
      ])
      return rows.map(({ name }) => name)
    },

    /**
     * Existing blocks stay. An interrupted call may be repeated. Returns the number of new blocks, and the accounts that are not known
     * here.
     */
    async block({ kind, ownerId }: ListOwner, names: readonly string[], onBlocked: (done: number) => void = () => undefined) {
      let blocked = 0
      const unknown: string[] = []
      for (let done = 0; done < names.length; done += NAMES_AT_ONCE) {
        const next = names.slice(done, done + NAMES_AT_ONCE)
        const outcome = await tell.create(async (unit) => {
          if (kind === 'servers') return { blocked: await storeServers(unit, ownerId, next.map(nameOf)), unknown: [] }
          const found = await accountsCalled(unit, next)
          const ids = found.flatMap(({ id }) => (id === null ? [] : [id]))
          return {
            blocked: await storeAccounts(unit, ownerId, ids),
            unknown: found.flatMap(({ id, handle }) => (id === null ? [handle] : [])),
          }
        })
        blocked += outcome.blocked
        unknown.push(...outcome.unknown)
        onBlocked(done + next.length)
      }
      return { blocked, unknown }
    },
  }

  async function accountsCalled(unit: Unit, handles: readonly string[]): Promise<{ handle: string; id: number | null }[]> {
    const parts = handles.map((handle) => ({
      name: handle.slice(0, handle.lastIndexOf('@')),
      host: handle.slice(handle.lastIndexOf('@') + 1),
    }))
    return await unit.query(
      `select asked.handle, coalesce(${accountIn('x.host_id = h.id')}, ${accountIn('x.host_id is null and asked.host = $4')}) as id
       from unnest($1::text[], $2::text[], $3::text[]) with ordinality as asked (handle, name, host, place)
       left join remote_host h on h.host = asked.host order by asked.place`,
      [handles, parts.map(({ name }) => name), parts.map(({ host }) => host), urls.host],
    )
  }
}

/** Of the many accounts with one name, an index finds that of one server. */
const accountIn = (place: string): string => `(
  select a.id from actor x join account a on a.actor_id = x.id
  where lower(x.preferred_username) = lower(asked.name) and ${place} and x.deleted_at is null order by a.id limit 1)`

const SERVER_NAMES = 'select host as name from server_block where owner_id is not distinct from $1::int order by host'
const ACCOUNT_NAMES = `
  select x.preferred_username || '@' || coalesce(h.host, $2) as name
  from account_block b join account a on a.id = b.target_id join actor x on x.id = a.actor_id left join remote_host h on h.id = x.host_id
  where b.owner_id is not distinct from $1::int order by h.host nulls first, lower(x.preferred_username)`

/** Returns how many were not blocked before. */
async function storeAccounts(unit: Unit, ownerId: number | null, targetIds: readonly number[]): Promise<number> {
  const blocks = await unit.query<{ id: number; url: string }>(
    `insert into account_block (owner_id, target_id, created_at) select $1::int, a.id, $3 from account a where a.id = any($2)
     on conflict do nothing returning id, ${TARGET_URL}`,
    [ownerId, targetIds, unit.now],
  )
  for (const { id, url } of blocks) {
    unit.emit({ aggregate: 'account_block', id }, 'AccountBlocked', { blockId: id })
    if (ownerId === null) noteBlock(unit, 'create', id, { account: url })
  }
  if (ownerId !== null && blocks.length > 0) renewSessions(unit, { account: ownerId })
  return blocks.length
}

/** Returns how many were not blocked before. */
async function storeServers(unit: Unit, ownerId: number | null, hosts: string[]): Promise<number> {
  const blocks = await unit.query<Columns<typeof ServerBlock, 'id' | 'host'>>(
    `insert into server_block (owner_id, host, created_at) select $1::int, host, $3 from unnest((select $2::text[])) host
     on conflict do nothing returning id, host`,
    [ownerId, hosts, unit.now],
  )
  for (const { id, host } of blocks) {
    unit.emit({ aggregate: 'server_block', id }, 'ServerBlocked', { blockId: id })
    if (ownerId === null) noteBlock(unit, 'create', id, { host })
  }
  if (ownerId !== null && blocks.length > 0) renewSessions(unit, { account: ownerId })
  return blocks.length
}

const TARGET_URL = '(select x.url from account a join actor x on x.id = a.actor_id where a.id = target_id) as url'

/** For the audit log; blocks of users are private. */
function noteBlock(unit: Unit, action: 'create' | 'delete', id: number, of: Record<string, string>): void {
  unit.note({ domain: 'blocklist', action, id, entity: { id, ...of } })
}

const nameOf = (host: string): string => normalHost(host) ?? host.toLowerCase()
