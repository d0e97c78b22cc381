// Two-factor login of a user: requested, confirmed, disabled. The machine `two-factor` decides; secrets are encrypted at rest.

import { generateSecret } from 'otplib'
import type { Aliased, Columns } from '../../platform/database/index.ts'
import { randomToken, sha256 } from '../../platform/ids.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { dueIn, initialTwoFactor, type TwoFactorEvent, type TwoFactorState, twoFactorMachine } from '../../state-machines/two-factor.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, type GuessLimits, notFound, type Unit } from '../runtime/index.ts'
import { renewSessions } from '../session/session.writes.ts'
import { type User, userRoles } from '../user/user.entity.ts'
import { enrolmentUri, stepOfCode } from './one-time-code.ts'
import { guessedCode } from './spend-code.ts'
import type { TwoFactor as TwoFactorEntity } from './two-factor.entity.ts'
import { type Asker, mayChangeTwoFactor } from './two-factor.policy.ts'

export interface TwoFactorRequest {
  requestToken: string
  /** In base 32, for an app without a camera. */
  secret: string
  /** For the QR code. */
  uri: string
}

interface Target
  extends Aliased<User, 'id' | 'email' | 'role' | 'passwordHash'>,
    Aliased<typeof TwoFactorEntity, 'dueAt' | 'secretSealed' | 'requestTokenHash'> {
  /** Row of the two-factor login; null if it was never requested. */
  rowId: number | null
  state: TwoFactorState | null
}

/** The columns that belong to a state. */
interface Secret {
  secretSealed: string | null
  requestTokenHash: Buffer | null
}

const NO_SECRET: Secret = { secretSealed: null, requestTokenHash: null }
const REQUEST_TOKEN_BYTES = 20

export type TwoFactor = ReturnType<typeof makeTwoFactor>

/**
 * All throw `not_found` and `forbidden` for other users, and `invalid` if it is enabled, or disabled, already. Users must give their own
 * password: refused with `current_password_is_invalid`.
 */
