// Login with OpenID Connect: the authorization code flow with PKCE (OpenID Connect Core 1.0, 3.1; RFC 7636), and the refresh that asks the
// provider again. Requests go through the guarded fetch, but the administrator's own provider may have a private address.

import * as client from 'openid-client'
import type { OpenIdProvider } from '../../config/index.ts'
import { FetchError, type GuardedFetch } from '../../platform/fetch/index.ts'
import { makeLru } from '../../platform/lru.ts'
import { DomainError } from '../runtime/index.ts'
import { type Claims, readClaims } from './claims.ts'

/** What the browser keeps, sealed, until it comes back. */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
}

/** What a session keeps of the provider, sealed. */
export interface OpenIdGrant {
  /** Empty if the provider gives none. */
  refreshToken: string
  idToken: string
  /** When the provider last said groups (ms). */
  groupsAt: number
}

export interface OpenIdAnswer {
  claims: Claims
  grant: OpenIdGrant
}

/** Providers change their keys and addresses rarely. */
const DISCOVERED_MS = 3_600_000
const MAX_DISCOVERED = 100
const MAX_DOCUMENT_BYTES = 256 * 1024

type Issuer = Pick<OpenIdProvider, 'discovery_url' | 'client_id' | 'client_secret'>

export function makeOpenIdConnect({ http, now }: { http: Pick<GuardedFetch, 'fetch'>; now: () => number }) {
  const discovered = makeLru<string, client.Configuration, Issuer>(MAX_DISCOVERED, {
    ttl: DISCOVERED_MS,
    perf: { now },
    fetchMethod: (_key, _stale, { context }) => discover(context),
  })

  const configurationOf = (provider: Issuer): Promise<client.Configuration> =>
    discovered.forceFetch(JSON.stringify([provider.discovery_url, provider.client_id, provider.client_secret]), { context: provider })

  function discover(provider: Issuer): Promise<client.Configuration> {
    const server = new URL(provider.discovery_url)
    return client.discovery(server, provider.client_id, provider.client_secret ?? undefined, undefined, {
      [client.customFetch]: guarded,
      execute: [client.enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : [])],
    })
  }

  async function guarded(url: string, { method, headers, body, signal }: client.CustomFetchOptions): Promise<Response> {
    const answer = await http.fetch(url, {
      method,
      headers,
      redirect: 'manual',
      maxBytes: MAX_DOCUMENT_BYTES,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
    })
    const { 'content-encoding': _decoded, 'content-length': _length, ...given } = answer.headers
    return new Response(answer.body.length > 0 ? new Uint8Array(answer.body) : null, { status: answer.status, headers: given })
  }

  async function read(
    provider: OpenIdProvider,
    configuration: client.Configuration,
    tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
    subject: string,
    before?: OpenIdGrant,
  ): Promise<OpenIdAnswer> {
    const { userinfo_endpoint } = configuration.serverMetadata()
    const said = {
      ...tokens.claims(),
      ...(userinfo_endpoint === undefined ? {} : await client.fetchUserInfo(configuration, tokens.access_token, subject)),
    }
    const { username, email, display_name, groups, quota } = provider.claims
    const claims = readClaims(
      {
        subject,
        username: at(said, username),
        email: at(said, email),
        displayName: at(said, display_name),
        // A login says all that there is, while the answer to a refresh may be short.
        groups: at(said, groups) ?? (before ? undefined : []),
        quota: quota === null ? undefined : at(said, quota),
      },
      provider.trust_email || said.email_verified === true,
    )
    if (!claims) throw new DomainError('forbidden', 'The provider names no user.')
    const grant = {
      refreshToken: tokens.refresh_token ?? before?.refreshToken ?? '',
      idToken: tokens.id_token ?? before?.idToken ?? '',
      groupsAt: claims.groups === null ? (before?.groupsAt ?? 0) : now(),
    }
    return { claims, grant }
  }

  return {
    /** The address of the provider's login. Throws `unavailable`. */
    async begin(provider: OpenIdProvider, redirectUri: string): Promise<{ address: string; attempt: Attempt }> {
      const configuration = await configurationOf(provider).catch(rethrow)
      const attempt = { state: client.randomState(), nonce: client.randomNonce(), verifier: client.randomPKCECodeVerifier() }
      const address = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: provider.scopes,
        state: attempt.state,
        nonce: attempt.nonce,
        ...(provider.pkce
          ? { code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier), code_challenge_method: 'S256' }
          : {}),
      })
      return { address: address.href, attempt }
    },

    /**
     * `callback`: the address that the browser was sent to. Throws `forbidden` for anything that the provider did not send for this
     * attempt.
     */
    async finish(provider: OpenIdProvider, { state, nonce, verifier }: Attempt, callback: URL): Promise<OpenIdAnswer> {
      try {
        const configuration = await configurationOf(provider)
        const tokens = await client.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
          ...(provider.pkce ? { pkceCodeVerifier: verifier } : {}),
        })
        return await read(provider, configuration, tokens, tokens.claims()?.sub ?? '')
      } catch (error) {
        rethrow(error)
      }
    },

    /**
     * Null if it has ended this grant, for whatever reason; undefined if it knows the user no more. Throws `unavailable`, also after it has
     * replaced the grant, which `keep` gets first.
     */
    async again(
      provider: OpenIdProvider,
      subject: string,
      grant: OpenIdGrant,
      keep: (next: OpenIdGrant) => Promise<void>,
    ): Promise<OpenIdAnswer | null | undefined> {
      try {
        const configuration = await configurationOf(provider)
        const tokens = await client.refreshTokenGrant(configuration, grant.refreshToken)
        if ((tokens.claims()?.sub ?? subject) !== subject) return null
        const { refresh_token: refreshToken = grant.refreshToken, id_token: idToken = grant.idToken } = tokens
        await keep({ ...grant, refreshToken, idToken })
        return await read(provider, configuration, tokens, subject, grant)
      } catch (error) {
        if (isEndedGrant(error)) return null
        if (isUnknownUser(error)) return undefined
        // Also a wrong secret of this server, which says nothing about the user.
        throw new DomainError('unavailable', 'The login provider cannot be reached now.', { cause: error })
      }
    },

    /**
     * The address at which the browser logs out of the provider (OpenID Connect RP-Initiated Logout 1.0, 2); undefined if it has none.
     * Throws `unavailable`.
     */
    async leave({ post_logout_redirect_uri: back, ...provider }: OpenIdProvider, idToken: string): Promise<string | undefined> {
      const configuration = await configurationOf(provider).catch(rethrow)
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
      return client.buildEndSessionUrl(configuration, {
        ...(idToken === '' ? {} : { id_token_hint: idToken }),
        ...(back === null ? {} : { post_logout_redirect_uri: back }),
      }).href
    },
  }
}

