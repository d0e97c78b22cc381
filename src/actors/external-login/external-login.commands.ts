// Logins with another system: finds or creates the user of an identity, applies the mapping of groups, and asks again before a session goes
// on. Both kinds of providers end here, so that one place decides.

import type { OpenIdProvider } from '../../config/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { GuardedFetch } from '../../platform/fetch/index.ts'
import { randomToken, sha256 } from '../../platform/ids.ts'
import { memoize } from '../../platform/memoize.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { freeActorName } from '../actor/index.ts'
import { type ActorDeps, cancelJobs, DomainError } from '../runtime/index.ts'
import type { EnteredUser, ExternalLogins } from '../session/index.ts'
import { type ManageUsers, type UserRole, type Users, userRoles } from '../user/index.ts'
import { type Claims, isAllowed, mustLogInAgain, type ProviderRules, readClaims, roleOf } from './claims.ts'
import type { Attempt, OpenIdGrant } from './openid-connect.ts'

/** The names under which clients know the kinds, as those of plugins. */
export const kinds = {
  'openid-connect': { name: 'vireo-openid-connect', npmName: 'peertube-plugin-vireo-openid-connect' },
  ldap: { name: 'vireo-ldap', npmName: 'peertube-plugin-vireo-ldap' },
} as const
export type ProviderKind = keyof typeof kinds

/** The part of a login that happens in the browser. */
export interface BrowserLogins {
  /** The provider's login for the browser, and what the browser keeps, sealed. Throws `not_found` and `unavailable`. */
  begin(name: string, next: string): Promise<{ address: string; sealed: string }>
  /** A token for `POST /users/token`, valid once and with this user name. Throws DomainError, whose message is for the log. */
  finish(name: string, sealed: string, query: string): Promise<{ username: string; token: string; next: string }>
}

/** The name as part of the contract's paths. */
export const callbackPath = (name: string): string => `/plugins/${kinds['openid-connect'].name}/router/${encodeURIComponent(name)}/callback`

const TOKEN_BYTES = 20
/** `lifetimes.pluginExternalAuthMs` of the contract. */
const TOKEN_MS = 300_000
const ATTEMPT_MS = 600_000
const SWEEP_EVERY_MS = 3_600_000
/** A plugin that has not learned of a logout by then is told by a job. */
const LOGOUT_AGAIN_MS = 30_000
const LONGEST_LOCAL_NAME = 50

/** The operator's configuration decides about roles and quotas, as an administrator does. */
const OPERATOR = { id: 0, sessionId: 0, role: userRoles.administrator }

interface StoredIdentity {
  id: number
  user_id: number
  provider: string
  subject: string
  login: string | null
  username: string
  role: UserRole
  video_quota: number
}

interface Provider {
  kind: ProviderKind | 'plugin'
  name: string
  /** The plugin of the users who are made; that of the kind by default. */
  npmName?: string
  rules: ProviderRules
}

/** A user as a plugin knows it. */
export interface PluginUser {
  npmName: string
  authName: string
  user: object
}

/** Logins that plugins check. */
export interface PluginLogins {
  /** Undefined if no plugin knows the user with this password. */
  byPassword(username: string, password: string): Promise<PluginUser | undefined>
  /** True if the plugin is on, and has this login. */
  has(npmName: string, authName: string): Promise<boolean>
  /** True if some plugin wants to be asked whether sessions are valid, as known to this process. */
  checksSessions(): boolean
  /** False if the plugin says so; true if it does not answer within `vireo.plugins.filter_timeout`. */
  isValid(login: PluginUser, type: 'access' | 'refresh'): Promise<boolean>
  /** Tells the plugin, if it wants to know of logouts. Returns the address at which the browser logs out elsewhere too. Throws NotNow while the process of the plugin is away. */
  logout(login: PluginUser): Promise<string | undefined>
}

