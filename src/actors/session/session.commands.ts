// Sessions: OAuth 2.0 password and refresh grants (RFC 6749, 4.3 and 6). Tokens are stored as hashes; one access
// token a session; refresh tokens rotate, and using an old one again ends the session (RFC 9700, 4.14.2).

import type { Sql } from '../../platform/database/index.ts'
import { randomToken, sha256 } from '../../platform/ids.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import type { UserRole } from '../user/user.entity.ts'

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
}

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

export interface Sessions {
  /** Password grant, by username or e-mail address. Throws `invalid` with the contract's OAuth code. */
  login(client: ClientCredentials, username: string, password: string): Promise<Tokens>
  refresh(client: ClientCredentials, refreshToken: string): Promise<Tokens>
  /** The session of an access token, asked of the database each time, so that its end shows at once everywhere. */
  authenticate(accessToken: string): Promise<Session | null>
  end(sessionId: number): Promise<void>
}

/**
 * In the transaction that blocks a user or changes a password: all sessions of the user end, but for the one that asked,
 * if that stays. Every request asks the database for its session, so they are over at once everywhere.
 */
export async function endSessions(query: Sql, userId: number, except?: number): Promise<void> {
  await query('delete from session where user_id = $1 and id is distinct from $2', [userId, except ?? null])
}

interface LoginRow {
  id: number
  password_hash: string
  blocked: boolean
  email_verified: boolean | null
  /** State of the request for an account, where there is no account. */
  registration: string | null
}

const TOKEN_BYTES = 20
const SWEEP_EVERY_MS = 3_600_000

export function makeSessions(deps: ActorDeps & { passwords: Passwords }): Sessions {
  const { db, clock, config, passwords, registry } = deps

  registry.periodic('ended-sessions', {
    everyMs: () => SWEEP_EVERY_MS,
    run: async () => {
      await db.query('delete from session where refresh_expires_at < $1', [clock.now()])
    },
  })

  async function findClient({ clientId, clientSecret }: ClientCredentials): Promise<number> {
    const [client] = await db.query<{ id: number }>(
      'select id from oauth_client where client_id = $1 and client_secret = $2',
      [clientId, clientSecret],
    )
    if (!client) throw new DomainError('invalid', 'Invalid client: client is invalid', { code: 'invalid_client' })
    return client.id
  }

  /** A user by name or address, or else whoever asked for an account with these. */
  async function findByLogin(username: string): Promise<LoginRow | undefined> {
    const [user] = await db.query<LoginRow>(
      `select id, password_hash, blocked, email_verified, registration from (
         select id, password_hash, blocked, email_verified, null as registration, lower(username) = lower($1) as by_name
         from users where lower(username) = lower($1) or lower(email) = lower($1)
         union all
         select id, password_hash, false, null, state, lower(username) = lower($1)
         from registration where password_hash is not null and (lower(username) = lower($1) or lower(email) = lower($1))
       ) known order by registration is null desc, by_name desc limit 1`,
      [username],
    )
    return user
  }

  /** Told only to who knows the password. */
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

  /** New tokens with their hashes and ends. */
  function mint() {
    const now = clock.now().getTime()
    const lifetime = config().oauth2.token_lifetime
    const access = randomToken(TOKEN_BYTES)
    const refresh = randomToken(TOKEN_BYTES)
    return {
      values: [
        sha256(access),
        new Date(now + lifetime.access_token),
        sha256(refresh),
        new Date(now + lifetime.refresh_token),
      ],
      tokens: {
        access_token: access,
        refresh_token: refresh,
        expires_in: Math.floor(lifetime.access_token / 1000) - 1,
        refresh_token_expires_in: Math.floor(lifetime.refresh_token / 1000) - 1,
      },
    }
  }

  return {
    async login(client, username, password) {
      const clientId = await findClient(client)
      const user = await findByLogin(username)
      if (!(await passwords.verify(user?.password_hash, password)) || !user) {
        throw new DomainError('invalid', 'Invalid grant: user credentials are invalid', { code: 'invalid_grant' })
      }
      refuseUnready(user)
      const { values, tokens } = mint()
      await db.query(
        `with login as (update users set last_login_at = $3 where id = $1)
         insert into session (user_id, client_id, access_token_hash, access_expires_at, refresh_token_hash, refresh_expires_at)
         values ($1, $2, $4, $5, $6, $7)`,
        [user.id, clientId, clock.now(), ...values],
      )
      return tokens
    },

    async refresh(client, refreshToken) {
      const clientId = await findClient(client)
      const spent = sha256(refreshToken)
      const { values, tokens } = mint()
      const rows = await db.query(
        `update session set access_token_hash = $4, access_expires_at = $5, refresh_token_hash = $6, refresh_expires_at = $7,
           spent_refresh_token_hash = $1, updated_at = $3
         where refresh_token_hash = $1 and refresh_expires_at > $3 and client_id = $2
           and not exists (select 1 from users u where u.id = session.user_id and u.blocked)
         returning id`,
        [spent, clientId, clock.now(), ...values],
      )
      if (rows.length === 0) {
        // Somebody has a token that was already exchanged: either side may be a thief.
        await db.query('delete from session where spent_refresh_token_hash = $1', [spent])
        throw new DomainError('invalid', 'Invalid grant: refresh token is invalid', { code: 'invalid_grant' })
      }
      return tokens
    },

    async authenticate(accessToken) {
      const [row] = await db.query<Session['user'] & { session_id: number }>(
        `select s.id as session_id, u.id, u.username, u.role, a.id as "accountId", a.actor_id as "actorId",
           u.video_quota as "videoQuota", u.video_quota_daily as "videoQuotaDaily"
         from session s join users u on u.id = s.user_id join account a on a.user_id = u.id
         where s.access_token_hash = $1 and s.access_expires_at > $2 and not u.blocked`,
        [sha256(accessToken), clock.now()],
      )
      if (!row) return null
      const { session_id, ...user } = row
      return { id: session_id, user }
    },

    async end(sessionId) {
      await db.query('delete from session where id = $1', [sessionId])
    },
  }
}
