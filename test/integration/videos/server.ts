// A server with videos on a separate database and store; the token of a session is the username.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import type { Session } from '../../../src/actors/session/index.ts'
import {
  makeFileTokens,
  makePendingFiles,
  makePlaceFiles,
  makeRemoveVideo,
  makeUpdateVideo,
  makeVideoPasswords,
  nsfwPolicyOf,
} from '../../../src/actors/video/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { makeMuxes } from '../../../src/http/downloads/mux.ts'
import { downloadsArea } from '../../../src/http/downloads/routes.ts'
import { lazyStaticArea } from '../../../src/http/lazy-static/routes.ts'
import { overviewsArea } from '../../../src/http/overviews/routes.ts'
import { pagesArea } from '../../../src/http/pages/index.ts'
import { servicesArea } from '../../../src/http/services/routes.ts'
import { staticArea } from '../../../src/http/static/routes.ts'
import { videoPasswordsArea } from '../../../src/http/video-passwords/routes.ts'
import { videoTokensArea } from '../../../src/http/video-tokens/routes.ts'
import { makeVideoResponseCache } from '../../../src/http/videos/response-cache.ts'
import { videosArea } from '../../../src/http/videos/routes.ts'
import { makeVideoPages } from '../../../src/http/videos/video-pages.ts'
import { type FileKind, type FileStore, fileKinds, fitImage, makeFileStore } from '../../../src/media/index.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { makeSignedTokens } from '../../../src/platform/signed-tokens.ts'
import { automaticTagsFor } from '../../support/automatic-tags.ts'
import { type MadeUser, makeUser, TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { serverFfmpeg } from '../../support/media.ts'
import { pageStubs } from '../../support/page-stubs.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import type { TestS3 } from '../../support/s3.ts'
import { makeTestStore } from '../../support/test-store.ts'

const silentBus = { publish: async () => undefined, subscribe: () => () => undefined }

export interface VideoServer {
  app: App
  db: Database
  store: FileStore
  /** Location of the store, unless it is the file system. */
  s3: TestS3 | undefined
  remoteCache: FileStore
  /** Contains the stores, in a folder for each kind. */
  folder: string
  /** The paths that can be read. */
  routes: string[]
  /** Changes keys of the configuration, replacing earlier changes. */
  configure(more: Record<string, unknown>): void
  runtime: TestRuntime['runtime']
  /** Statements sent by the routes. */
  statements(): number
  /** Relayed events, in order. */
  events: { name: string; payload: object }[]
  /** Fetched URLs, with the answer of each. */
  remote: Map<string, Buffer | Error | Promise<Buffer>>
  fetched: string[]
  users: Record<'user' | 'other' | 'moderator' | 'admin', MadeUser>
  as(name: keyof VideoServer['users']): { authorization: string }
  stop(): Promise<void>
}

/** `keepsPages`: whether shared pages are cached, for the configured time. */
export async function startVideoServer(
  overrides: Record<string, unknown> = {},
  { keepsPages = false }: { keepsPages?: boolean } = {},
): Promise<VideoServer> {
  const { runtime, db, bus, stop } = await makeTestRuntime()
  const folder = await mkdtemp(join(tmpdir(), 'vireo-videos-'))
  const storeIn = (root: string) =>
    makeFileStore({
      directories: Object.fromEntries(fileKinds.map((kind) => [kind, join(root, kind)])) as Record<FileKind, string>,
      tmp: join(folder, 'tmp'),
    })
  const kept = await makeTestStore(folder)
  const [store, remoteCache] = [kept.open(), storeIn(join(folder, 'cache'))]
  const asTest = { instance: { default_nsfw_policy: 'display' }, ...overrides }
  // Tests write rows directly, without events.
  const unkept = testConfig({ vireo: { caching: { routes: { videos: 0 } } } })
  let config = testConfig(asTest)
  const routes: string[] = []
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
  const events: VideoServer['events'] = []
  for (const name of ['VideoPublished', 'VideoUpdated', 'VideoRemoved'] as const) {
    runtime.registry.on(name, 'test', async (payload) => void events.push({ name, payload }))
  }
  const leases = { owner: 'test', isGone: () => false }
  const pendingFiles = makePendingFiles({ db, store, clock: systemClock, logger: silentLogger, leases })
  const videos = {
    ...makeUpdateVideo({
      ...deps,
      store,
      pendingFiles,
      placeFiles: makePlaceFiles({ ...deps, store, leases }),
      leases,
      automaticTags: automaticTagsFor(deps),
    }),
    ...makeRemoveVideo({ ...deps, store, pendingFiles, leases }),
  }

  const users = {
    user: await makeUser(db, { username: 'videos_user' }),
    other: await makeUser(db, { username: 'videos_user2' }),
    moderator: await makeUser(db, { username: 'mo', role: 1 }),
    admin: await makeUser(db, { username: 'root', role: 0 }),
  }
  const roles = { user: 2, other: 2, moderator: 1, admin: 0 } as const
  const sessionOf = async (name: keyof typeof users): Promise<Session> => {
    const { id, username, accountId, actorId } = users[name]
    const user = { id, username, role: roles[name], accountId, actorId, videoQuota: -1, videoQuotaDaily: -1 }
    return { id, user, scopes: null, nsfwPolicy: (await nsfwPolicyOf(db, id)) ?? 'display', mutes: true, language: null }
  }
  const remote: VideoServer['remote'] = new Map()
  const fetched: string[] = []
  let statements = 0
  const requested: Database = {
    ...db,
    query: (text, values) => {
      statements += 1
      return db.query(text, values)
    },
  }
  const fileTokens = makeFileTokens({
    db: requested,
    clock: systemClock,
    signedTokens: makeSignedTokens(deps),
    config: () => config,
  })
  const app = await makeApp({
    config: () => config,
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    authenticate: async (token) => (token in users ? sessionOf(token as keyof typeof users) : null),
    areas: [
      videosArea({
        db: requested,
        urls,
        fileTokens,
        videos,
        config: () => config,
        lookedAt: () => undefined,
        videoPages: makeVideoPages({ ...deps, db: requested, config: () => unkept, fileTokens, bus }),
        uploads: {
          async beginForm() {
            const name = newUuid()
            return { folder: await store.workFolder(name), end: () => store.removeWorkFolder(name) }
          },
        },
        async fitPicture(name, path) {
          const [image] = await fitImage(path, [name === 'thumbnail' ? { width: 280, height: 157 } : { width: 850, height: 480 }])
          if (!image) throw new Error('no picture')
          return image
        },
      }),
      videoPasswordsArea({ db: requested, config: () => config, videoPasswords: makeVideoPasswords(deps) }),
      videoTokensArea({ db: requested, fileTokens }),
      staticArea({ db: requested, store, config: () => config, fileTokens }),
      downloadsArea({
        db: requested,
        store,
        config: () => config,
        fileTokens,
        openMux: makeMuxes({ store, ffmpeg: await serverFfmpeg(), config: () => config, logger: silentLogger }),
      }),
      overviewsArea({ db: requested, urls, clock: systemClock, config: () => config }),
      lazyStaticArea({
        db: requested,
        store,
        remoteCache,
        clock: systemClock,
        logger: silentLogger,
        config: () => config,
        fileTokens,
        drawPictures: async () => undefined,
        async fetchRemoteFile(url) {
          fetched.push(url)
          const answer = remote.get(url) ?? new Error('404')
          if (answer instanceof Error) throw answer
          return answer
        },
      }),
      servicesArea({ db: requested, urls, config: () => config }),
      pagesArea({
        ...pageStubs(),
        db: requested,
        urls,
        config: () => config,
        fileTokens,
        ...(keepsPages ? { answers: makeVideoResponseCache({ config: () => config, clock: systemClock, bus: silentBus }) } : {}),
      }),
    ],
    checkResponses: true,
    version: '1.2.3',
    onRoute: ({ url, method }) => {
      if (method === 'GET' || method.includes('GET')) routes.push(url)
    },
  })
  await runtime.start()
  return {
    statements: () => statements,
    s3: kept.s3,
    app,
    db,
    store,
    remoteCache,
    folder,
    routes,
    runtime,
    events,
    remote,
    fetched,
    users,
    configure(more) {
      config = testConfig({ ...asTest, ...more })
    },
    as: (name) => ({ authorization: `Bearer ${name}` }),
    async stop() {
      await app.close()
      await stop()
      await kept.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
