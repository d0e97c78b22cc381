// Sessions: OAuth 2.0 password and refresh grants (RFC 6749, 4.3 and 6). Tokens are stored as hashes; one access token per session; refresh
// tokens rotate, and reusing an old one ends the session (RFC 9700, 4.14.2).

import { z } from 'zod'
import type { Bus } from '../../platform/bus/index.ts'
import { randomToken, sha256 } from '../../platform/ids.ts'
import { canonicalAddress } from '../../platform/mail-address.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import { type ActorDeps, DomainError, type GuessLimits, type Unit } from '../runtime/index.ts'
import { checkCode, spendCode } from '../two-factor/index.ts'
import type { UserRole } from '../user/user.entity.ts'
import { NOTE_LOGIN } from '../user/user.writes.ts'

export interface Session {
  id: number
  user: {
    id: number
    username: string
    role: UserRole
    accountId: number
    /** Row id of the account's actor. */
    actorId: number
    /** Bytes; -1 for no limit. */
    videoQuota: number
    videoQuotaDaily: number
  }
  /** The user's policy for sensitive videos in lists. */
  nsfwPolicy: string
  /** True if the user mutes accounts or servers. */
  mutes: boolean
}

/** The session of a page's viewer. */
export type Visit = Session

export interface Tokens {
  access_token: string
  refresh_token: string
  /** Seconds. */
  expires_in: number
  refresh_token_expires_in: number
}

export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

export interface PasswordLogin {
  client: ClientCredentials
  /** Or the e-mail address. */
  username: string
  password: string
  /** Code of the authenticator app, for users with two-factor login. */
  code?: string | undefined
}

export interface Sessions {
  /**
   * Password grant. Throws `invalid` with the contract's OAuth code, and `unauthenticated` (`missing_two_factor`) if only a code is
   * missing.
   */
  login(login: PasswordLogin): Promise<Tokens>
  refresh(client: ClientCredentials, refreshToken: string): Promise<Tokens>
  /**
   * The session of an access token, cached for a second. Its end and changes of its user take effect at once in the process that wrote
   * them, and in the others when they are notified.
   */
  authenticate(accessToken: string): Promise<Session | null>
  /** The same, for pages. */
  visit(accessToken: string): Promise<Visit | null>
  /** Which of these sessions have ended or have an expired access token: for long-lived connections. */
  ended(sessionIds: readonly number[]): Promise<number[]>
  end(sessionId: number): Promise<void>
}

/**
 * Runs in the transaction that blocks a user or changes a password: ends all sessions of the user, except for that of the requester, if it
 * may stay.
 */
export async function endSessions(unit: Pick<Unit, 'query' | 'publish'>, userId: number, except?: number): Promise<void> {
  await unit.query('delete from session where user_id = $1 and id is distinct from $2', [userId, except ?? null])
  renewSessions(unit, { user: userId })
}

/** Runs in the transaction that changes the user's data in a session. */
export const renewSessions = (unit: Pick<Unit, 'publish'>, of: { user: number } | { account: number }): void =>
  unit.publish(SESSIONS_CHANGED, of)

type SessionRow = Session['user'] & {
  session_id: number
  access_expires_at: Date
  /** True if the access token is used for the first time. */
  first_use: boolean
  nsfw_policy: string
  mutes: boolean
}

/** The user or applicant with the given name. */
interface LoginRow {
  id: number
  password_hash: string
  blocked: boolean
  email_verified: boolean | null
  /** State of the registration request, if there is no account. */
  registration: string | null
  /** Secret of the authenticator app; null without two-factor login. */
  secret_sealed: string | null
}

const wrongCredentials = (): DomainError =>
  new DomainError('invalid', 'Invalid grant: user credentials are invalid', { code: 'invalid_grant' })

/** The topic: `{ user }` or `{ account }`, whose sessions ended or changed. */
const SESSIONS_CHANGED = 'sessions-changed'
const KEPT_MS = 1000
const MAX_KEPT = 10_000

const TOKEN_BYTES = 20
/** How long a refresh token may be repeated after its exchange, as long as the new tokens are not used. */
const ASKED_TWICE_MS = 10_000
const SWEEP_EVERY_MS = 3_600_000

