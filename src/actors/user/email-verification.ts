// Verification of e-mail addresses: that of the account, or the new one that will replace it.

import { isUniqueViolation } from '../../platform/database/errors.ts'
import type { Columns } from '../../platform/database/index.ts'
import { type MailLinks, NOBODY, newAddressState, queueMail, verifyEmailState } from '../mail/index.ts'
import { type ActorDeps, DomainError, notFound } from '../runtime/index.ts'
import { renewSessions } from '../session/index.ts'
import type { User } from './user.entity.ts'

export type EmailVerification = ReturnType<typeof makeEmailVerification>

export function makeEmailVerification(deps: ActorDeps & { links: MailLinks }) {
  const { db, tell, links } = deps
  return {
    /** Sends the link again if this address is unverified. Does not reveal whether it is known. */
    async askAgain(email: string): Promise<void> {
      const users = await db.query<{ id: number; pending: boolean }>(
        `select id, false as pending from users where lower(email) = lower($1) and email_verified is not true
         union all select id, true from users where lower(pending_email) = lower($1)`,
        [email],
      )
      if (users.length === 0) users.push({ id: NOBODY, pending: false })
      await tell.create(async (unit) => {
        for (const { id, pending } of users) queueMail(unit, { mail: 'verify-email', userId: id, pending })
      })
    },

    /** Throws `not_found` for an unknown user, `forbidden` for an invalid link. */
    async verify(userId: number, secret: string): Promise<void> {
      const check = await links.read('verify-email', secret)
      await withUser(userId, async (unit) => {
        const [user] = await unit.query<Columns<User, 'email' | 'emailVerified'>>('select email, email_verified from users where id = $1', [
          userId,
        ])
        if (!user) throw userNotFound()
        await check(unit.query, { id: userId, state: verifyEmailState(user) })
        await unit.query('update users set email_verified = true, updated_at = $2 where id = $1', [userId, unit.now])
        renewSessions(unit, { user: userId })
      })
    },

    /** Replaces the old address by the pending one. Also throws `conflict` if another user has it by now. */
    async verifyNewAddress(userId: number, secret: string): Promise<void> {
      const check = await links.read('verify-new-email', secret)
      try {
        await withUser(userId, async (unit) => {
          const [user] = await unit.query<Columns<User, 'email' | 'pendingEmail'>>('select email, pending_email from users where id = $1', [
            userId,
          ])
          if (!user) throw userNotFound()
          await check(unit.query, { id: userId, state: newAddressState(user) })
          await unit.query(
            `update users set email = pending_email, pending_email = null, email_verified = true, updated_at = $2
             where id = $1 and pending_email is not null`,
            [userId, unit.now],
          )
          renewSessions(unit, { user: userId })
        })
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new DomainError('conflict', 'Another user has this e-mail address by now.')
      }
    },
  }

  async function withUser(id: number, handler: Parameters<typeof tell>[1]): Promise<void> {
    await tell({ aggregate: 'user', id }, handler).catch((error: unknown) => {
      throw error instanceof DomainError && error.kind === 'not_found' ? userNotFound() : error
    })
  }
}

const userNotFound = (): DomainError => notFound('User not found')
