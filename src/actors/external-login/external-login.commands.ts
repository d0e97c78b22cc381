// Logins with another system, by a password or in the browser, and the question that is asked again before a session goes on.

import type { LdapProvider, OpenIdProvider } from '../../config/index.ts'
import type { GuardedFetch } from '../../platform/fetch/index.ts'
import { randomToken, sha256 } from '../../platform/ids.ts'
import { memoize } from '../../platform/memoize.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { type ActorDeps, cancelJobs, DomainError } from '../runtime/index.ts'
import type { EnteredUser, ExternalLogins } from '../session/index.ts'
import type { ManageUsers, Users } from '../user/index.ts'
import { isAllowed, mustLogInAgain } from './claims.ts'
import { makeDirectoryUsers } from './directory-users.ts'
import { kinds, makeIdentities, type Provider, type StoredIdentity } from './identity.commands.ts'
import type { Attempt, OpenIdGrant } from './openid-connect.ts'
import { type PluginLogins, type PluginUser, pluginLoginOf, pluginProvider, readPluginUser } from './plugin-users.ts'

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

export function makeExternalLogins(
  deps: ActorDeps & {
    users: Pick<Users, 'create'> & Pick<ManageUsers, 'update'>
    passwords: Pick<Passwords, 'hash'>
    /** For addresses in the configuration, which may be private. */
    ownFetch: Pick<GuardedFetch, 'fetch'>
    plugins: () => PluginLogins
  },
): ExternalLogins & BrowserLogins & { ofPlugin(login: PluginUser): Promise<string> } {
  const { db, clock, config, logger, secrets, urls, registry, ownFetch, plugins } = deps
  const identities = makeIdentities(deps)
  // Their libraries take memory that servers without such logins do not need.
  const ldap = memoize(async () => (await import('./ldap.ts')).makeLdap())
  const openIdConnect = memoize(async () => {
    const { makeOpenIdConnect } = await import('./openid-connect.ts')
    return makeOpenIdConnect({ http: ownFetch, now: () => clock.now().getTime() })
  })

  const directoryUsers = makeDirectoryUsers({ ...deps, identities, ldap: ldap.get })

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

  /** Logs refusals, whose reason an administrator may look for. */
  async function logged<T>(of: { login: string; plugin?: string }, enter: () => Promise<T>): Promise<T> {
    try {
      return await enter()
    } catch (error) {
      logger.warn({ err: error, ...of }, 'a login with another system was refused')
      throw error
    }
  }

  const enterByPlugin = (login: PluginUser): Promise<StoredIdentity> =>
    logged({ login: login.authName, plugin: login.npmName }, async () => {
      const claims = readPluginUser(login)
      if (!claims) throw new DomainError('forbidden', 'The plugin names no user.')
      return await identities.enter(pluginProvider(login), claims, null)
    })

  async function enterByDirectory(provider: LdapProvider, username: string, password: string): Promise<StoredIdentity | undefined> {
    return await logged({ login: provider.name }, async () => {
      const claims = await (await ldap.get()).check(provider, username, password)
      return claims && (await identities.enter(providerOf('ldap', provider), claims, username))
    })
  }

  /** By the first system that knows the user. What is `unavailable` is thrown if none of the others does. */
  async function enterByPassword(username: string, password: string): Promise<StoredIdentity | undefined> {
    let outage: unknown
    for (const provider of config().vireo.auth.ldap) {
      try {
        const identity = await enterByDirectory(provider, username, password)
        if (identity) return identity
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind !== 'unavailable') throw error
        outage = error
      }
    }
    const login = await plugins().byPassword(username, password)
    if (login) return await enterByPlugin(login)
    if (outage) throw outage
    return undefined
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
      const { id, username } = await identities.enter(providerOf('openid-connect', provider), claims, null)
      return { username, token: await makeToken(id, JSON.stringify(grant)), next: attempt.next }
    },

    /** For a user who has logged in on pages of a plugin: the address that completes the login. Throws `forbidden` and `conflict`. */
    async ofPlugin(login) {
      const { id, username } = await enterByPlugin(login)
      return `/login?${new URLSearchParams({ externalAuthToken: await makeToken(id, ''), username })}`
    },

    async byPassword(username, password) {
      const identity = await enterByPassword(username, password).catch((error: unknown) => {
        if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error
        // They have proved who they are, so they may learn why.
        throw new DomainError('invalid', error.message, { code: 'access_denied' })
      })
      return identity && { userId: identity.user_id, identityId: identity.id, grantSealed: secrets.seal('') }
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

    async again(identityId, grantSealed, keep) {
      const identity = await identities.byId(identityId)
      const [kind, name = ''] = identity?.provider.split(':') ?? []
      if (!identity) return null
      if (kind === 'plugin') {
        const login = await pluginLoginOf(db.query, identityId)
        if (!login || !(await plugins().has(login.npmName, login.authName))) return null
        return (await plugins().isValid(login, 'refresh')) ? grantSealed : null
      }
      if (kind === 'ldap') {
        const said = await directoryUsers.ask(identity)
        if (said === 'gone') return undefined
        return said === 'there' ? grantSealed : null
      }
      const provider = openIdProvider(name)
      const grant = openGrant(grantSealed)
      if (!provider || !grant?.refreshToken) return null
      const seal = (next: OpenIdGrant): string => secrets.seal(JSON.stringify(next))
      const answer = await (await openIdConnect.get()).again(provider, identity.subject, grant, (next) => keep(seal(next)))
      if (!answer) return answer
      const silentMs = clock.now().getTime() - answer.grant.groupsAt
      if (mustLogInAgain(provider, answer.claims, { silentMs, limitMs: config().oauth2.token_lifetime.refresh_token })) return null
      if (!isAllowed(provider, answer.claims)) return undefined
      await identities.update(identity, provider, answer.claims)
      return seal(answer.grant)
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

const providerOf = (kind: keyof typeof kinds, rules: OpenIdProvider | LdapProvider): Provider => ({
  id: `${kind}:${rules.name}`,
  npmName: kinds[kind].npmName,
  rules,
})

interface KeptAttempt extends Attempt {
  name: string
  /** Where the browser goes afterwards. */
  next: string
  /** Ms. */
  until: number
}
