// A new password by mail, for users who forgot theirs, and for those created without one.

import type { Columns } from '../../platform/database/index.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { type MailLinks, NOBODY, passwordState, queueMail } from '../mail/index.ts'
import { type ActorDeps, notFound } from '../runtime/index.ts'
import { endSessions } from '../session/index.ts'
import type { User } from './user.entity.ts'

const ASKED_AGAIN_AFTER_MS = 120_000

export type PasswordReset = ReturnType<typeof makePasswordReset>

export function makePasswordReset(deps: ActorDeps & { links: MailLinks; passwords: Passwords }) {
  const { db, tell, clock, links, passwords } = deps
  return {
    /**
     * Sends the link if the address is known, without revealing that. Repeated requests within a short time send nothing: a stranger must
     * neither fill a mailbox nor invalidate link after link. Users of another system get none: it may have removed them.
     */
    async ask(email: string): Promise<void> {
      const [user] = await db.query<{ id: number }>(
        `select id from users u where lower(email) = lower($1) and plugin_auth is null and not exists (
           select 1 from mail_link l where l.purpose = 'password' and l.subject_id = u.id and l.created_at > $2)`,
        [email, new Date(clock.now().getTime() - ASKED_AGAIN_AFTER_MS)],
      )
      await tell.create(async (unit) => queueMail(unit, { mail: 'reset-password', userId: user?.id ?? NOBODY }))
    },

    /** Sets the password and ends all sessions. Throws `not_found` and `forbidden`. */
    async reset(userId: number, secret: string, password: string): Promise<void> {
      const check = await links.read('password', secret)
      const mayReset = async (query: typeof db.query) => {
        const [user] = await query<Columns<User, 'email' | 'passwordHash'>>('select email, password_hash from users where id = $1', [
          userId,
        ])
        if (!user) throw notFound('User not found')
        await check(query, { id: userId, state: passwordState(user) })
      }
      // Hashing is expensive on purpose: it requires a valid link.
      await mayReset(db.query)
      const passwordHash = await passwords.hash(password)
      await tell({ aggregate: 'user', id: userId }, async (unit) => {
        await mayReset(unit.query)
        await unit.query('update users set password_hash = $2, updated_at = $3 where id = $1', [userId, passwordHash, unit.now])
        await endSessions(unit, userId)
      })
    },
  }
}
