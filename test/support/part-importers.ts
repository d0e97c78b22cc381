// The importers of archive parts, composed beside a running node on its database and folders.

import { Readable } from 'node:stream'
import { makeActorImages } from '../../src/actors/actor-image/index.ts'
import { makeAutomaticTags } from '../../src/actors/automatic-tag/index.ts'
import { makeBlocklist } from '../../src/actors/blocklist/index.ts'
import { makeCaptions } from '../../src/actors/caption/index.ts'
import { makeChannels } from '../../src/actors/channel/index.ts'
import { makeFollows } from '../../src/actors/follow/index.ts'
import { makeHistory } from '../../src/actors/history/index.ts'
import { makePlaylists } from '../../src/actors/playlist/index.ts'
import { makeRatings } from '../../src/actors/rating/index.ts'
import type { ActorDeps, Unit } from '../../src/actors/runtime/index.ts'
import type { ArchivedFile, ImportContext, ImportedPart, ItemOutcome, PartImporter } from '../../src/actors/user-archive/index.ts'
import { importItem } from '../../src/actors/user-import/index.ts'
import {
  makeCreateVideo,
  makeInspectFile,
  makePendingFiles,
  makePlaceFiles,
  makeUpdateVideo,
  type PendingFiles,
} from '../../src/actors/video/index.ts'
import { makeFindLists } from '../../src/actors/watched-words/index.ts'
import { openFoundation } from '../../src/compose/foundation.ts'
import { openMedia } from '../../src/compose/media.ts'
import { partImportersOf, type UserImportParts } from '../../src/compose/user-imports.ts'
import type { Values } from '../../src/config/layers.ts'
import type { Store } from '../../src/media/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { makeHealth } from '../../src/platform/health.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { testLoadedConfig } from './config.ts'
import { fastPasswords, generateKeys } from './fast-crypto.ts'
import { memoryGuessLimits } from './guess-limits.ts'
import { serverFfmpeg } from './media.ts'
import type { TestNode } from './node.ts'

export interface OpenedImporters {
  db: ActorDeps['db']
  pendingFiles: PendingFiles
  list: PartImporter[]
  /** Parses an item with the schema of its part, and imports it. */
  run(part: ImportedPart, item: unknown, context: ImportContext): Promise<ItemOutcome>
  close(): Promise<void>
}

export interface OpenOptions {
  config?: Values
  resolveRemote?: Partial<UserImportParts['resolvePasted']>
  /** Called before each statement, transaction and store call, and at the end of transactions. May throw. */
  step?: () => void
  /** Overrides the free space of the disk of work folders, in bytes. */
  room?: { free: number; total: number }
  /** The identity of this process, and which other processes are dead. */
  leases?: { owner: string; isGone: (owner: string) => boolean }
}

