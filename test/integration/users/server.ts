// A server with users and sessions on a separate database, which sends no mails.

import { makeInstance } from '../../../src/actors/instance/index.ts'
import { makeNotificationSettings } from '../../../src/actors/notification-setting/index.ts'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import { makeSessions } from '../../../src/actors/session/index.ts'
import { makeManageUsers, makeUpdateMe, makeUsers } from '../../../src/actors/user/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { meArea } from '../../../src/http/me/routes.ts'
import { oauthArea } from '../../../src/http/oauth/routes.ts'
import { usersArea } from '../../../src/http/users/routes.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { fastPasswords, generateKeys } from '../../support/fast-crypto.ts'
import { memoryGuessLimits } from '../../support/guess-limits.ts'
import { noExternalLogins } from '../../support/no-external-logins.ts'
import { noPlugins } from '../../support/no-plugins.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

export interface UserServer {
  app: App
  db: Database
  client: { client_id: string; client_secret: string }
  rootPassword: string
  /** Sends a request with this token, or without one. */
  ask(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    options?: { token?: string | undefined; query?: Record<string, string>; body?: unknown },
  ): Promise<{ status: number; body: unknown }>
  /** Returns the access token. Throws when the login is refused. */
  login(username: string, password: string): Promise<string>
  /** The requested mails, oldest first. */
  mails(): Promise<{ mail: string; userId: number }[]>
  stop(): Promise<void>
}

const ROOT_PASSWORD = 'password of root'

export async function startUserServer(overrides: Values = {}): Promise<UserServer> {
  const { runtime, db, bus, stop } = await makeTestRuntime()
  const config = testConfig({ smtp: { hostname: 'mail.example' }, ...overrides })
  const urls = makeUrls(TEST_ORIGIN)
  const passwords = fastPasswords()
  const deps: ActorDeps = {
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock: systemClock,
    logger: silentLogger,
    urls,
    config: () => config,
    secrets: makeSecrets({ secret: 'a secret for tests' }),
  }
  runtime.registry.job('email', { queue: 'mail', run: async () => undefined })
  runtime.registry.on('UserRemoved', 'test', async () => undefined)
  const instance = makeInstance({ ...deps, generateKeys })
  const users = { ...makeUsers({ ...deps, passwords, generateKeys }), ...makeManageUsers({ ...deps, passwords }) }
  const guesses = memoryGuessLimits(deps)
  const sessions = makeSessions({ ...deps, passwords, guesses, bus, external: noExternalLogins })
  await instance.ensure()
  await users.ensureRoot({ password: ROOT_PASSWORD })
  const client = await instance.localClient()
  const app = await makeApp({
    config: () => config,
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    authenticate: sessions.authenticate,
    areas: [
      oauthArea({ instance, sessions }),
      meArea({
        activePlugins: noPlugins,
        db,
        bus,
        urls: deps.urls,
        updateMe: makeUpdateMe({ ...deps, passwords, guesses }),
        notificationSettings: makeNotificationSettings(deps),
      }),
      usersArea({ db, config: () => config, urls, users }),
    ],
    checkResponses: true,
    version: '1.2.3',
  })

  const server: UserServer = {
    app,
    db,
    client,
    rootPassword: ROOT_PASSWORD,
    async ask(method, url, { token, query = {}, body } = {}) {
      const answer = await app.inject({
        method,
        url,
        query,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        ...(typeof body === 'object' && body !== null ? { payload: body } : {}),
      })
      return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() }
    },
    async login(username, password) {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/v1/users/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ ...client, grant_type: 'password', username, password }).toString(),
      })
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.json().code}`)
      return answer.json().access_token
    },
    async mails() {
      const rows = await db.query<{ data: { mail: string; userId: number } }>("select data from job where type = 'email' order by id")
      return rows.map((row) => row.data)
    },
    async stop() {
      await app.close()
      await stop()
    },
  }
  return server
}