/** The value at a path such as `realm_access.roles`, or under a name with dots. */
function at(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return Reflect.get(claims, path)
  return path
    .split('.')
    .reduce<unknown>(
      (value, step) => (typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined),
      claims,
    )
}

/** True for a refresh token that has ended, was used, or is that of a removed user: the provider does not say which (RFC 6749, 5.2). */
const isEndedGrant = (error: unknown): boolean => error instanceof client.ResponseBodyError && error.error === 'invalid_grant'

/** True if the provider does not accept its new access token for the claims (RFC 6750, 3.1); a wrong secret of this server is challenged too. */
const isUnknownUser = (error: unknown): boolean =>
  error instanceof client.WWWAuthenticateChallengeError &&
  error.status === 401 &&
  error.cause.some(({ scheme, parameters }) => scheme === 'bearer' && parameters.error === 'invalid_token')

/** True if the provider could not be asked: nothing is known about the user then. */
function isOutage(error: unknown): boolean {
  if (error instanceof FetchError) return true
  if (typeof error !== 'object' || error === null) return false
  // Of a response, or of an error that has one.
  if ('status' in error && typeof error.status === 'number') return error.status >= 500 || error.status === 429
  return 'cause' in error && isOutage(error.cause)
}

function rethrow(cause: unknown): never {
  if (cause instanceof DomainError) throw cause
  if (isOutage(cause)) throw new DomainError('unavailable', 'The login provider cannot be reached now.', { cause })
  throw new DomainError('forbidden', 'The login provider has refused.', { cause })
}
