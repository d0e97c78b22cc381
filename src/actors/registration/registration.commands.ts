// Registration: direct, or by a request that moderators approve. The machine `registration` decides which moves are possible.

import { isUniqueViolation } from '../../platform/database/errors.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { initialRegistration, type RegistrationEvent, registrationMachine } from '../../state-machines/registration.ts'
import { type MailLinks, NOBODY, queueMail, registrationState } from '../mail/index.ts'
import { type ActorDeps, advance, DomainError, defineLifecycle, notFound, takes, type Unit } from '../runtime/index.ts'
import { type TransactUser, type Users, userRoles } from '../user/index.ts'
import { Registration } from './registration.entity.ts'
import { isNetworkAllowed, type SignupKind, unreadableNetworks, whyClosed } from './registration.policy.ts'
import { findRegistration, type RegistrationRow } from './registration.queries.ts'

export interface Applicant {
  username: string
  password: string
  email: string
  displayName?: string | null | undefined
  channel?: { name: string; displayName: string } | undefined
}

export interface Decision {
  moderationResponse: string
  /** True to mail the applicant. */
  tell: boolean
}

export type Registrations = ReturnType<typeof makeRegistrations>

export function makeRegistrations(deps: ActorDeps & { users: Users; passwords: Passwords; links: MailLinks }) {
  const { db, tell, config, logger, users, passwords, links } = deps

  const unreadable = unreadableNetworks(config().signup.filters.cidr)
  if (unreadable.length > 0) logger.warn({ unreadable }, 'entries of signup.filters.cidr are no networks')

  /** Applies one event to a registration, under its lock. */
  async function move<T>(id: number, event: RegistrationEvent, then: (unit: Unit, registration: Registration) => Promise<T>): Promise<T> {
    return await tell({ aggregate: 'registration', id }, async (unit) => {
      const registration = await unit.em.findOneOrFail(Registration, id)
      advance(unit, registrationLifecycle, registration, event)
      return await then(unit, registration)
    })
  }

  /** False if addresses must be verified and this one is not yet; null if they need not. */
  const unverified = (): false | null => (config().signup.requires_email_verification ? false : null)

  /** Serialises concurrent registrations, so that only one gets the last place. */
  async function assertRoom(unit: Unit): Promise<void> {
    if (config().signup.limit === -1) return
    await unit.query("select pg_advisory_xact_lock(hashtext('signup'))")
    const closed = await whyClosed(unit, config(), 'direct')
    if (closed !== undefined) throw new DomainError('forbidden', closed)
  }

  return {
    /** Throws `forbidden` while registration is closed (of this kind, or for this IP address). */
    async assertOpen(kind: SignupKind, ip: string): Promise<void> {
      const closed = await whyClosed(db, config(), kind)
      if (closed !== undefined) throw new DomainError('forbidden', closed)
      if (!isNetworkAllowed(ip, config().signup.filters.cidr)) {
        throw new DomainError('forbidden', 'People of your network may not register here.')
      }
    },

    /** Creates the user directly. Throws `conflict` if a name or the address is taken. */
    async register(applicant: Applicant): Promise<void> {
      const emailVerified = unverified()
      const transact: TransactUser = (insert) =>
        tell.create(async (unit) => {
          await assertRoom(unit)
          const created = await insert(unit)
          if (emailVerified === false) queueMail(unit, { mail: 'verify-email', userId: created.id, pending: false })
          unit.emit({ aggregate: 'user', id: created.id }, 'UserRegistered', { userId: created.id })
          return created
        })
      await users.create({ ...account(applicant), emailVerified }, { transact })
    },

    /** Throws `conflict` if a name or the address is taken, or in another request. */
    async request({ reason, ...applicant }: Applicant & { reason: string }): Promise<RegistrationRow> {
      const { username, email, channel } = applicant
      const emailVerified = unverified()
      // Before the expensive hash.
      await refuseTaken(db.query, applicant)
      const passwordHash = await passwords.hash(applicant.password)
      const requested = tell.create(async (unit) => {
        await refuseTaken(unit.query, applicant)
        const registration = unit.em.create(Registration, {
          state: initialRegistration.state,
          context: { emailVerified },
          username,
          passwordHash,
          email,
          accountDisplayName: applicant.displayName ?? null,
          channelHandle: channel?.name ?? null,
          channelDisplayName: channel?.displayName ?? null,
          registrationReason: reason,
          createdAt: unit.now,
          updatedAt: unit.now,
        })
        await unit.em.flush()
        const registrationId = registration.id
        if (emailVerified === false) queueMail(unit, { mail: 'verify-registration', registrationId })
        unit.emit({ aggregate: 'registration', id: registrationId }, 'RegistrationRequested', { registrationId })
        return registrationId
      })
      const id = await requested.catch((error: unknown) => {
        throw isUniqueViolation(error) ? alreadyRequested() : error
      })
      const row = await findRegistration(db, id)
      if (!row) throw registrationNotFound()
      return row
    },

    /** Creates the user. Throws `not_found`, and `conflict` if it is decided already or the names were taken meanwhile. */
    async accept(id: number, decision: Decision): Promise<void> {
      const row = await findRegistration(db, id)
      if (!row) throw registrationNotFound()
      // Keys are generated before the transaction, in vain if it is decided already.
      if (!takes(registrationLifecycle, row, { type: 'ACCEPTED' }) || row.password_hash === null) throw decided()
      const channel =
        row.channel_handle === null
          ? {}
          : { channelName: row.channel_handle, channelDisplayName: row.channel_display_name ?? row.channel_handle }
      const user = {
        username: row.username,
        password: { hash: row.password_hash },
        email: row.email,
        role: userRoles.user,
        emailVerified: row.context.emailVerified,
        displayName: row.account_display_name,
        ...channel,
      }
      const transact: TransactUser = (insert) =>
        move(id, { type: 'ACCEPTED' }, async (unit, registration) => {
          // It may have been verified between the read above and the lock.
          user.emailVerified = registration.context.emailVerified
          const created = await insert(unit)
          registration.userId = created.id
          registration.processedAt ??= unit.now
          registration.passwordHash = null
          registration.moderationResponse = decision.moderationResponse
          if (decision.tell) queueMail(unit, { mail: 'registration-accepted', registrationId: id })
          // The request's own link is invalid now.
          if (user.emailVerified === false) {
            queueMail(unit, { mail: 'verify-email', userId: created.id, pending: false })
          }
          return created
        })
      await users.create(user, { transact })
    },

    async reject(id: number, decision: Decision): Promise<void> {
      await move(id, { type: 'REJECTED' }, async (unit, registration) => {
        registration.processedAt ??= unit.now
        registration.moderationResponse = decision.moderationResponse
        if (decision.tell) queueMail(unit, { mail: 'registration-rejected', registrationId: id })
      })
    },

    /** Deletes the request; its account stays. */
    async remove(id: number): Promise<void> {
      await move(id, { type: 'DELETED' }, async (unit, registration) => {
        unit.em.remove(registration)
      })
    },

    /** Sends the link again to the applicant with this address. Does not reveal whether there is one. */
    async askToVerifyAgain(email: string): Promise<void> {
      const [found] = await db.query<Columns<Registration, 'id'>>(
        "select id from registration where lower(email) = lower($1) and state <> 'accepted'",
        [email],
      )
      if (!found) {
        const nobody = { mail: 'verify-registration', registrationId: NOBODY } as const
        return await tell.create(async (unit) => queueMail(unit, nobody))
      }
      const asked = move(found.id, { type: 'LINK_ASKED' }, async (unit) =>
        queueMail(unit, { mail: 'verify-registration', registrationId: found.id }),
      )
      // Nothing to verify, or removed: the response is the same.
      await asked.catch((error: unknown) => {
        if (!(error instanceof DomainError) || error.kind === 'busy') throw error
      })
    },

    /** Throws `not_found`, and `forbidden` for an invalid link. */
    async verifyEmail(id: number, secret: string): Promise<void> {
      const check = await links.read('verify-registration', secret)
      await tell({ aggregate: 'registration', id }, async (unit) => {
        const registration = await unit.em.findOneOrFail(Registration, id)
        await check(unit.query, { id, state: registrationState(registration) })
        // Decided meanwhile: the account, if there is one, gets a link of its own.
        if (!takes(registrationLifecycle, registration, { type: 'EMAIL_VERIFIED' })) throw refusedLink()
        advance(unit, registrationLifecycle, registration, { type: 'EMAIL_VERIFIED' })
      })
    },
  }
}