export async function openImporters(node: TestNode, options: OpenOptions = {}): Promise<OpenedImporters> {
  const { step = () => undefined } = options
  const closers: (() => Promise<void>)[] = []
  const loaded = testLoadedConfig(
    {
      webserver: { hostname: '127.0.0.1', port: Number(new URL(node.base).port) },
      database: { pool: { max: 5 } },
      ...options.config,
    },
    { dataDir: node.dataDir, env: { DATABASE_URL: node.databaseUrl } },
  )
  const ground = { loaded, logger: silentLogger, roles: [], clock: systemClock }
  const { deps: plain } = await openFoundation(ground, closers, makeHealth())
  const deps = stepping(plain, step)
  // The node runs these jobs.
  for (const type of JOBS) plain.registry.job(type, { queue: 'io', run: async () => undefined })
  const automaticTags = makeAutomaticTags({ ...deps, findLists: makeFindLists(deps) })
  const opened = await openMedia({ ...deps, automaticTags }, await serverFfmpeg(), closers)
  const { leases = opened.media.leases } = options
  const { room } = options
  const files = steppingStore(opened.media.store, step)
  const store = room ? { ...files, room: async () => room } : files
  const pendingFiles = makePendingFiles({ ...deps, store, leases })
  const placeFiles = makePlaceFiles({ ...deps, registry: nobody(deps), store, leases })
  const media = { ...opened.media, store, leases, pendingFiles, placeFiles }
  const inspectFile = makeInspectFile(media)
  const unregistered = { ...deps, registry: nobody(deps) }
  const videos = makeUpdateVideo({ ...media, registry: nobody(deps) })
  const nowhere = async () => undefined
  const list = partImportersOf({
    ...media,
    passwords: fastPasswords(),
    guesses: memoryGuessLimits(deps),
    resolvePasted: { video: nowhere, account: nowhere, ...options.resolveRemote },
    actorImages: makeActorImages(media),
    blocklist: makeBlocklist(deps),
    captions: makeCaptions({ ...media, changeParts: videos.changeParts }),
    channels: makeChannels({ ...deps, generateKeys }),
    createVideo: makeCreateVideo({ ...media, inspectFile }),
    follows: makeFollows(unregistered),
    history: makeHistory(unregistered),
    playlists: makePlaylists(media),
    ratings: makeRatings(deps),
  })
  return {
    db: plain.db,
    pendingFiles,
    list,
    async run(part, item, context) {
      const importer = list.find((one) => one.part === part)
      if (!importer) throw new Error(`Nobody imports ${part}.`)
      return await importItem(importer, { item, context, logger: silentLogger })
    },
    async close() {
      for (const close of closers.reverse()) await close()
    },
  }
}

/** Dependencies of the commands. */
const JOBS = ['activitypub-follow', 'channel-support', 'video-pictures', 'video-transcoding']

/** The node runs the jobs. */
const nobody = ({ registry }: ActorDeps): ActorDeps['registry'] => ({
  ...registry,
  job: () => undefined,
  on: () => undefined,
  periodic: () => undefined,
  timeout: () => undefined,
})

/** Files of an archive by path, such as `files/account/avatars/a.png`. */
export function contextOf(
  user: { id: number; accountId: number },
  files: ReadonlyMap<string, Buffer | ArchivedFile> = new Map(),
  signal: AbortSignal = new AbortController().signal,
): ImportContext {
  return {
    userId: user.id,
    accountId: user.accountId,
    signal,
    file(name) {
      const path = new URL(name ?? '', 'http://archive/peertube/').pathname.slice(1)
      const found = files.get(path)
      return Buffer.isBuffer(found) ? archived(path, found) : found
    },
  }
}

export const archived = (path: string, bytes: Buffer, size = bytes.length): ArchivedFile => ({
  path,
  size,
  // `from(bytes)` would yield single bytes.
  open: async () => Readable.from([bytes]),
})

function stepping(deps: ActorDeps, step: () => void): ActorDeps {
  const { db, tell } = deps
  const query: typeof db.query = async (...args) => {
    step()
    return await db.query(...args)
  }
  const within =
    <T>(work: (unit: Unit) => Promise<T>) =>
    (unit: Unit): Promise<T> => {
      const watched = new Proxy(unit, {
        get(target, name) {
          const value = Reflect.get(target, name)
          if (name !== 'query') return value
          return async (...args: Parameters<Unit['query']>) => {
            step()
            return await unit.query(...args)
          }
        },
      })
      return work(watched)
    }
  const ended = async <T>(transaction: Promise<T>): Promise<T> => {
    const result = await transaction
    // The commit succeeded, but its response was lost.
    step()
    return result
  }
  const told: typeof tell = Object.assign(
    <T>(to: Parameters<typeof tell>[0], work: (unit: Unit) => Promise<T>) => ended(tell(to, within(work))),
    { create: <T>(work: (unit: Unit) => Promise<T>) => ended(tell.create(within(work))) },
  )
  return { ...deps, db: { ...db, query }, tell: told }
}

function steppingStore<S extends Store>(store: S, step: () => void): S {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        step()
        return value.apply(target, args)
      }
    },
  })
}
