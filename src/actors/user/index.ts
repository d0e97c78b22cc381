export { type CreatedUser, makeUsers, type NewUser, type Users } from './user.commands.ts'
export { type UserRole, userRoles } from './user.entity.ts'
export { type ActorSummaryRow, findMe, type MeRow, quotaUsed } from './user.queries.ts'
