// A server with sessions and two-factor login. Several on one database are the processes of one installation.

import type { LightMyRequestResponse } from 'fastify'
import { makeInstance } from '../../../src/actors/instance/index.ts'
import { makeNotificationSettings } from '../../../src/actors/notification-setting/index.ts'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import { makeScopedTokens, makeSessions } from '../../../src/actors/session/index.ts'
import { makeTwoFactor } from '../../../src/actors/two-factor/index.ts'
import { type CreatedUser, makeUpdateMe, makeUsers, type NewUser } from '../../../src/actors/user/index.ts'
import { VIDEOS_CHANGED } from '../../../src/actors/video/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { meArea } from '../../../src/http/me/routes.ts'
import { oauthArea } from '../../../src/http/oauth/routes.ts'
import { scopedTokensArea } from '../../../src/http/oauth/scoped-tokens.ts'
import { twoFactorArea } from '../../../src/http/two-factor/routes.ts'
import type { Bus } from '../../../src/platform/bus/index.ts'
import { type Clock, systemClock } from '../../../src/platform/clock.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import type { Passwords } from '../../../src/platform/passwords.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { fastPasswords, generateKeys } from '../../support/fast-crypto.ts'
import { memoryGuessLimits } from '../../support/guess-limits.ts'
import { noExternalLogins } from '../../support/no-external-logins.ts'
import { noPlugins } from '../../support/no-plugins.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

export interface TestTokens {
  access_token: string
  refresh_token: string
  expires_in: number
  refresh_token_expires_in: number
}

export interface SessionServer {
  app: App
  db: Database
  /** The database, for another process. */
  url: string
  bus: Bus
  client: { client_id: string; client_secret: string }
  addUser(user: Pick<NewUser, 'username'> & Partial<NewUser>): Promise<CreatedUser>
  /** Blocks a user like the staff, without the routes. */
  block(userId: number): Promise<void>
  /** Runs the sweeper once. */
  sweep(): Promise<void>
  /** Posts a form to the token endpoint, with the id and secret of the server's own client unless overridden. */
  token(fields: Record<string, string>, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  login(username: string, code?: string): Promise<LightMyRequestResponse>
  refresh(refreshToken: string): Promise<LightMyRequestResponse>
  me(accessToken: string): Promise<LightMyRequestResponse>
  post(path: string, accessToken: string, body?: object): Promise<LightMyRequestResponse>
  stop(): Promise<void>
}

export const PASSWORD = 'password1'

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

export async function startSessionServer(
  options: { url?: string; bus?: Bus; clock?: Clock; config?: Values; passwords?: Passwords } = {},
): Promise<SessionServer> {
  const { clock = systemClock, passwords = fastPasswords() } = options
  const { runtime, db, url, bus, stop } = await makeTestRuntime({
    clock,
    ...(options.url ? { url: options.url } : {}),
    ...(options.bus ? { bus: options.bus } : {}),
  })
  const config = testConfig(options.config)
  const deps: ActorDeps = {
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock,
    logger: silentLogger,
    urls: makeUrls(TEST_ORIGIN),
    config: () => config,
    secrets: makeSecrets({ secret: 'a secret for tests' }),
  }
  const instance = makeInstance({ ...deps, generateKeys })
  const users = makeUsers({ ...deps, passwords, generateKeys })
  const guesses = memoryGuessLimits(deps)
  const sessions = makeSessions({ ...deps, passwords, guesses, bus, external: noExternalLogins })
  await instance.ensure()
  const client = await instance.localClient()
  const app = await makeApp({
    config: () => config,
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    authenticate: sessions.authenticate,
    written: {
      seen: () => bus.publish(VIDEOS_CHANGED, {}),
      federated: async () => undefined,
    },
    areas: [
      oauthArea({ instance, sessions }),
      scopedTokensArea({ scopedTokens: makeScopedTokens(deps) }),
      twoFactorArea({ twoFactor: makeTwoFactor({ ...deps, passwords, guesses }) }),
      meArea({
        activePlugins: noPlugins,
        db,
        bus,
        urls: deps.urls,
        updateMe: makeUpdateMe({ ...deps, passwords, guesses }),
        notificationSettings: makeNotificationSettings(deps),
      }),
    ],
    checkResponses: true,
    version: '1.2.3',
    clock,
  })

  const server: SessionServer = {
    app,
    db,
    url,
    bus,
    client,
    addUser: (user) => users.create({ password: PASSWORD, email: `${user.username}@example.com`, role: 2, videoQuota: -1, ...user }),
    async block(userId) {
      await db.query("update users set state = 'blocked' where id = $1", [userId])
    },
    sweep: () => runtime.sweeper.sweep(),
    token: (fields, headers = {}) =>
      app.inject({
        method: 'POST',
        url: '/api/v1/users/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        payload: new URLSearchParams({ ...client, ...fields }).toString(),
      }),
    login: (username, code) =>
      server.token({ grant_type: 'password', username, password: PASSWORD }, code === undefined ? {} : { 'x-peertube-otp': code }),
    refresh: (refreshToken) => server.token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    me: (accessToken) => app.inject({ url: '/api/v1/users/me', headers: bearer(accessToken) }),
    post: (path, accessToken, body) =>
      app.inject({ method: 'POST', url: path, headers: bearer(accessToken), ...(body ? { payload: body } : {}) }),
    async stop() {
      await app.close()
      await stop()
    },
  }
  return server
}

/** The tokens of a successful response. */
export function tokensOf(answer: LightMyRequestResponse): TestTokens {
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${answer.body}`)
  return answer.json<TestTokens>()
}
