// Commands on users for the operator at the command line, without a login.

import type { Columns, Database } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import { notFound } from '../runtime/index.ts'
import type { ManageUsers } from './manage-users.ts'
import type { Users } from './user.commands.ts'
import { type User, type UserRole, userRoles } from './user.entity.ts'

export interface Operator {
  /** Returns the new user's password. Throws like `Users.create`. */
  createUser(user: { username: string; email: string; role: UserRole }): Promise<string>
  /** Ends all sessions of the user; returns the new password. Throws `not_found`. */
  resetPassword(username: string): Promise<string>
}

const PASSWORD_BYTES = 8

export function makeOperator(deps: { db: Database; users: Users & ManageUsers }): Operator {
  const { db, users } = deps
  return {
    async createUser(user) {
      const password = randomToken(PASSWORD_BYTES)
      await users.create({ ...user, password, emailVerified: true })
      return password
    },

    async resetPassword(username) {
      const [user] = await db.query<Columns<User, 'id'>>('select id from users where lower(username) = lower($1)', [username])
      if (!user) throw notFound(`There is no user ${username}.`)
      const password = randomToken(PASSWORD_BYTES)
      await users.update(user.id, { id: 0, sessionId: 0, role: userRoles.administrator }, { password })
      return password
    },
  }
}
