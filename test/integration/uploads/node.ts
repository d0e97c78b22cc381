// A node with uploads and transcoding on its own database and store.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { makeRemoteWorks } from '../../../src/actors/runner/index.ts'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import { isDeadHere, leaseOwner } from '../../../src/actors/runtime/lease.ts'
import type { Session } from '../../../src/actors/session/index.ts'
import { makeStoryboards } from '../../../src/actors/storyboard/index.ts'
import { makeEditions, makeStudio } from '../../../src/actors/studio/index.ts'
import { makeTranscodeAgain, makeTranscodings } from '../../../src/actors/transcoding/index.ts'
import type { TranscodingDeps } from '../../../src/actors/transcoding/transcoding-state.ts'
import { makeUploads, type Uploads } from '../../../src/actors/upload/index.ts'
import { makeUsers, type UserRole, userRoles } from '../../../src/actors/user/index.ts'
import type { PartImporter } from '../../../src/actors/user-archive/index.ts'
import { makeUserImports, runUserImports } from '../../../src/actors/user-import/index.ts'
import {
  type CreatedVideo,
  type CreateVideo,
  makeCreateVideo,
  makeDrawPictures,
  makeInspectFile,
  makePendingFiles,
  makePlaceFiles,
  makeRemoveFiles,
  makeRemoveVideo,
  makeReplaceSource,
  makeUpdateVideo,
  type NewVideoFields,
  type PendingFiles,
  type RemoveVideo,
  type ReplaceSource,
  removeStaleWorkFolders,
  type UpdateVideo,
} from '../../../src/actors/video/index.ts'
import type { Config } from '../../../src/config/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { listen } from '../../../src/http/server.ts'
import { uploadsArea } from '../../../src/http/uploads/routes.ts'
import { userImportsArea } from '../../../src/http/user-imports/routes.ts'
import { videoFilesArea } from '../../../src/http/video-files/routes.ts'
import { videoSourceArea } from '../../../src/http/video-source/routes.ts'
import { videoStudioArea } from '../../../src/http/video-studio/routes.ts'
import type { Ffmpeg, Store } from '../../../src/media/index.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { automaticTagsFor } from '../../support/automatic-tags.ts'
import { testConfig } from '../../support/config.ts'
import { fastPasswords, generateKeys } from '../../support/fast-crypto.ts'
import { copyOfMedia, type MediaName, serverFfmpeg } from '../../support/media.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'
import { makeTestRuntime, type TestRuntime, type TestSettings } from '../../support/runtime.ts'
import { makeTestStore, type TestStore } from '../../support/test-store.ts'
import { eventually } from '../../support/until.ts'

/** What survives a process: the database and the files. */
export interface Disk {
  database: TestDatabase
  /** Holds work folders, and all files unless they are in object storage. */
  folder: string
  store: TestStore
  users: { owner: TestUser; other: TestUser; admin: TestUser }
  remove(): Promise<void>
}

export interface TestUser {
  id: number
  accountId: number
  channelId: number
  token: string
  role: UserRole
}

export interface UploadNode {
  db: Database
  store: Store
  app: App
  runtime: TestRuntime
  uploads: Uploads
  createVideo: CreateVideo
  replaceSource: ReplaceSource
  updateVideo: UpdateVideo
  removeVideo: RemoveVideo
  pendingFiles: PendingFiles
  /** Inputs of its transcodings. */
  deps: TranscodingDeps
  /** `http://127.0.0.1:port`. */
  base: string
  stop(): Promise<void>
}

export interface NodeOptions {
  config?: Values
  clock?: Clock
  /** False: no background work. */
  running?: boolean
  settings?: TestSettings
  wrapStore?: (store: Store) => Store
  wrapDatabase?: (db: Database) => Database
  ffmpeg?: Ffmpeg
  /** Imports archive parts; without it archives wait. */
  partImporters?: readonly PartImporter[]
}

