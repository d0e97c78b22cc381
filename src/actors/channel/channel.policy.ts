// Who may change and remove a channel. Pure.

import { DomainError } from '../runtime/index.ts'
import { hasRight, type UserRole } from '../user/index.ts'

/** Throws `forbidden` unless `by` owns the channel or manages all. Remote channels can be changed only by their own server. */
export function assertMayManageChannel(channel: { accountId: number; remote: boolean }, by: { accountId: number; role: UserRole }): void {
  if (channel.remote) throw new DomainError('forbidden', 'Cannot manage a video channel of another server.')
  if (channel.accountId === by.accountId || hasRight(by.role, 'MANAGE_ANY_VIDEO_CHANNEL')) return
  throw new DomainError('forbidden', 'Cannot manage a video channel of another user.')
}
