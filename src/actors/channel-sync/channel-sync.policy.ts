// Who may see and change the synchronisations of a channel. Pure.

import { DomainError } from '../runtime/index.ts'
import { hasRight, type UserRole } from '../user/index.ts'

/** Throws `forbidden` unless the account is that of `by`, or `by` manages all channels. */
export function assertMayManageSyncs(owner: { accountId: number; remote: boolean }, by: { accountId: number; role: UserRole }): void {
  if (!owner.remote && owner.accountId === by.accountId) return
  if (!owner.remote && hasRight(by.role, 'MANAGE_ANY_VIDEO_CHANNEL')) return
  throw new DomainError('forbidden', 'Only the owner of this account and the staff may do this.')
}