export async function makeDisk(): Promise<Disk> {
  const database = await freshDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'vireo-uploads-'))
  const store = await makeTestStore(folder)
  const first = await makeTestRuntime({ url: database.url })
  const users = makeUsers({ ...depsOf(first, () => testConfig()), passwords: fastPasswords(), generateKeys })
  const add = async (username: string, role: UserRole): Promise<TestUser> => {
    const email = `${username}@example.com`
    const made = await users.create({ username, password: 'a password', email, role })
    return { ...made, role, token: `token-of-${username}` }
  }
  const made = {
    owner: await add('owner', userRoles.user),
    other: await add('other', userRoles.user),
    admin: await add('admin', userRoles.administrator),
  }
  await first.stop()
  return {
    database,
    folder,
    store,
    users: made,
    async remove() {
      await database.drop()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export async function startNode(disk: Disk, options: NodeOptions = {}): Promise<UploadNode> {
  const { clock = systemClock } = options
  const current = testConfig(options.config ?? { transcoding: { enabled: false } })
  const config = (): Config => current
  const runtime = await makeTestRuntime({
    url: disk.database.url,
    clock,
    ...(options.settings ? { settings: options.settings } : {}),
    ...(options.wrapDatabase ? { wrapDatabase: options.wrapDatabase } : {}),
  })
  const files = disk.store.open()
  const store = options.wrapStore?.(files) ?? files
  const leases = { owner: leaseOwner(), isGone: isDeadHere }
  const actorDeps = depsOf(runtime, config, clock)
  const pendingFiles = makePendingFiles({ ...actorDeps, store, leases })
  const placeFiles = makePlaceFiles({ ...actorDeps, store, leases })
  const ffmpeg = options.ffmpeg ?? (await serverFfmpeg())
  const automaticTags = automaticTagsFor(actorDeps)
  const deps = { ...actorDeps, store, ffmpeg, pendingFiles, placeFiles, leases, automaticTags, works: makeRemoteWorks() }
  const inspectFile = makeInspectFile(deps)
  const { drawPictures } = makeDrawPictures({ ...deps, inspectFile })
  const createVideo = makeCreateVideo({ ...deps, inspectFile })
  const replaceSource = makeReplaceSource({ ...deps, inspectFile })
  const uploads = makeUploads({ ...deps, createVideo, replaceSource, userImports: makeUserImports(deps) })
  if (options.partImporters) {
    runUserImports({ ...deps, partImporters: options.partImporters })
    // Requested, but never sent.
    runtime.runtime.registry.job('email', { queue: 'mail', run: async () => {} })
  }
  removeStaleWorkFolders(deps)
  makeTranscodings({ ...deps, drawPictures })
  makeStoryboards(deps)
  makeEditions({ ...deps, inspectFile, replaceSource })
  const updateVideo = makeUpdateVideo(deps)
  const removeVideo = makeRemoveVideo(deps)
  const app = await makeApp({
    config,
    logger: silentLogger,
    publicUrl: 'http://localhost:9000',
    authenticate: async (token) => sessionOf(disk, token),
    areas: [
      uploadsArea({ uploads, config, host: 'localhost:9000' }),
      userImportsArea({ db: runtime.db, config, urls: { host: 'localhost:9000' }, uploads }),
      videoSourceArea({ db: runtime.db, config, urls: actorDeps.urls, uploads, replaceSource }),
      videoStudioArea({ db: runtime.db, config, uploads, studio: makeStudio(deps) }),
      videoFilesArea({ db: runtime.db, ...makeRemoveFiles(deps), ...makeTranscodeAgain(actorDeps) }),
    ],
    checkResponses: true,
    version: '0.0.0',
  })
  const { port } = await listen(app, { hostname: '127.0.0.1', port: 0 })
  if (options.running !== false) await runtime.runtime.start()
  return {
    db: runtime.db,
    store,
    app,
    runtime,
    uploads,
    createVideo,
    replaceSource,
    updateVideo,
    removeVideo,
    pendingFiles,
    deps,
    base: `http://127.0.0.1:${port}`,
    async stop() {
      await app.close()
      await runtime.stop()
    },
  }
}

function depsOf({ db, runtime }: TestRuntime, config: () => Config, clock: Clock = systemClock): ActorDeps {
  const { tell, registry } = runtime
  const secrets = makeSecrets({ secret: 'a secret of at least sixteen characters' })
  return { db, tell, registry, clock, logger: silentLogger, config, secrets, urls: makeUrls('http://localhost:9000') }
}

function sessionOf(disk: Disk, token: string): Session | null {
  const user = Object.values(disk.users).find((one) => one.token === token)
  if (!user) return null
  const { id, accountId, role } = user
  const limits = { videoQuota: -1, videoQuotaDaily: -1 }
  return {
    id: 1,
    user: { id, accountId, username: 'somebody', role, actorId: 1, ...limits },
    scopes: null,
    nsfwPolicy: 'display',
    mutes: false,
    language: null,
  }
}

/** Creates a video of a user from a file that is uploaded unchanged, without pictures. */
export const createVideoOf = async (
  { createVideo }: Pick<UploadNode, 'createVideo'>,
  { id, channelId }: TestUser,
  { file = 'small.mp4', ...fields }: Partial<NewVideoFields> & { file?: MediaName } = {},
): Promise<CreatedVideo> =>
  await createVideo.createFrom({
    userId: id,
    fields: {
      channelId,
      name: 'A name',
      privacy: 1,
      category: null,
      licence: null,
      language: null,
      nsfw: false,
      description: null,
      support: null,
      waitTranscoding: false,
      commentsPolicy: 1,
      downloadEnabled: true,
      tags: [],
      originallyPublishedAt: null,
      passwords: [],
      schedule: null,
      ...fields,
    },
    inputFilename: file,
    path: await copyOfMedia(file),
    pictures: {},
  })

/** Waits until all pictures are drawn. */
export const untilDrawn = (db: Database): Promise<void> =>
  eventually(async () => expect(await db.query('select 1 from thumbnail where not on_disk')).toEqual([]), 20_000)

/** Every stored file by kind and name, including hidden ones. */
export const allFiles = ({ store }: Disk): Promise<string[]> => store.all()

/** Numbers of rows that uploads create, by table. */
export async function rowCounts(db: Database): Promise<Record<string, number>> {
  const tables = ['video', 'video_source', 'video_file', 'thumbnail', 'transcoding', 'upload', 'pending_file']
  const counts = await Promise.all(
    tables.map(async (table) => {
      const [row] = await db.query<{ count: number }>(`select count(*)::integer as count from ${table}`)
      return [table, row?.count ?? 0] as const
    }),
  )
  return Object.fromEntries(counts)
}

export const NOTHING = {
  video: 0,
  video_source: 0,
  video_file: 0,
  thumbnail: 0,
  transcoding: 0,
  upload: 0,
  pending_file: 0,
}