export function makeSessions(
  deps: ActorDeps & { passwords: Passwords; guesses: GuessLimits; bus: Pick<Bus, 'publish' | 'subscribe'> },
): Sessions {
  const { db, tell, clock, config, passwords, registry, secrets, guesses, bus } = deps
  /** Keyed by the hash of the access token. */
  const kept = makeTtlCache<string, { session: Session; expiresAt: Date }>({ clock, max: MAX_KEPT })
  bus.subscribe(SESSIONS_CHANGED, (payload) => {
    const of = z.object({ user: z.int(), account: z.int() }).partial().parse(payload)
    kept.drop((_hash, { session: { user } }) => user.id === of.user || user.accountId === of.account)
  })
  const changed = async (rows: readonly { user_id: number }[]): Promise<void> => {
    for (const { user_id: user } of rows) await bus.publish(SESSIONS_CHANGED, { user })
  }

  registry.periodic('ended-sessions', {
    everyMs: () => SWEEP_EVERY_MS,
    run: async () => {
      await db.query('delete from session where refresh_expires_at < $1', [clock.now()])
      await db.query('delete from spent_refresh_token where expires_at < $1', [clock.now()])
    },
  })

  async function findClient({ clientId, clientSecret }: ClientCredentials): Promise<number> {
    const [client] = await db.query<{ id: number }>('select id from oauth_client where client_id = $1 and client_secret = $2', [
      clientId,
      clientSecret,
    ])
    if (!client) throw new DomainError('invalid', 'Invalid client: client is invalid', { code: 'invalid_client' })
    return client.id
  }

  /** A user by name or address, or the applicant with these. */
  async function findByLogin(username: string): Promise<LoginRow | undefined> {
    const [user] = await db.query<LoginRow>(
      `select known.id, password_hash, blocked, email_verified, registration, t.secret_sealed from (
         select id, password_hash, blocked, email_verified, null as registration, lower(username) = lower($1) as by_name
         from users where lower(username) = lower($1) or lower(email) in (lower($1), lower($2))
         union all
         select id, password_hash, false, null, state, lower(username) = lower($1)
         from registration where password_hash is not null and (lower(username) = lower($1) or lower(email) in (lower($1), lower($2)))
       ) known left join two_factor t on known.registration is null and t.user_id = known.id and t.state = 'on'
       order by registration is null desc, by_name desc limit 1`,
      [username, canonicalAddress(username)],
    )
    return user
  }

  /** Revealed only with the correct password. */
  function refuseUnready({ registration, blocked, email_verified }: LoginRow): void {
    if (registration === 'rejected') {
      throw new DomainError('invalid', 'Registration approval for this account has been rejected', {
        code: 'account_approval_rejected',
      })
    }
    if (registration !== null) {
      throw new DomainError('invalid', 'Registration for this account is awaiting approval', {
        code: 'account_waiting_for_approval',
      })
    }
    if (blocked) throw new DomainError('invalid', 'User is blocked.', { code: 'access_denied' })
    if (email_verified === false && config().signup.requires_email_verification) {
      throw new DomainError('invalid', 'User email is not verified.', { code: 'access_denied' })
    }
  }

  /** New tokens with their hashes and expiries. */
  function mint() {
    const now = clock.now().getTime()
    const lifetime = config().oauth2.token_lifetime
    const access = randomToken(TOKEN_BYTES)
    const refresh = randomToken(TOKEN_BYTES)
    return {
      values: [sha256(access), new Date(now + lifetime.access_token), sha256(refresh), new Date(now + lifetime.refresh_token)],
      tokens: {
        access_token: access,
        refresh_token: refresh,
        expires_in: Math.floor(lifetime.access_token / 1000) - 1,
        refresh_token_expires_in: Math.floor(lifetime.refresh_token / 1000) - 1,
      },
    }
  }

  async function authenticate(accessToken: string): Promise<Session | null> {
    const hash = sha256(accessToken)
    const key = hash.toString('base64')
    const known = kept.find(key)
    if (known && known.expiresAt > clock.now()) return known.session
    const keep = kept.reading(KEPT_MS)
    const [row] = await db.query<SessionRow>(
      `select s.id as session_id, s.access_expires_at, s.spent_refresh_token_hash is not null as first_use, u.nsfw_policy, u.id, u.username,
         u.role, a.id as "accountId", a.actor_id as "actorId", u.video_quota as "videoQuota",
         u.video_quota_daily as "videoQuotaDaily",
         exists (select from account_block where owner_id = a.id) or exists (select from server_block where owner_id = a.id) as mutes
       from session s join users u on u.id = s.user_id join account a on a.user_id = u.id
       where s.access_token_hash = $1 and s.access_expires_at > $2 and not u.blocked`,
      [hash, clock.now()],
    )
    if (!row) return null
    const { session_id, access_expires_at: expiresAt, first_use, nsfw_policy: nsfwPolicy, mutes, ...user } = row
    if (first_use) {
      // The client has the new tokens: from now on, the previous refresh token must not be used.
      await db.query('update session set spent_refresh_token_hash = null where id = $1 and access_token_hash = $2', [session_id, hash])
    }
    const session = { id: session_id, user, nsfwPolicy, mutes }
    keep(key, { session, expiresAt })
    return session
  }

  return {
    async login({ client, username, password, code }) {
      const clientId = await findClient(client)
      const user = await findByLogin(username)
      if (!(await passwords.verify(user?.password_hash, password)) || !user) throw wrongCredentials()
      refuseUnready(user)
      const { secret_sealed: secretSealed } = user
      const checked =
        secretSealed === null
          ? undefined
          : await checkCode({ guesses, userId: user.id, secretSealed, open: secrets.open, code, now: clock.now() })

      const { values, tokens } = mint()
      await tell.create(async (unit) => {
        // The row's lock orders this before or after a password change or a block, which end existing sessions.
        const same = await unit.query(
          `${NOTE_LOGIN} where id = $1 and password_hash = $2 and not blocked
             and ($4 or not exists (select 1 from two_factor where user_id = $1 and state = 'on')) returning id`,
          [user.id, user.password_hash, unit.now, checked !== undefined],
        )
        if (same.length === 0) throw wrongCredentials()
        if (checked) await spendCode(unit.query, user.id, checked)
        await unit.query(
          `insert into session (user_id, client_id, access_token_hash, access_expires_at, refresh_token_hash, refresh_expires_at)
           values ($1, $2, $3, $4, $5, $6)`,
          [user.id, clientId, ...values],
        )
      })
      return tokens
    },

    async refresh(client, refreshToken) {
      const clientId = await findClient(client)
      const spent = sha256(refreshToken)
      const { values, tokens } = mint()
      const rows = await db.query<{ user_id: number }>(
        `with rotated as (
           update session set access_token_hash = $4, access_expires_at = $5, refresh_token_hash = $6,
             refresh_expires_at = $7, spent_refresh_token_hash = $1, updated_at = $3
           where refresh_token_hash = $1 and refresh_expires_at > $3 and client_id = $2
             and not exists (select 1 from users u where u.id = session.user_id and u.blocked)
           returning id, user_id
         ), active as (
           ${NOTE_LOGIN}
           where id in (select u.id from users u join rotated r on r.user_id = u.id for no key update of u skip locked)
         ) insert into spent_refresh_token (token_hash, session_id, expires_at)
         select $1, rotated.id, $7 from rotated
         returning (select user_id from rotated) as user_id`,
        [spent, clientId, clock.now(), ...values],
      )
      if (rows.length === 0) {
        // Somebody has a token that was already exchanged: either side may be a thief. A client that sends two concurrent requests, or
        // repeats one after a lost response, is excepted while nobody has used the new tokens.
        await changed(
          await db.query(
            `delete from session s using spent_refresh_token t
             where t.token_hash = $1 and s.id = t.session_id
               and (s.spent_refresh_token_hash is distinct from $1 or s.updated_at <= $2) returning s.user_id`,
            [spent, new Date(clock.now().getTime() - ASKED_TWICE_MS)],
          ),
        )
        throw new DomainError('invalid', 'Invalid grant: refresh token is invalid', { code: 'invalid_grant' })
      }
      await changed(rows)
      return tokens
    },

    authenticate,
    visit: authenticate,

    async ended(sessionIds) {
      const rows = await db.query<{ id: number }>(
        `select asked.id from unnest((select $1::int[])) as asked (id) where not exists (
           select from session s join users u on u.id = s.user_id join account a on a.user_id = u.id
           where s.id = asked.id and s.access_expires_at > $2 and not u.blocked
         )`,
        [sessionIds, clock.now()],
      )
      return rows.map(({ id }) => id)
    },

    async end(sessionId) {
      await changed(await db.query('delete from session where id = $1 returning user_id', [sessionId]))
    },
  }
}
