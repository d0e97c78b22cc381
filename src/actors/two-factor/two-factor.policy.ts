// Who may change the two-factor login of a user.

import { type UserRole, userRoles } from '../user/user.entity.ts'

/** The requester. */
export interface Asker {
  id: number
  username: string
  role: UserRole
}

/** Users for themselves, administrators for everybody, moderators for plain users. */
export function mayChangeTwoFactor(asker: Asker, user: { id: number; role: UserRole }): boolean {
  if (asker.id === user.id || asker.role === userRoles.administrator) return true
  return asker.role === userRoles.moderator && user.role === userRoles.user
}
