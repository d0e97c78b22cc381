// Who may export whose data, and with which options. Pure.

import type { Config } from '../../config/index.ts'
import { DomainError } from '../runtime/index.ts'
import { hasRight, type UserRole } from '../user/index.ts'

/** The requester of an operation on the exports of a user. */
export interface ExportManager {
  userId: number
  role: UserRole
}

type Rules = Config['export']['users']

/** Throws `invalid` if the administrator disabled exports. */
export function assertExportsEnabled({ enabled }: Pick<Rules, 'enabled'>): void {
  if (!enabled) throw new DomainError('invalid', 'User export is disabled on this instance')
}

/** Moderators have no access to private data of users. */
export const mayManage = (by: ExportManager, userId: number): boolean => by.userId === userId || hasRight(by.role, 'MANAGE_USER_EXPORTS')

/** Throws `forbidden`. */
export function assertMayManage(by: ExportManager, userId: number): void {
  if (mayManage(by, userId)) return
  throw new DomainError('forbidden', 'Cannot manage exports of another user')
}

/** Throws `forbidden` for a user whose videos exceed the limit of an archive. */
export function assertFits(bytes: number, { max_user_video_quota }: Pick<Rules, 'max_user_video_quota'>): void {
  if (bytes <= max_user_video_quota) return
  throw new DomainError(
    'forbidden',
    'The videos of this user take more room than this instance allows in an archive: it can be made without them.',
    { code: 'max_user_video_quota_exceeded_for_user_export' },
  )
}
