// Management of users by the staff: change, block, unblock and removal; and users who delete their own account.

import { isMailEnabled } from '../../config/index.ts'
import { isUniqueViolation } from '../../platform/database/errors.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { initialUser, type UserState, userMachine } from '../../state-machines/user.ts'
import { markActorsRemoved } from '../actor/actor.writes.ts'
import { queueMail } from '../mail/index.ts'
import { type ActorDeps, advance, DomainError, defineLifecycle, notFound, type Unit } from '../runtime/index.ts'
import { endSessions, renewSessions } from '../session/index.ts'
import { User, type UserRole } from './user.entity.ts'
import { assertMayBlock, assertMayLeave, assertMayRemove, assertMayUpdate, type Manager } from './user.policy.ts'

/** Fields to change. Omitted fields stay. */
export interface UserChanges {
  email?: string | undefined
  emailVerified?: boolean | undefined
  videoQuota?: number | undefined
  videoQuotaDaily?: number | undefined
  role?: UserRole | undefined
  adminFlags?: number | undefined
  pluginAuth?: string | null | undefined
  password?: string | undefined
}

export type ManageUsers = ReturnType<typeof makeManageUsers>

/** All throw `not_found`, `forbidden` for users whom `by` does not manage, and `invalid` for protected actions on root. */
export function makeManageUsers(deps: ActorDeps & { passwords: Passwords }) {
  const { tell, config, passwords } = deps

  const change = (userId: number, apply: (unit: Unit, user: User) => Promise<void>): Promise<void> =>
    tell({ aggregate: 'user', id: userId }, async (unit) => {
      const user = await unit.em.findOneOrFail(User, userId)
      if (user.state === 'deleted') throw userNotFound()
      await apply(unit, user)
      user.updatedAt = unit.now
      renewSessions(unit, { user: userId })
    })

  return {
    /** A new password ends the sessions of the user, except for that of the requester. Throws `conflict` for a taken address. */
    async update(userId: number, by: Manager & { sessionId: number }, { password, ...changes }: UserChanges): Promise<void> {
      const passwordHash = password === undefined ? undefined : await passwords.hash(password)
      try {
        await change(userId, async (unit, user) => {
          assertMayUpdate(by, user, changes.role)
          for (const [name, value] of Object.entries(changes)) {
            if (value !== undefined) Object.assign(user, { [name]: value })
          }
          if (passwordHash === undefined) return
          user.passwordHash = passwordHash
          unit.note({ domain: 'users', action: 'update', id: userId, entity: { id: userId, password: 'changed' } })
          await endSessions(unit, userId, by.sessionId)
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new DomainError('conflict', 'Another user has this email address.')
      }
    },

    /** Ends all sessions of the user. */
    block(userId: number, by: Manager, reason: string | null): Promise<void> {
      return change(userId, async (unit, user) => {
        assertMayBlock(by, user)
        advance(unit, userLifecycle, user, { type: 'BLOCKED', reason })
        await endSessions(unit, userId)
        if (isMailEnabled(config())) queueMail(unit, { mail: 'user-blocked', userId })
      })
    },

    unblock(userId: number, by: Manager): Promise<void> {
      return change(userId, async (unit, user) => {
        assertMayBlock(by, user)
        const wasBlocked = user.state === 'blocked'
        advance(unit, userLifecycle, user, { type: 'UNBLOCKED' })
        if (wasBlocked && isMailEnabled(config())) queueMail(unit, { mail: 'user-unblocked', userId })
      })
    },

    /** The user disappears at once, with sessions and actors; a job deletes the user's content. */
    remove: (userId: number, by: Manager): Promise<void> => end(userId, (user) => assertMayRemove(by, user)),
    /** The same, by the user. */
    leave: (userId: number): Promise<void> => end(userId, assertMayLeave),
  }

  async function end(userId: number, assertMay: (user: User) => void): Promise<void> {
    const unusableHash = await passwords.hash(randomToken(32))
    await change(userId, async (unit, user) => {
      assertMay(user)
      advance(unit, userLifecycle, user, { type: 'REMOVED' })
      await endSessions(unit, userId)
      forget(user, unusableHash)
      await markActorsRemoved(
        unit,
        `select a.actor_id from account a where a.user_id = $1
         union all select c.actor_id from channel c join account a on a.id = c.account_id where a.user_id = $1`,
        userId,
      )
      unit.emit({ aggregate: 'user', id: userId }, 'UserRemoved', { userId })
    })
  }
}

const userLifecycle = defineLifecycle({
  table: 'users',
  machine: userMachine,
  initial: initialUser,
  touches: false,
  read: (user: User) => ({ state: user.state as UserState, context: { reason: user.blockedReason ?? null } }),
  columns: ({ state, context }) => ({ state, blockedReason: context.reason }),
  refusal: (state) => new DomainError('conflict', `This user is ${state}.`),
})

/** The row stays until all its content is deleted. The account's actor keeps the name; the address is free. */
function forget(user: User, passwordHash: string): void {
  user.username = `removed:${user.id}`
  user.email = `removed:${user.id}`
  user.passwordHash = passwordHash
  user.pluginAuth = null
}

const userNotFound = (): DomainError => notFound('User not found')
