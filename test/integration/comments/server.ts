// A server with comments and ratings on a separate database; the token of a session is the username.

import {
  type CommentReviews,
  type Comments,
  makeCommentReviews,
  makeComments,
  makeWaitingComments,
} from '../../../src/actors/comment/index.ts'
import { makeRatings, type Ratings } from '../../../src/actors/rating/index.ts'
import type { ActorDeps, EventName } from '../../../src/actors/runtime/index.ts'
import { makeShares, type Shares } from '../../../src/actors/share/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { commentsArea } from '../../../src/http/comments/routes.ts'
import { ratingsArea } from '../../../src/http/ratings/routes.ts'
import type { Bus, JsonValue } from '../../../src/platform/bus/index.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { automaticTagsFor } from '../../support/automatic-tags.ts'
import { type MadeUser, makeUser, TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

export interface CommentServer {
  app: App
  db: Database
  deps: ActorDeps
  comments: Comments
  reviews: CommentReviews
  ratings: Ratings
  shares: Shares
  /** Relays the stored events, and returns them in order. */
  events(): Promise<{ name: EventName; payload: object }[]>
  /** Payloads that were published to a topic since the last call. */
  published(topic: string): JsonValue[]
  /** Creates a user whose token is the username. */
  addUser(username: string, role?: 0 | 1 | 2): Promise<MadeUser>
  stop(): Promise<void>
}

const HEARD = [
  ...(['CommentCreated', 'CommentApproved', 'CommentShown', 'CommentRemoved', 'KeptCommentRemoved'] as const),
  ...(['RatingSet', 'RatingRemoved'] as const),
]

export async function startCommentServer(): Promise<CommentServer> {
  const messages: { topic: string; payload: JsonValue }[] = []
  const bus: Bus = {
    publish: async (topic, payload) => void messages.push({ topic, payload }),
    subscribe: () => () => undefined,
    close: async () => undefined,
  }
  const { runtime, db, stop } = await makeTestRuntime({ bus })
  const config = testConfig({})
  const urls = makeUrls(TEST_ORIGIN)
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
  const heard: { name: EventName; payload: object }[] = []
  for (const name of HEARD) {
    runtime.registry.on(name, 'test', async (payload) => void heard.push({ name, payload }))
  }
  const automaticTags = automaticTagsFor(deps)
  const comments = makeComments({ ...deps, automaticTags })
  const reviews = makeCommentReviews({ ...deps, automaticTags })
  const ratings = makeRatings(deps)
  const users = new Map<string, { made: MadeUser; role: 0 | 1 | 2 }>()
  const app = await makeApp({
    config: () => config,
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    async authenticate(token) {
      const known = users.get(token)
      if (!known) return null
      const { id, username, accountId, actorId } = known.made
      const user = { id, username, role: known.role, accountId, actorId, videoQuota: -1, videoQuotaDaily: -1 }
      return { id, user, scopes: null, nsfwPolicy: 'display', mutes: false, language: null }
    },
    areas: [
      commentsArea({
        db,
        config: () => config,
        urls,
        logger: silentLogger,
        comments,
        reviews,
        waitingComments: makeWaitingComments(deps),
      }),
      ratingsArea({ db, config: () => config, ratings }),
    ],
    checkResponses: true,
    version: '1.2.3',
  })
  return {
    app,
    db,
    deps,
    comments,
    reviews,
    ratings,
    shares: makeShares(deps),
    async events() {
      await runtime.relay.drain()
      return heard.splice(0)
    },
    published: (topic) => messages.splice(0).flatMap((message) => (message.topic === topic ? [message.payload] : [])),
    async addUser(username, role = 2) {
      const made = await makeUser(db, { username, role })
      users.set(username, { made, role })
      return made
    },
    async stop() {
      await app.close()
      await stop()
    },
  }
}

export const as = (username: string): { authorization: string } => ({ authorization: `Bearer ${username}` })
