// Paths that name an account and are only for its owner.

import { findAccount } from '../../actors/account/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { toActorHandle } from './handles.ts'

/** Returns its id. Throws `not_found`, and `forbidden` for the account of another user. */
export async function ownAccountCalled(
  { db, urls }: { db: Database; urls: { host: string } },
  handle: string,
  { user }: Session,
): Promise<number> {
  const account = await findAccount(db, toActorHandle(handle, urls.host))
  if (!account) throw notFound('Account not found')
  if (account.id !== user.accountId) {
    throw new DomainError('forbidden', 'Only the owner of this account may see and change this.')
  }
  return account.id
}
