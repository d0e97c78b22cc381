// An OpenID provider on loopback that logs in the user whom the test chooses, without interaction.

import type { Server } from 'node:http'
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'

export interface OpenIdAccount {
  preferred_username: string
  email?: string
  email_verified?: boolean
  name?: string
  groups?: string[]
  quota?: string
}

export interface OpenIdServer {
  issuer: string
  /** By subject. The provider does not know subjects without an entry. */
  accounts: Map<string, OpenIdAccount>
  /** Subjects whose refresh tokens are valid, but whose claims are no longer returned. */
  closed: Set<string>
  /** The subject of the next login. */
  current: string
  /** Wrong claims to put into new id tokens, with valid signatures. */
  wrong: JWTPayload
  /** True if new logins get a refresh token. */
  refreshes: boolean
  /** Failing paths, such as `/me`. */
  failing: Set<string>
  /** All answers wait for this promise. */
  silence: Promise<void> | undefined
  /** Stops or restarts listening, on the same port. */
  down(): Promise<void>
  up(): Promise<void>
}

export const CLIENT = { client_id: 'vireo', client_secret: 'a secret of the provider' }

export async function startOpenIdProvider({
  port,
  redirectUris,
  logoutUris = [],
}: {
  port: number
  redirectUris: string[]
  logoutUris?: string[]
}): Promise<OpenIdServer> {
  const issuer = `http://127.0.0.1:${port}`
  let listener: Server | undefined

  const server: OpenIdServer = {
    issuer,
    accounts: new Map(),
    closed: new Set(),
    current: '',
    wrong: {},
    refreshes: true,
    failing: new Set(),
    silence: undefined,
    async down() {
      const stopping = listener
      listener = undefined
      stopping?.closeAllConnections()
      await new Promise((resolve) => (stopping ? stopping.close(resolve) : resolve(undefined)))
    },
    async up() {
      const starting = provider.listen(port, '127.0.0.1')
      listener = starting
      await new Promise((resolve) => starting.once('listening', resolve))
    },
  }

  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  // The provider warns about its in-memory store, which is sufficient for tests.
  const { warn } = console
  console.warn = () => undefined
  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: logoutUris,
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of cookies'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups', 'quota'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: async () => server.refreshes,
    rotateRefreshToken: true,
    ttl: { IdToken: 60, AccessToken: 60, RefreshToken: 3600, Session: 60, Grant: 3600, Interaction: 60 },
    findAccount: (context, sub) => {
      const account = context.path === '/me' && server.closed.has(sub) ? undefined : server.accounts.get(sub)
      return account && { accountId: sub, claims: async () => ({ sub, ...account }) }
    },
  })

  console.warn = warn

  provider.use(async (context, next) => {
    await server.silence
    if (server.failing.has(context.path)) context.status = 503
    else await next()
  })
  provider.use(async (context, next) => {
    await next()
    const { body } = context
    if (context.path !== '/token' || typeof body !== 'object' || !('id_token' in body)) return
    const { alg = '', kid = '' } = decodeProtectedHeader(String(body.id_token))
    const forged = new SignJWT({ ...decodeJwt(String(body.id_token)), ...server.wrong }).setProtectedHeader({ alg, kid })
    context.body = { ...body, id_token: await forged.sign(privateKey) }
  })
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return await next()
    const { req, res } = context
    const { params } = await provider.interactionDetails(req, res)
    const grant = new provider.Grant({ accountId: server.current, clientId: String(params.client_id) })
    grant.addOIDCScope(String(params.scope))
    const grantId = await grant.save()
    context.respond = false
    await provider.interactionFinished(req, res, { login: { accountId: server.current }, consent: { grantId } })
  })

  await server.up()
  return server
}