export function makeTwoFactor(deps: ActorDeps & { passwords: Passwords; guesses: GuessLimits }) {
  const { db, tell, clock, config, passwords, registry, secrets, urls, guesses } = deps

  registry.timeout('two_factor', {
    of: twoFactorLifecycle,
    timedOut: (id) =>
      tell({ aggregate: 'two_factor', id }, async (unit) => {
        const [late] = await unit.query('select id from two_factor where id = $1 and due_at <= $2', [id, unit.now])
        if (late) await move(unit, id, { type: 'TIMED_OUT' }, NO_SECRET)
      }),
  })

  /** Sends one event to the machine and stores the new state, with its secret. */
  async function move(unit: Unit, id: number, event: TwoFactorEvent, secret: Secret): Promise<void> {
    const [row] = await unit.query<{ state: TwoFactorState }>('select state from two_factor where id = $1', [id])
    const from = { id, state: row?.state ?? 'off' }
    await advanceRow(unit, twoFactorLifecycle, from, event, { ...secret, lastStep: null }, config().vireo.lifetimes)
  }

  /** The row of a user, created in the state `off`. */
  async function rowOf(userId: number): Promise<number> {
    const [row] = await db.query<Columns<typeof TwoFactorEntity, 'id'>>(
      `insert into two_factor (user_id, state) values ($1, $2)
       on conflict (user_id) do update set user_id = excluded.user_id returning id`,
      [userId, initialTwoFactor.state],
    )
    if (!row) throw new Error('The row of the two-factor login could not be stored.')
    return row.id
  }

  async function findTarget(by: Asker, userId: number): Promise<Target> {
    // Plain users cannot find out whether other users exist.
    if (by.id !== userId && by.role === userRoles.user) throw notYours(by)
    const [user] = await db.query<Target>(
      `select u.id, u.email, u.role, u.password_hash as "passwordHash", t.id as "rowId", t.state,
         t.due_at as "dueAt", t.secret_sealed as "secretSealed", t.request_token_hash as "requestTokenHash"
       from users u left join two_factor t on t.user_id = u.id where u.id = $1 and u.state <> 'deleted'`,
      [userId],
    )
    if (!user) throw notFound('User not found')
    if (!mayChangeTwoFactor(by, user)) throw notYours(by)
    return user
  }

  /** A stolen token alone must not be enough to change how its user logs in. */
  async function checkPassword(by: Asker, user: Target, currentPassword: string | undefined): Promise<void> {
    if (by.id !== user.id) return
    if (!currentPassword) throw new DomainError('invalid', 'currentPassword is missing')
    await guesses.check(`password:${user.id}`, async () => {
      if (await passwords.verify(user.passwordHash, currentPassword)) return
      throw new DomainError('forbidden', 'currentPassword is invalid.', { code: 'current_password_is_invalid' })
    })
  }

  return {
    async request(ask: { by: Asker; userId: number; currentPassword?: string | undefined }): Promise<TwoFactorRequest> {
      const { by, userId, currentPassword } = ask
      const user = await findTarget(by, userId)
      await checkPassword(by, user, currentPassword)
      const secret = generateSecret()
      const requestToken = randomToken(REQUEST_TOKEN_BYTES)
      const kept = { secretSealed: secrets.seal(secret), requestTokenHash: sha256(requestToken) }
      const id = await rowOf(userId)
      await tell({ aggregate: 'two_factor', id }, (unit) => move(unit, id, { type: 'REQUESTED' }, kept))
      return { requestToken, secret, uri: enrolmentUri({ issuer: urls.host, label: user.email, secret }) }
    },

    /** Throws `forbidden` if the token is not that of the last request, or the code is wrong. */
    async confirm({ by, userId, requestToken, code }: { by: Asker; userId: number; requestToken: string; code: string }): Promise<void> {
      const user = await findTarget(by, userId)
      if (user.state === 'on') throw alreadyOn()
      const { rowId: id, secretSealed, requestTokenHash, dueAt } = user
      const asked = sha256(requestToken)
      if (id === null || secretSealed === null || dueAt === null || dueAt <= clock.now()) throw wrongRequest()
      if (!requestTokenHash?.equals(asked)) throw wrongRequest()
      // The code is not spent: apps still show it when the user logs in with it for the first time.
      await guesses.check(guessedCode(userId), async () => {
        const step = await stepOfCode(secrets.open(secretSealed), code, clock.now())
        if (step === undefined) throw new DomainError('forbidden', 'Invalid OTP token')
      })

      await tell({ aggregate: 'two_factor', id }, async (unit) => {
        const [same] = await unit.query(`select id from two_factor where id = $1 and (state = 'on' or request_token_hash = $2)`, [
          id,
          asked,
        ])
        if (!same) throw wrongRequest()
        await move(unit, id, { type: 'CONFIRMED' }, { secretSealed, requestTokenHash: null })
        renewSessions(unit, { user: userId })
      })
    },

    async disable({ by, userId, currentPassword }: { by: Asker; userId: number; currentPassword?: string | undefined }): Promise<void> {
      const user = await findTarget(by, userId)
      await checkPassword(by, user, currentPassword)
      const { rowId: id } = user
      if (id === null) throw alreadyOff()
      await tell({ aggregate: 'two_factor', id }, async (unit) => {
        await move(unit, id, { type: 'DISABLED' }, NO_SECRET)
        renewSessions(unit, { user: userId })
      })
    },
  }
}

const twoFactorLifecycle = defineLifecycle({
  table: 'two_factor',
  machine: twoFactorMachine,
  initial: initialTwoFactor,
  dueIn,
  refusal: (_state, { type }) => (type === 'DISABLED' ? alreadyOff() : alreadyOn()),
})

const alreadyOn = (): DomainError => new DomainError('invalid', 'Two factor is already enabled.')

const alreadyOff = (): DomainError => new DomainError('invalid', 'Two factor is already disabled.')

const wrongRequest = (): DomainError => new DomainError('forbidden', 'Invalid request token')

const notYours = (by: Asker): DomainError =>
  new DomainError('forbidden', `User ${by.username} may not change the two-factor login of this user.`)
