// Blocks of accounts and servers, by the instance (no owner) or by a user (the owner's account). Blocking twice is one
// block; what follows from it is done by end-follows.ts.

import { type ActorDeps, notFound } from '../runtime/index.ts'

export interface BlockedAccount {
  /** Account of the user who blocks; null for the instance. */
  ownerId: number | null
  targetId: number
}

export interface BlockedServer {
  ownerId: number | null
  host: string
}

export interface Blocklist {
  blockAccount(block: BlockedAccount): Promise<void>
  /** Throws `not_found`. */
  unblockAccount(block: BlockedAccount): Promise<void>
  blockServer(block: BlockedServer): Promise<void>
  /** Throws `not_found`. */
  unblockServer(block: BlockedServer): Promise<void>
}

export function makeBlocklist({ tell }: ActorDeps): Blocklist {
  return {
    async blockAccount({ ownerId, targetId }) {
      await tell.create(async (unit) => {
        const [block] = await unit.query<{ id: number }>(
          `insert into account_block (owner_id, target_id, created_at) select $1::int, a.id, $3 from account a where a.id = $2
           on conflict do nothing returning id`,
          [ownerId, targetId, unit.now],
        )
        if (block) unit.emit({ aggregate: 'account_block', id: block.id }, 'AccountBlocked', { blockId: block.id })
      })
    },

    async unblockAccount({ ownerId, targetId }) {
      await tell.create(async (unit) => {
        const gone = await unit.query(
          'delete from account_block where owner_id is not distinct from $1::int and target_id = $2 returning id',
          [ownerId, targetId],
        )
        if (gone.length === 0) throw notFound('Account block entry not found.')
      })
    },

    async blockServer({ ownerId, host }) {
      await tell.create(async (unit) => {
        const [block] = await unit.query<{ id: number }>(
          `insert into server_block (owner_id, host, created_at) values ($1, $2, $3)
           on conflict do nothing returning id`,
          [ownerId, host.toLowerCase(), unit.now],
        )
        if (block) unit.emit({ aggregate: 'server_block', id: block.id }, 'ServerBlocked', { blockId: block.id })
      })
    },

    async unblockServer({ ownerId, host }) {
      await tell.create(async (unit) => {
        const gone = await unit.query(
          'delete from server_block where owner_id is not distinct from $1::int and host = $2 returning id',
          [ownerId, host.toLowerCase()],
        )
        if (gone.length === 0) throw notFound('Server block entry not found.')
      })
    },
  }
}
