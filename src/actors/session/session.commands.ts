// Sessions: OAuth 2.0 password and refresh grants (RFC 6749, 4.3 and 6). Tokens are stored as hashes; one access token per session; refresh
// tokens rotate, and reusing an old one ends the session (RFC 9700, 4.14.2).

import { z } from 'zod'
import type { Bus } from '../../platform/bus/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { randomToken, sha256 } from '../../platform/ids.ts'
import { canonicalAddress } from '../../platform/mail-address.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import { type ActorDeps, DomainError, type GuessLimits, notFound } from '../runtime/index.ts'
import { checkCode, spendCode } from '../two-factor/index.ts'
import { type User, userRoles } from '../user/user.entity.ts'
import { NOTE_LOGIN } from '../user/user.writes.ts'
import { makeAskAgain, wrongRefresh } from './ask-again.ts'
import type { ClientCredentials, EnteredUser, ExternalLogins, Session, Sessions, Tokens } from './session.types.ts'
import { renewSessions, SESSIONS_CHANGED } from './session.writes.ts'
import { isApplicationToken, type TokenScope } from './token-scope.ts'

type SessionRow = Session['user'] & {
  session_id: number
  access_expires_at: Date
  /** True if this use must be stored: the first one of an access token, or of an application token in this minute. */
  noted: boolean
  scopes: TokenScope[] | null
  /** Of a login with another system. */
  identity_id: number | null
  nsfw_policy: string
  mutes: boolean
  language: string | null
}

/** The user (`u`) of a session, with the account (`a`). */
const SESSION_USER = `u.nsfw_policy, u.language, u.id, u.username, u.role, a.id as "accountId", a.actor_id as "actorId",
  u.video_quota as "videoQuota", u.video_quota_daily as "videoQuotaDaily",
  exists (select from account_block where owner_id = a.id) or exists (select from server_block where owner_id = a.id) as mutes`

/** The user or applicant with the given name. */
interface LoginRow extends Columns<User, 'id' | 'blocked' | 'emailVerified'> {
  password_hash: string
  /** State of the registration request, if there is no account. */
  registration: string | null
  /** Secret of the authenticator app; null without two-factor login. */
  secret_sealed: string | null
}

const wrongCredentials = (): DomainError =>
  new DomainError('invalid', 'Invalid grant: user credentials are invalid', { code: 'invalid_grant' })

const KEPT_MS = 1000
const MAX_KEPT = 10_000

const TOKEN_BYTES = 20
/** How long a refresh token may be repeated after its exchange, as long as the new tokens are not used. */
const ASKED_TWICE_MS = 10_000
const SWEEP_EVERY_MS = 3_600_000
/** The last use of an application token is stored this often. */
const USE_NOTED_EVERY_MS = 60_000

