// Commands on users for the operator at the command line, without a login.

import type { Columns, Database } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import { notFound } from '../runtime/index.ts'
import type { ManageUsers } from './manage-users.ts'
import type { Users } from './user.commands.ts'
import { type User, type UserRole, userRoles } from './user.entity.ts'

const PASSWORD_BYTES = 8

export type Operator = ReturnType<typeof makeOperator>

export function makeOperator(deps: { db: Database; users: Users & ManageUsers }) {
  const { db, users } = deps
  return {
    /** Returns the new user's password. Throws like `Users.create`. */
    async createUser(user: { username: string; email: string; role: UserRole }): Promise<string> {
      const password = randomToken(PASSWORD_BYTES)
      await users.create({ ...user, password, emailVerified: true })
      return password
    },

    /** Ends all sessions of the user; returns the new password. Throws `not_found`. */
    async resetPassword(username: string): Promise<string> {
      const [user] = await db.query<Columns<User, 'id'>>('select id from users where lower(username) = lower($1)', [username])
      if (!user) throw notFound(`There is no user ${username}.`)
      const password = randomToken(PASSWORD_BYTES)
      await users.update(user.id, { id: 0, sessionId: 0, role: userRoles.administrator }, { password })
      return password
    },
  }
}
