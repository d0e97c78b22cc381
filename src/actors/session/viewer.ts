import type { UserRole } from '../user/user.entity.ts'

/** The requester: the user of a session, or null for visitors. */
export type Viewer = { accountId: number; role: UserRole } | null
