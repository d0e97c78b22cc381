export { type EmailVerification, makeEmailVerification } from './email-verification.ts'
export {
  findUser,
  findUserWithStats,
  listUsers,
  namesOfUsers,
  type UserListQuery,
  type UserStats,
  type UserUsage,
} from './list-users.ts'
export { type ManageUsers, makeManageUsers, type UserChanges } from './manage-users.ts'
export { makeOperator, type Operator } from './operator.ts'
export { makePasswordReset, type PasswordReset } from './password-reset.ts'
export { type MeChanges, makeUpdateMe, type UpdateMe } from './update-me.ts'
export { type CreatedUser, makeUsers, type NewUser, type TransactUser, type Users } from './user.commands.ts'
export { type UserRole, userAdminFlags, userRoles } from './user.entity.ts'
export { hasRight, isAdministrator, isStaff, type Manager, type UserRight, userRights } from './user.policy.ts'
export { type ActorSummaryRow, findMe, type MeRow, quotaUsed, type UserRow } from './user.queries.ts'