export function makeSessions(
  deps: ActorDeps & { passwords: Passwords; guesses: GuessLimits; bus: Pick<Bus, 'publish' | 'subscribe'>; external: ExternalLogins },
): Sessions {
  const { db, tell, clock, config, passwords, registry, secrets, guesses, bus, external } = deps
  /** Keyed by the hash of the access token. */
  const kept = makeTtlCache<string, { session: Session; expiresAt: Date }>({ clock, max: MAX_KEPT })
  bus.subscribe(SESSIONS_CHANGED, (payload) => {
    const of = z.object({ user: z.int(), account: z.int() }).partial().parse(payload)
    kept.drop((_hash, known) => known?.session.user.id === of.user || known?.session.user.accountId === of.account)
  })
  const changed = async (rows: readonly { user_id: number }[]): Promise<void> => {
    for (const { user_id: user } of rows) await bus.publish(SESSIONS_CHANGED, { user })
  }

  registry.periodic('ended-sessions', {
    everyMs: () => SWEEP_EVERY_MS,
    run: async () => {
      await db.query('delete from session where refresh_expires_at < $1', [clock.now()])
      await db.query('delete from spent_refresh_token where expires_at < $1', [clock.now()])
      await db.query('delete from application_token where expires_at < $1', [clock.now()])
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

  async function findById(userId: number): Promise<LoginRow | undefined> {
    const [user] = await db.query<LoginRow>(
      `select u.id, password_hash, blocked, email_verified, null as registration, t.secret_sealed
       from users u left join two_factor t on t.user_id = u.id and t.state = 'on' where u.id = $1`,
      [userId],
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

  async function findSession(hash: Buffer): Promise<SessionRow | undefined> {
    const [row] = await db.query<SessionRow>(
      `select s.id as session_id, s.access_expires_at, s.spent_refresh_token_hash is not null as noted, null::text[] as scopes,
         s.external_identity_id as identity_id, ${SESSION_USER}
       from session s join users u on u.id = s.user_id join account a on a.user_id = u.id
       where s.access_token_hash = $1 and s.access_expires_at > $2 and not u.blocked`,
      [hash, clock.now()],
    )
    if (row?.noted) {
      // The client has the new tokens: from now on, the previous refresh token must not be used.
      await db.query('update session set spent_refresh_token_hash = null where id = $1 and access_token_hash = $2', [row.session_id, hash])
    }
    return row
  }

  async function findApplicationToken(hash: Buffer): Promise<SessionRow | undefined> {
    const now = clock.now()
    const before = new Date(now.getTime() - USE_NOTED_EVERY_MS)
    const [row] = await db.query<SessionRow>(
      `select 0 as session_id, t.expires_at as access_expires_at, coalesce(t.last_used_at <= $3, true) as noted, t.scopes,
         null::integer as identity_id, ${SESSION_USER}
       from application_token t join users u on u.id = t.user_id join account a on a.user_id = u.id
       where t.token_hash = $1 and t.expires_at > $2 and not u.blocked`,
      [hash, now, before],
    )
    if (row?.noted) {
      const text = 'update application_token set last_used_at = $2 where token_hash = $1 and coalesce(last_used_at <= $3, true)'
      await db.query(text, [hash, now, before])
    }
    return row
  }

  /** A new session. A login with another system proves the identity there, so no code is asked for. */
  async function open(
    clientId: number,
    user: LoginRow,
    { checked, entered }: { checked?: Awaited<ReturnType<typeof checkCode>> | undefined; entered?: EnteredUser | undefined },
  ): Promise<Tokens> {
    const { values, tokens } = mint()
    await tell.create(async (unit) => {
      // The row's lock orders this before or after a password change or a block, which end existing sessions.
      const same = await unit.query(
        `${NOTE_LOGIN} where id = $1 and password_hash = $2 and not blocked
           and ($4 or not exists (select 1 from two_factor where user_id = $1 and state = 'on')) returning id`,
        [user.id, user.password_hash, unit.now, checked !== undefined || entered !== undefined],
      )
      if (same.length === 0) throw wrongCredentials()
      if (checked) await spendCode(unit.query, user.id, checked)
      await unit.query(
        `insert into session (user_id, client_id, access_token_hash, access_expires_at, refresh_token_hash, refresh_expires_at,
           external_identity_id, external_grant_sealed)
         values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [user.id, clientId, ...values, entered?.identityId ?? null, entered?.grantSealed ?? null],
      )
    })
    return tokens
  }

  const end = async (sessionId: number, heldSince?: Date): Promise<void> => {
    const text = 'delete from session where id = $1 and ($2::timestamptz is null or external_asked_at = $2) returning user_id'
    await changed(await db.query(text, [sessionId, heldSince ?? null]))
  }
  const askAgain = makeAskAgain({ db, tell, clock, external, end })

  /** Ends a session of the user; returns what follows the commit, or undefined if the user has no such session. */
  async function leave(userId: number, id: number): Promise<(() => Promise<string | undefined>) | undefined> {
    return await tell({ aggregate: 'user', id: userId }, async (unit) => {
      const [ended] = await unit.query<{ identityId: number | null; grantSealed: string | null }>(
        `delete from session where id = $1 and user_id = $2
         returning external_identity_id as "identityId", external_grant_sealed as "grantSealed"`,
        [id, userId],
      )
      if (!ended) return undefined
      renewSessions(unit, { user: userId })
      const { identityId, grantSealed } = ended
      return identityId === null ? async () => undefined : await external.leave(unit, { id, identityId, grantSealed })
    })
  }

  async function authenticate(accessToken: string): Promise<Session | null> {
    const hash = sha256(accessToken)
    const key = hash.toString('base64')
    const known = kept.find(key)
    if (known && known.expiresAt > clock.now()) return known.session
    const keep = kept.reading(KEPT_MS)
    const row = isApplicationToken(accessToken) ? await findApplicationToken(hash) : await findSession(hash)
    if (!row) return null
    const { session_id: id, access_expires_at: expiresAt, noted: _, scopes, identity_id: identityId, ...rest } = row
    if (identityId !== null && !(await external.isValid(identityId))) {
      await end(id)
      return null
    }
    const { nsfw_policy: nsfwPolicy, mutes, language, ...user } = rest
    const role = scopes === null || scopes.includes('admin') ? user.role : userRoles.user
    const session = { id, scopes, user: { ...user, role }, nsfwPolicy, mutes, language }
    keep(key, { session, expiresAt })
    return session
  }

  return {
    async login({ client, username, password, code }) {
      const clientId = await findClient(client)
      const local = await findByLogin(username)
      const isLocal = (await passwords.verify(local?.password_hash, password)) && config().vireo.auth.local_passwords
      const entered = isLocal ? undefined : await external.byPassword(username, password)
      const user = isLocal ? local : entered && (await findById(entered.userId))
      if (!user) throw wrongCredentials()
      refuseUnready(user)
      const { secret_sealed: secretSealed } = user
      const checked =
        secretSealed === null
          ? undefined
          : await checkCode({ guesses, userId: user.id, secretSealed, open: secrets.open, code, now: clock.now() })

      return await open(clientId, user, { checked, entered })
    },

    async loginByToken({ client, username, externalAuthToken }) {
      const clientId = await findClient(client)
      const entered = await external.byToken(username, externalAuthToken)
      const user = entered && (await findById(entered.userId))
      if (!user) throw wrongCredentials()
      refuseUnready(user)
      return await open(clientId, user, { entered })
    },

    async refresh(client, refreshToken) {
      const clientId = await findClient(client)
      const spent = sha256(refreshToken)
      const grant = await askAgain(spent, clientId)
      const { values, tokens } = mint()
      const rows = await db.query<{ user_id: number }>(
        `with rotated as (
           update session set access_token_hash = $4, access_expires_at = $5, refresh_token_hash = $6,
             refresh_expires_at = $7, spent_refresh_token_hash = $1, updated_at = $3, external_grant_sealed = $8,
             external_asked_at = null
           where refresh_token_hash = $1 and refresh_expires_at > $3 and client_id = $2
             and not exists (select 1 from users u where u.id = session.user_id and u.blocked)
           returning id, user_id
         ), active as (
           ${NOTE_LOGIN}
           where id in (select u.id from users u join rotated r on r.user_id = u.id for no key update of u skip locked)
         ) insert into spent_refresh_token (token_hash, session_id, expires_at)
         select $1, rotated.id, $7 from rotated
         returning (select user_id from rotated) as user_id`,
        [spent, clientId, clock.now(), ...values, grant],
      )
      // It was the right token when the system was asked, so another request was faster.
      if (rows.length === 0 && grant !== null) throw wrongRefresh()
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
        throw wrongRefresh()
      }
      await changed(rows)
      return tokens
    },

    authenticate,
    async visit(accessToken) {
      const session = await authenticate(accessToken)
      return session?.scopes ? null : session
    },

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

    end,

    logout: async ({ id, user }) => await (await leave(user.id, id))?.(),

    async endOwn(userId, id) {
      const left = await leave(userId, id)
      if (!left) throw notFound('Session not found')
      await left()
    },
  }
}
