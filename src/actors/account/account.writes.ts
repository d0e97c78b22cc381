// Writes of accounts in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'
import { Account } from './account.entity.ts'

export const createAccount = ({ em, now }: Unit, account: Pick<Account, 'actorId' | 'userId' | 'name'>): Account =>
  em.create(Account, { ...account, createdAt: now, updatedAt: now })

/** Changes public data, which other servers are notified of. Without a display name, the user name is used. */
export async function changeAccount(
  unit: Unit,
  user: { id: number; username: string },
  { displayName, description }: { displayName?: string | null | undefined; description?: string | null | undefined },
): Promise<void> {
  if (displayName === undefined && description === undefined) return
  const account = await unit.em.findOneOrFail(Account, { userId: user.id })
  const before = { name: account.name, description: account.description }
  if (displayName !== undefined) account.name = displayName ?? user.username
  if (description !== undefined) account.description = description
  if (account.name === before.name && account.description === before.description) return
  account.updatedAt = unit.now
  unit.emit({ aggregate: 'actor', id: account.actorId }, 'ActorUpdated', { actorId: account.actorId })
}

/** The account of a remote actor, as its document describes it. */
export async function storeRemoteAccount(
  unit: Unit,
  actorId: number,
  { name, summary, createdAt }: { name: string; summary: string | null; createdAt: Date },
): Promise<void> {
  await unit.query(
    `insert into account (actor_id, name, description, created_at) values ($1, $2, $3, $5)
     on conflict (actor_id) do update set name = excluded.name, description = excluded.description, updated_at = $4`,
    [actorId, name, summary, unit.now, createdAt],
  )
}

export const removeAccount = (query: Sql, accountId: number) => query('delete from account where id = $1', [accountId])
