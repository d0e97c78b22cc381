// Who may have an archive of whose data, and what it may be asked for with. Pure.

import type { Config } from '../../config/index.ts'
import { DomainError } from '../runtime/index.ts'
import { hasRight, type UserRole } from '../user/index.ts'

/** Who asks for something to be done with the exports of a user. */
export interface ExportManager {
  userId: number
  role: UserRole
}

type Rules = Config['export']['users']

/** Throws `invalid` when the administrator does not want exports. */
export function assertExportsEnabled({ enabled }: Pick<Rules, 'enabled'>): void {
  if (!enabled) throw new DomainError('invalid', 'User export is disabled on this instance')
}

/** Moderators have nothing to do with what is private to a user. */
export const mayManage = (by: ExportManager, userId: number): boolean => by.userId === userId || hasRight(by.role, 'MANAGE_USER_EXPORTS')

/** Throws `forbidden`. */
export function assertMayManage(by: ExportManager, userId: number): void {
  if (mayManage(by, userId)) return
  throw new DomainError('forbidden', 'Cannot manage exports of another user')
}

/** Throws `forbidden` for a user whose videos take more bytes than an archive may hold. */
export function assertFits(bytes: number, { max_user_video_quota }: Pick<Rules, 'max_user_video_quota'>): void {
  if (bytes <= max_user_video_quota) return
  throw new DomainError(
    'forbidden',
    'The videos of this user take more room than this instance allows in an archive: it can be made without them.',
    { code: 'max_user_video_quota_exceeded_for_user_export' },
  )
}
