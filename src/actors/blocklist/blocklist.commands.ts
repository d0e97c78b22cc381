// Blocks of accounts and servers, by the instance (no owner) or by a user (the owner's account). Idempotent; end-follows.ts handles the
// consequences.

import { type ActorDeps, notFound, type Unit } from '../runtime/index.ts'
import { renewSessions } from '../session/index.ts'
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

export interface Blocklist {
  /** Returns false if it was blocked before. */
  blockAccount(block: BlockedAccount): Promise<boolean>
  /** Throws `not_found`. */
  unblockAccount(block: BlockedAccount): Promise<void>
  /** Returns false if it was blocked before. */
  blockServer(block: BlockedServer): Promise<boolean>
  /** Throws `not_found`. */
  unblockServer(block: BlockedServer): Promise<void>
}

/** Commands for the operator's blocklist at the command line. */
export interface BlocklistOperator {
  /** By name. */
  servers(): Promise<string[]>
  /** Existing blocks stay. An interrupted call may be repeated. */
  blockServers(hosts: readonly string[], onBlocked: (done: number) => void): Promise<void>
}

const SERVERS_AT_ONCE = 100

export function makeBlocklist({ tell }: ActorDeps): Blocklist {
  return {
    async blockAccount({ ownerId, targetId }) {
      return await tell.create(async (unit) => {
        const [block] = await unit.query<{ id: number; url: string }>(
          `insert into account_block (owner_id, target_id, created_at) select $1::int, a.id, $3 from account a where a.id = $2
           on conflict do nothing returning id, ${TARGET_URL}`,
          [ownerId, targetId, unit.now],
        )
        if (!block) return false
        unit.emit({ aggregate: 'account_block', id: block.id }, 'AccountBlocked', { blockId: block.id })
        if (ownerId === null) noteBlock(unit, 'create', block.id, { account: block.url })
        else renewSessions(unit, { account: ownerId })
        return true
      })
    },

    async unblockAccount({ ownerId, targetId }) {
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

    blockServer: ({ ownerId, host }) => tell.create(async (unit) => (await storeServers(unit, ownerId, [nameOf(host)])) > 0),

    async unblockServer({ ownerId, host }) {
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

export function makeBlocklistOperator({ db, tell }: Pick<ActorDeps, 'db' | 'tell'>): BlocklistOperator {
  return {
    async servers() {
      const rows = await db.query<{ host: string }>('select host from server_block where owner_id is null order by host')
      return rows.map(({ host }) => host)
    },

    async blockServers(hosts, onBlocked) {
      for (let done = 0; done < hosts.length; done += SERVERS_AT_ONCE) {
        const next = hosts.slice(done, done + SERVERS_AT_ONCE)
        await tell.create((unit) => storeServers(unit, null, next.map(nameOf)))
        onBlocked(done + next.length)
      }
    },
  }
}

/** Returns how many were not blocked before. */
async function storeServers(unit: Unit, ownerId: number | null, hosts: string[]): Promise<number> {
  const blocks = await unit.query<{ id: number; host: string }>(
    `insert into server_block (owner_id, host, created_at) select $1::int, host, $3 from unnest((select $2::text[])) host
     on conflict do nothing returning id, host`,
    [ownerId, hosts, unit.now],
  )
  for (const { id, host } of blocks) {
    unit.emit({ aggregate: 'server_block', id }, 'ServerBlocked', { blockId: id })
    if (ownerId === null) noteBlock(unit, 'create', id, { host })
    else renewSessions(unit, { account: ownerId })
  }
  return blocks.length
}

const TARGET_URL = '(select x.url from account a join actor x on x.id = a.actor_id where a.id = target_id) as url'

/** For the audit log; blocks of users are private. */
function noteBlock(unit: Unit, action: 'create' | 'delete', id: number, of: Record<string, string>): void {
  unit.note({ domain: 'blocklist', action, id, entity: { id, ...of } })
}

const nameOf = (host: string): string => normalHost(host) ?? host.toLowerCase()