const account = ({ username, password, email, displayName, channel }: Applicant) => ({
  username,
  password,
  email,
  role: userRoles.user,
  displayName: displayName ?? null,
  ...(channel ? { channelName: channel.name, channelDisplayName: channel.displayName } : {}),
})

async function refuseTaken(query: Sql, { username, email, channel }: Applicant): Promise<void> {
  const [found] = await query<{ what: 'user' | 'name' | 'request' }>(
    `select 'user' as what from users where lower(username) = lower($1) or lower(email) = lower($2)
     union all select 'request' from registration
       where state <> 'accepted'
         and (lower(username) in (lower($1), lower($3)) or lower(email) = lower($2)
           or lower(channel_handle) in (lower($1), lower($3)))
     union all select 'name' from actor where host_id is null and lower(preferred_username) in (lower($1), lower($3))`,
    [username, email, channel?.name ?? null],
  )
  if (!found) return
  if (found.what === 'user') throw new DomainError('conflict', 'User with this username or email already exists.')
  if (found.what === 'request') throw alreadyRequested()
  throw new DomainError('conflict', 'The name of the account or of the channel was used on this server before.')
}

const registrationLifecycle = defineLifecycle({
  table: 'registration',
  machine: registrationMachine,
  initial: initialRegistration,
  refusal: () => decided(),
})

const decided = (): DomainError => new DomainError('conflict', 'This registration is already accepted or rejected.')

const refusedLink = (): DomainError => new DomainError('forbidden', 'Invalid verification string.')

const alreadyRequested = (): DomainError =>
  new DomainError('conflict', 'Registration with this username, channel name or email already exists.')

const registrationNotFound = (): DomainError => notFound('Registration not found')