export function makeExternalLogins(
  deps: ActorDeps & {
    users: Pick<Users, 'create'> & Pick<ManageUsers, 'update'>
    passwords: Pick<Passwords, 'hash'>
    /** For addresses in the configuration, which may be private. */
    ownFetch: Pick<GuardedFetch, 'fetch'>
    plugins: () => PluginLogins
  },
): ExternalLogins & BrowserLogins & { ofPlugin(login: PluginUser): Promise<string> } {
  const { db, tell, clock, config, logger, secrets, urls, registry, users, passwords, ownFetch, plugins } = deps
  // Their libraries take memory that servers without such logins do not need.
  const ldap = memoize(async () => (await import('./ldap.ts')).makeLdap())
  const openIdConnect = memoize(async () => {
    const { makeOpenIdConnect } = await import('./openid-connect.ts')
    return makeOpenIdConnect({ http: ownFetch, now: () => clock.now().getTime() })
  })

  registry.periodic('ended-external-logins', {
    everyMs: () => SWEEP_EVERY_MS,
    run: async () => void (await db.query('delete from external_login_token where expires_at < $1', [clock.now()])),
  })

  registry.job('plugin-logout', {
    queue: 'io',
    async run({ data: { identityId } }) {
      const login = await pluginLoginOf(db.query, Number(identityId))
      if (login) await plugins().logout(login)
    },
  })

  const openIdProvider = (name: string): OpenIdProvider | undefined => config().vireo.auth.openid_connect.find((one) => one.name === name)
  const redirectUri = (name: string): string => `${urls.origin}${callbackPath(name)}`

  /** Throws `forbidden` and `conflict`, which say why somebody may not log in. */
  async function enter({ kind, name, rules, npmName }: Provider, claims: Claims, login: string | null): Promise<StoredIdentity> {
    if (!isAllowed(rules, claims)) throw new DomainError('forbidden', 'No group of the user may log in.')
    const provider = `${kind}:${name}`
    const known = (await find(provider, claims.subject)) ?? (await link(provider, rules, claims, login))
    if (known) {
      await update(known, rules, claims)
      // The name by which the directory knows the user may have changed since.
      if (login !== known.login) await db.query('update external_identity set login = $2 where id = $1', [known.id, login])
      return known
    }
    const refusal = await create(npmName ?? (kind === 'plugin' ? '' : kinds[kind].npmName), provider, rules, claims, login).catch(
      (error: unknown) => error,
    )
    // A concurrent first login has made the user.
    const made = await find(provider, claims.subject)
    if (made) return made
    throw refusal
  }

  async function find(provider: string, subject: string): Promise<StoredIdentity | undefined> {
    const [row] = await db.query<StoredIdentity>(
      `select i.id, i.user_id, i.provider, i.subject, i.login, u.username, u.role, u.video_quota
       from external_identity i join users u on u.id = i.user_id where i.provider = $1 and i.subject = $2`,
      [provider, subject],
    )
    return row
  }

  /**
   * With a plain user whose address both sides have verified: an address that nobody verified here may be that of somebody who waits for its
   * owner. One whom the provider knows under another id stays apart: the address may have a new owner there.
   */
  async function link(provider: string, rules: ProviderRules, claims: Claims, login: string | null): Promise<StoredIdentity | undefined> {
    const { email, emailVerified, subject } = claims
    if (!rules.link_by_email || !emailVerified || email === null) return undefined
    await db.query(
      `insert into external_identity (user_id, provider, subject, login, created_at)
       select id, $2, $3, $4, $5 from users where lower(email) = lower($1) and email_verified and state <> 'deleted' and role = ${userRoles.user}
         and not exists (select 1 from external_identity known where known.user_id = users.id and known.provider = $2)
       on conflict (provider, subject) do nothing`,
      [email, provider, subject, login, clock.now()],
    )
    return await find(provider, subject)
  }

  /** The first administrator stays one, so that there always is one. */
  async function update(known: StoredIdentity, rules: ProviderRules, claims: Claims): Promise<void> {
    const role = known.username === 'root' ? undefined : roleOf(rules, claims)
    const changes = {
      ...(role === undefined || role === known.role ? {} : { role }),
      ...(claims.quota === null || claims.quota === known.video_quota ? {} : { videoQuota: claims.quota }),
    }
    if (Object.keys(changes).length > 0) await users.update(known.user_id, OPERATOR, changes)
  }

  async function create(npmName: string, provider: string, rules: ProviderRules, claims: Claims, login: string | null): Promise<void> {
    const { email, emailVerified, subject, quota, displayName } = claims
    if (email === null || !emailVerified) throw new DomainError('forbidden', 'The provider has verified no e-mail address of the user.')
    await users.create(
      {
        username: await freeActorName(db.query, claims.username, LONGEST_LOCAL_NAME),
        password: { hash: await passwords.hash(randomToken(TOKEN_BYTES)) },
        email,
        emailVerified: true,
        role: roleOf(rules, claims) ?? userRoles.user,
        displayName,
        pluginAuth: npmName,
        ...(quota === null ? {} : { videoQuota: quota }),
      },
      {
        transact: (insert) =>
          tell.create(async (unit) => {
            const made = await insert(unit)
            await unit.query('insert into external_identity (user_id, provider, subject, login, created_at) values ($1, $2, $3, $4, $5)', [
              made.id,
              provider,
              subject,
              login,
              unit.now,
            ])
            return made
          }),
      },
    )
  }

  /** Valid once. */
  async function makeToken(identityId: number, grant: string): Promise<string> {
    const token = randomToken(TOKEN_BYTES)
    await db.query('insert into external_login_token (token_hash, identity_id, grant_sealed, expires_at) values ($1, $2, $3, $4)', [
      sha256(token),
      identityId,
      secrets.seal(grant),
      new Date(clock.now().getTime() + TOKEN_MS),
    ])
    return token
  }

  /** Users of a plugin are its own: it cannot log in others, and makes no administrators. */
  async function enterByPlugin({ npmName, authName, user }: PluginUser): Promise<StoredIdentity> {
    const said = (name: string): unknown => Reflect.get(user, name)
    const role = said('role')
    const claims = readClaims(
      {
        subject: said('username'),
        username: said('username'),
        email: said('email'),
        displayName: said('displayName'),
        groups: [`${role}`],
        quota: said('videoQuota') ?? '',
      },
      true,
    )
    if (!claims) throw new DomainError('forbidden', 'The plugin names no user.')
    const rules = {
      link_by_email: false,
      trust_email: true,
      allowed_groups: [],
      administrator_groups: [],
      moderator_groups: role === undefined ? [] : [String(userRoles.moderator)],
    }
    return await enter({ kind: 'plugin', name: `${npmName}/${authName.replaceAll(/[:/]/g, '_')}`, npmName, rules }, claims, null)
  }

  return {
    async begin(name, next) {
      const provider = openIdProvider(name)
      if (!provider) throw new DomainError('not_found', 'There is no such login.')
      const { address, attempt } = await (await openIdConnect.get()).begin(provider, redirectUri(name))
      const kept: KeptAttempt = { ...attempt, name, next, until: clock.now().getTime() + ATTEMPT_MS }
      return { address, sealed: secrets.seal(JSON.stringify(kept)) }
    },

    async finish(name, sealed, query) {
      const provider = openIdProvider(name)
      const attempt = readAttempt(sealed)
      if (!provider || attempt?.name !== name || attempt.until < clock.now().getTime()) {
        throw new DomainError('forbidden', 'This browser has begun no such login.')
      }
      const { claims, grant } = await (await openIdConnect.get()).finish(provider, attempt, new URL(`${redirectUri(name)}?${query}`))
      const { id, username } = await enter({ kind: 'openid-connect', name, rules: provider }, claims, null)
      return { username, token: await makeToken(id, JSON.stringify(grant)), next: attempt.next }
    },

    /** For a user who has logged in on pages of a plugin: the address that completes the login. Throws `forbidden`. */
    async ofPlugin(login) {
      const { id, username } = await enterByPlugin(login)
      return `/login?${new URLSearchParams({ externalAuthToken: await makeToken(id, ''), username })}`
    },

    async byPassword(username, password) {
      let outage: unknown
      for (const provider of config().vireo.auth.ldap) {
        try {
          const claims = await (await ldap.get()).check(provider, username, password)
          if (!claims) continue
          const { id, user_id } = await enter({ kind: 'ldap', name: provider.name, rules: provider }, claims, username)
          return { userId: user_id, identityId: id, grantSealed: secrets.seal('') }
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          logger.warn({ err: error, login: provider.name }, 'a login with another system was refused')
          // They have proved who they are, so they may learn why.
          if (error.kind !== 'unavailable') throw new DomainError('invalid', error.message, { code: 'access_denied' })
          outage = error
        }
      }
      const login = await plugins().byPassword(username, password)
      if (login) {
        const { id, user_id } = await enterByPlugin(login)
        return { userId: user_id, identityId: id, grantSealed: secrets.seal('') }
      }
      if (outage) throw outage
      return undefined
    },

    async byToken(username, token) {
      const [row] = await db.query<EnteredUser>(
        `delete from external_login_token t using external_identity i join users u on u.id = i.user_id
         where t.token_hash = $1 and t.expires_at > $2 and i.id = t.identity_id and lower(u.username) = lower($3)
         returning i.user_id as "userId", i.id as "identityId", t.grant_sealed as "grantSealed"`,
        [sha256(token), clock.now(), username],
      )
      return row
    },

    async again(identityId, grantSealed) {
      const [identity] = await db.query<StoredIdentity>(
        `select i.id, i.user_id, i.provider, i.subject, i.login, u.username, u.role, u.video_quota
         from external_identity i join users u on u.id = i.user_id where i.id = $1`,
        [identityId],
      )
      const [kind, name = ''] = identity?.provider.split(':') ?? []
      if (!identity) return null
      const auth = config().vireo.auth
      if (kind === 'plugin') {
        const login = await pluginLoginOf(db.query, identityId)
        if (!login || !(await plugins().has(login.npmName, login.authName))) return null
        return (await plugins().isValid(login, 'refresh')) ? grantSealed : null
      }
      if (kind === 'ldap') {
        const directory = auth.ldap.find((one) => one.name === name)
        if (!directory) return null
        const claims = await (await ldap.get()).find(directory, identity.login ?? '')
        if (claims === null) return null
        if (!claims || claims.subject !== identity.subject || !isAllowed(directory, claims)) return undefined
        await update(identity, directory, claims)
        return grantSealed
      }
      const provider = openIdProvider(name)
      const grant = openGrant(grantSealed)
      if (!provider || !grant?.refreshToken) return null
      const answer = await (await openIdConnect.get()).again(provider, identity.subject, grant)
      if (!answer) return answer
      const silentMs = clock.now().getTime() - answer.grant.groupsAt
      if (mustLogInAgain(provider, answer.claims, { silentMs, limitMs: config().oauth2.token_lifetime.refresh_token })) return null
      if (!isAllowed(provider, answer.claims)) return undefined
      await update(identity, provider, answer.claims)
      return secrets.seal(JSON.stringify(answer.grant))
    },

    async isValid(identityId) {
      const login = plugins().checksSessions() ? await pluginLoginOf(db.query, identityId) : undefined
      return !login || (await plugins().isValid(login, 'access'))
    },

    async leave(unit, { id, identityId, grantSealed }) {
      const [{ provider: named = '' } = {}] = await unit.query<{ provider: string }>(
        'select provider from external_identity where id = $1',
        [identityId],
      )
      const [kind, name = ''] = named.split(':')
      const provider = kind === 'openid-connect' ? openIdProvider(name) : undefined
      if (provider) return () => leaveProvider(provider, grantSealed)
      const login = await pluginLoginOf(unit.query, identityId)
      if (!login) return async () => undefined
      const dedupeKey = `plugin-logout:${id}`
      unit.enqueue({ type: 'plugin-logout', data: { identityId }, dedupeKey, delayMs: LOGOUT_AGAIN_MS })
      return async () => {
        try {
          const address = await plugins().logout(login)
          await cancelJobs(db.query, 'dedupe_key = $1', [dedupeKey])
          return address
        } catch (error) {
          logger.warn({ err: error, plugin: login.npmName }, 'a plugin did not learn of a logout; its job will try again')
          return undefined
        }
      }
    },
  }

  /** Undefined for one of an earlier version, which was the refresh token alone. */
  function openGrant(sealed: string): OpenIdGrant | undefined {
    const grant = secrets.open(sealed)
    return grant.startsWith('{') ? (JSON.parse(grant) as OpenIdGrant) : undefined
  }

  async function leaveProvider(provider: OpenIdProvider, grantSealed: string | null): Promise<string | undefined> {
    try {
      return await (await openIdConnect.get()).leave(provider, (grantSealed === null ? undefined : openGrant(grantSealed)?.idToken) ?? '')
    } catch (error) {
      logger.warn({ err: error, login: provider.name }, 'the browser cannot log out of the login provider')
      return undefined
    }
  }

  function readAttempt(sealed: string): KeptAttempt | undefined {
    try {
      return JSON.parse(secrets.open(sealed)) as KeptAttempt
    } catch {
      return undefined
    }
  }
}

/** The user of an identity as the plugin of the login knows them; undefined for those of others. */
async function pluginLoginOf(query: Sql, identityId: number): Promise<PluginUser | undefined> {
  const [row] = await query<{ provider: string; user: object }>(
    `select i.provider, json_build_object('id', u.id, 'username', u.username, 'email', u.email, 'role', u.role, 'pluginAuth', u.plugin_auth) as user
     from external_identity i join users u on u.id = i.user_id where i.id = $1 and i.provider like 'plugin:%'`,
    [identityId],
  )
  if (!row) return undefined
  const [npmName = '', authName = ''] = row.provider.slice('plugin:'.length).split('/')
  return { npmName, authName, user: row.user }
}

interface KeptAttempt extends Attempt {
  name: string
  /** Where the browser goes afterwards. */
  next: string
  /** Ms. */
  until: number
}
