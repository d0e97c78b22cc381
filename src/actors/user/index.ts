export { type MeChanges, makeUpdateMe, type UpdateMe } from './update-me.ts'
export { type CreatedUser, makeUsers, type NewUser, type Users } from './user.commands.ts'
export { type UserRole, userRoles } from './user.entity.ts'
export { type ActorSummaryRow, findMe, type MeRow, quotaUsed } from './user.queries.ts'
