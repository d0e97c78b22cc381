// The documents for other servers on a separate database: the port, and an application around it.

import { makeFileTokens } from '../../../src/actors/video/index.ts'
import { makeBlocked } from '../../../src/federation/blocked.ts'
import type { CachedAnswer } from '../../../src/federation/cache.ts'
import { makeServeActivityPub } from '../../../src/federation/dispatchers/serve.ts'
import { makeTableKvStore } from '../../../src/federation/kv.ts'
import { makeKeyStore } from '../../../src/federation/security/key-store.ts'
import { makeUrls, type Urls } from '../../../src/federation/urls.ts'
import type { JsonObject } from '../../../src/federation/wire/index.ts'
import { activityPubArea } from '../../../src/http/activitypub/routes.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { pagesArea } from '../../../src/http/pages/index.ts'
import type { JsonValue } from '../../../src/platform/bus/index.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { makeSignedTokens } from '../../../src/platform/signed-tokens.ts'
import type { MadeUser } from '../../support/builders.ts'
import { makeUser } from '../../support/builders.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { generateKeys } from '../../support/fast-crypto.ts'
import { pageStubs } from '../../support/page-stubs.ts'
import { makeTestRuntime } from '../../support/runtime.ts'
import { PEER } from '../../unit/federation/recordings.ts'

export const ORIGIN = PEER
export const WHEN = new Date('2026-11-20T19:02:17.158Z')

export interface ReadServer {
  app: App
  db: Database
  urls: Urls
  clock: FakeClock
  instanceId: number
  user: MadeUser
  second: MadeUser
  pem: string
  /** Publishes the change of a document, as on the bus. */
  changed(payload: JsonValue): void
  /** The port's response to a GET. */
  read(path: string, headers?: Record<string, string>): Promise<CachedAnswer | null>
  /** The document of a successful GET. */
  document(path: string): Promise<JsonObject>
  /** Statements that `work` sent. */
  statements(work: () => Promise<unknown>): Promise<number>
  insert(table: string, row: Record<string, unknown>): Promise<number>
  stop(): Promise<void>
}

export async function startReadServer(overrides: Record<string, unknown> = {}): Promise<ReadServer> {
  const { db, stop } = await makeTestRuntime()
  const secrets = makeSecrets({ secret: 'a secret for tests' })
  const urls = makeUrls(ORIGIN)
  const clock = fakeClock(WHEN)
  const config = testConfig(overrides)
  const fileTokens = makeFileTokens({
    db,
    clock,
    signedTokens: makeSignedTokens({ secrets, clock }),
    config: () => config,
  })
  const listeners: ((payload: JsonValue) => void)[] = []
  let sent = 0
  const counted: Database = {
    ...db,
    query: (text, values) => {
      sent += 1
      return db.query(text, values)
    },
  }
  const { serveActivityPub } = makeServeActivityPub({
    db: counted,
    urls,
    clock,
    config: () => config,
    keys: makeKeyStore({ db, secrets, urls }),
    blocked: makeBlocked(db),
    kv: makeTableKvStore({ query: db.query, clock }),
    bus: {
      publish: async () => undefined,
      subscribe(_topic, listener) {
        listeners.push(listener)
        return () => {}
      },
    },
    fetchDocument: () => Promise.reject(new Error('nothing is fetched here')),
    resolveActor: () => Promise.reject(new Error('nothing is fetched here')),
    software: {
      name: 'vireo',
      version: '1.2.3',
      repository: 'https://code.example',
      homepage: 'https://vireo.example',
    },
  })
  const app = await makeApp({
    config: () => config,
    logger: silentLogger,
    publicUrl: ORIGIN,
    authenticate: async () => null,
    areas: [
      activityPubArea({ serveActivityPub, config: () => config }),
      pagesArea({ ...pageStubs(), db, config: () => config, urls, fileTokens }),
    ],
    checkResponses: true,
    version: '1.2.3',
  })

  async function insert(table: string, row: Record<string, unknown>): Promise<number> {
    const names = Object.keys(row)
    const [stored] = await db.query<{ id: number }>(
      `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})
       returning id`,
      Object.values(row),
    )
    if (!stored) throw new Error(`No row came into ${table}.`)
    return stored.id
  }

  const keys = await generateKeys()
  const instanceId = await insert('actor', {
    type: 'Application',
    preferred_username: 'peertube',
    url: urls.instance,
    inbox_url: `${urls.instance}/inbox`,
  })
  const user = await makeUser(db, { username: 'obj_user', origin: ORIGIN })
  const second = await makeUser(db, { username: 'obj_second', origin: ORIGIN })
  await db.query(
    `update actor set public_key_pem = $1, ed25519_public = $2, private_key_sealed = $3, ed25519_private_sealed = $4,
       created_at = $5`,
    [keys.rsa.publicPem, keys.ed25519.publicMultibase, secrets.seal(keys.rsa.privatePem), secrets.seal(keys.ed25519.privatePem), WHEN],
  )
  const read = (path: string, headers = {}) => serveActivityPub({ method: 'GET', url: path, headers })
  return {
    app,
    db,
    urls,
    clock,
    instanceId,
    user,
    second,
    pem: keys.rsa.publicPem,
    read,
    insert,
    changed(payload) {
      for (const listener of listeners) listener(payload)
    },
    async document(path) {
      const answer = await read(path)
      if (answer?.status !== 200) throw new Error(`${path}: ${answer?.status}`)
      return JSON.parse(answer.body.toString()) as JsonObject
    },
    async statements(work) {
      const before = sent
      await work()
      return sent - before
    },
    async stop() {
      await app.close()
      await stop()
    },
  }
}
