// Changes by users of their own data: settings, name and description, address and password.

import { type Columns, isUniqueViolation } from '../../platform/database/index.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { changeAccount } from '../account/account.writes.ts'
import { queueMail } from '../mail/index.ts'
import { type ActorDeps, DomainError, type GuessLimits, notFound, type Unit } from '../runtime/index.ts'
import { endSessions, renewSessions } from '../session/index.ts'
import { User } from './user.entity.ts'

export interface UserSettings {
  emailPublic: boolean
  theme: string
  nsfwPolicy: string
  p2pEnabled: boolean
  videosHistoryEnabled: boolean
  autoPlayVideo: boolean
  autoPlayNextVideo: boolean
  autoPlayNextVideoPlaylist: boolean
  videoLanguages: string[] | null
  /** Of the pages, BCP 47. */
  language: string
  noInstanceConfigWarningModal: boolean
  noWelcomeModal: boolean
  noAccountSetupWarningModal: boolean
}

/** Fields to change. Omitted fields stay. */
export interface MeChanges {
  settings: Partial<UserSettings>
  /** Null: the user's name. */
  displayName?: string | null | undefined
  description?: string | null | undefined
  email?: string | undefined
  password?: string | undefined
  /** Required for a new address or password. */
  currentPassword?: string | undefined
}

/**
 * A new password ends all sessions but `sessionId`. A new address replaces the old one once it is verified, if this server verifies
 * addresses. Throws `invalid` without the current password, `unauthenticated` (`current_password_is_invalid`) with a wrong one, `invalid`
 * for the address of another user.
 */
export type UpdateMe = (me: { userId: number; sessionId: number }, changes: MeChanges) => Promise<void>

export function makeUpdateMe(deps: ActorDeps & { passwords: Passwords; guesses: GuessLimits }): UpdateMe {
  const { db, tell, config, passwords, guesses } = deps

  return async function updateMe({ userId, sessionId }, changes) {
    const secrets = await checkSecrets(userId, changes)
    try {
      await tell({ aggregate: 'user', id: userId }, async (unit) => {
        const user = await unit.em.findOneOrFail(User, userId)
        // The password may have been changed since it was checked.
        if (secrets && secrets.checkedHash !== user.passwordHash) throw wrongPassword()
        Object.assign(user, changes.settings, { updatedAt: unit.now })
        renewSessions(unit, { user: userId })
        if (secrets?.newHash !== undefined) {
          user.passwordHash = secrets.newHash
          unit.note({ domain: 'users', action: 'update', id: userId, entity: { id: userId, password: 'changed' } })
          await endSessions(unit, userId, sessionId)
        }
        if (changes.email !== undefined) await changeEmail(unit, user, changes.email)
        await changeAccount(unit, user, changes)
        await unit.em.flush()
      })
    } catch (error) {
      throw isUniqueViolation(error, 'users_email') ? takenEmail(changes.email) : error
    }
  }

  /** Before the transaction, since hashing takes long. Undefined if nothing of it changes. */
  async function checkSecrets(
    userId: number,
    { email, password, currentPassword }: MeChanges,
  ): Promise<{ checkedHash: string; newHash: string | undefined } | undefined> {
    if (email === undefined && password === undefined) return undefined
    if (currentPassword === undefined) throw new DomainError('invalid', 'currentPassword parameter is missing')
    const [user] = await db.query<Columns<User, 'passwordHash'>>('select password_hash from users where id = $1', [userId])
    if (!user) throw notFound('User not found')
    await guesses.check(`password:${userId}`, async () => {
      if (!(await passwords.verify(user.password_hash, currentPassword))) throw wrongPassword()
    })
    const newHash = password === undefined ? undefined : await passwords.hash(password)
    return { checkedHash: user.password_hash, newHash }
  }

  async function changeEmail(unit: Unit, user: User, email: string): Promise<void> {
    if (email.toLowerCase() === user.email.toLowerCase()) {
      user.pendingEmail = null
      user.email = email
      return
    }
    const [taken] = await unit.query('select 1 from users where lower(email) = lower($1)', [email])
    if (taken) throw takenEmail(email)
    if (config().signup.requires_email_verification) {
      user.pendingEmail = email
      queueMail(unit, { mail: 'verify-email', userId: user.id, pending: true })
    } else {
      user.email = email
      user.emailVerified = null
      user.pendingEmail = null
    }
  }
}

const wrongPassword = (): DomainError =>
  new DomainError('unauthenticated', 'currentPassword is invalid.', { code: 'current_password_is_invalid' })

const takenEmail = (email: string | undefined): DomainError =>
  new DomainError('invalid', 'The address cannot be used.', {
    invalidParams: [{ name: 'email', location: 'body', msg: 'This email is already taken', value: email }],
  })
