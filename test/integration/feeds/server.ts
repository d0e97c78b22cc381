// A server with feeds on a separate database.

import { makeScopedTokens } from '../../../src/actors/session/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { feedsArea } from '../../../src/http/feeds/routes.ts'
import { makeVideoResponseCache, type VideoResponseCache } from '../../../src/http/videos/response-cache.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

export interface FeedServer {
  app: App
  db: Database
  answers: VideoResponseCache
  tokens: ReturnType<typeof makeScopedTokens>
  /** Statements sent by the feeds. */
  statements(): number
  configure(more: Record<string, unknown>): void
  stop(): Promise<void>
}

export async function startFeedServer(): Promise<FeedServer> {
  const { db, stop } = await makeTestRuntime()
  const asTest = { instance: { default_nsfw_policy: 'display', name: 'Birds & more' } }
  let config = testConfig(asTest)
  const bus = { publish: async () => undefined, subscribe: () => () => undefined }
  const answers = makeVideoResponseCache({ config: () => config, bus, clock: systemClock })
  let statements = 0
  const requested: Database = {
    ...db,
    query: (text, values) => {
      statements += 1
      return db.query(text, values)
    },
  }
  const app = await makeApp({
    config: () => config,
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    authenticate: async () => null,
    areas: [feedsArea({ db: requested, config: () => config, clock: systemClock, urls: makeUrls(TEST_ORIGIN), answers })],
    checkResponses: true,
    version: '1.2.3',
  })
  return {
    app,
    db,
    answers,
    tokens: makeScopedTokens({ db, clock: systemClock, secrets: makeSecrets({ secret: 'a secret for tests' }) }),
    statements: () => statements,
    configure(more) {
      config = testConfig({ ...asTest, ...more })
      answers.clear()
    },
    async stop() {
      answers.close()
      await app.close()
      await stop()
    },
  }
}
