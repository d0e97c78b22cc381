// Video lists with a thousand and with a hundred thousand videos: every list in every order, and every filter. The time of a page must
// hardly grow, and totals must be fast.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../migrations/index.ts'
import { listVideos, type VideoListQuery, videoSortFields } from '../src/actors/video/index.ts'
import { entities } from '../src/entities.ts'
import { type Database, makeDatabase } from '../src/platform/database/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { findInLibrary, hostOf, type Library, type LibrarySize, seedLibrary, settleLibrary, wordOf } from './library.ts'
import { percentile } from './processes.ts'
import { printTable, verdict } from './table.ts'

const SMALL: LibrarySize = { videos: 1000, comments: 10_000, channels: 100 }
const LARGE: LibrarySize = { videos: 100_000, comments: 1_000_000, channels: 10_000 }
const MAX_GROWTH = 3
/** Below this many ms a page is fast enough, whatever the ratio. */
const FAST_MS = 3
const LOOKS = 3
const MAX_TOTAL_MS = 50
const MAX_STATEMENTS = 3
const WARM_UP = 3
const ROUNDS = 30

interface Shelf {
  db: Database
  /** A separate one for totals: each keeps a limited number of plans, and pages are to be compared with pages. */
  totals: Database
  library: Library
}

export async function benchLists(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-lists-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    logger: silentLogger,
    fsync: false,
  })
  try {
    const small = await openShelf(postgres.url, 'small', SMALL)
    const large = await openShelf(postgres.url, 'large', LARGE)
    try {
      await compareLists(small, large)
    } finally {
      await Promise.all([small, large].flatMap(({ db, totals }) => [db.close(), totals.close()]))
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function openShelf(serverUrl: string, name: string, size: LibrarySize): Promise<Shelf> {
  const open = (url: string) => makeDatabase({ url, poolMax: 2, entities, migrations, logger: silentLogger })
  const server = await open(serverUrl)
  await server.query(`create database ${name}`)
  await server.close()
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const db = await open(url.href)
  await db.migrate()
  const started = performance.now()
  await db.transaction(({ query }) => seedLibrary(query, { ...size, origin: 'http://localhost:9000' }))
  await settleLibrary(db.query)
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.log(`${size.videos} videos, ${size.comments} comments, ${size.channels} channels: made in ${seconds} s`)
  return { db, totals: await open(url.href), library: await findInLibrary(db.query) }
}

async function compareLists(small: Shelf, large: Shelf): Promise<void> {
  const lines: string[][] = []
  const missed: string[] = []
  for (const [name, queryOf] of listCases()) {
    const page = (shelf: Shelf) => ({ ...queryOf(shelf.library), skipCount: true })
    let before = await timed(small.db, page(small))
    let after = await timed(large.db, page(large))
    // A slow query is slow every time; other load of the machine is not.
    for (let look = 1; look < LOOKS && isSlower(before, after); look += 1) {
      before = await timed(small.db, page(small))
      after = await timed(large.db, page(large))
    }
    const counted = await timed(large.totals, { ...queryOf(large.library), skipCount: false, count: 0 })
    const growth = after.p95 / before.p95
    if (isSlower(before, after)) missed.push(`${name}: ${growth.toFixed(1)} times as long`)
    if (counted.p50 > MAX_TOTAL_MS) missed.push(`${name}: its total takes ${counted.p50.toFixed(0)} ms`)
    if (after.statements > MAX_STATEMENTS) missed.push(`${name}: ${after.statements} statements`)
    const figures = [before.p50, before.p95, after.p50, after.p95, growth, counted.p50]
    lines.push([name, ...figures.map((figure) => figure.toFixed(1)), String(after.statements)])
  }
  printTable(['list', '1,000 p50 ms', 'p95 ms', '100,000 p50 ms', 'p95 ms', 'growth', 'total p50 ms', 'SQL'], lines)
  for (const what of missed) console.log(`        ${what}`)
  verdict(`lists of ${lines.length} that miss a bar`, missed.length, 0)
}

const isSlower = (before: { p95: number }, after: { p95: number }): boolean => after.p95 / before.p95 > MAX_GROWTH && after.p95 > FAST_MS

async function timed(db: Database, query: VideoListQuery) {
  for (let round = 0; round < WARM_UP; round += 1) await listVideos(db, query)
  const times: number[] = []
  const statements = db.statements()
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now()
    await listVideos(db, query)
    times.push(performance.now() - started)
  }
  return {
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    statements: (db.statements() - statements) / ROUNDS,
  }
}

type Case = [name: string, query: (library: Library) => VideoListQuery]

const everybody: VideoListQuery = {
  scope: { of: 'everybody' },
  internal: false,
  start: 0,
  count: 15,
  skipCount: true,
  mutedFor: null,
  nsfw: false,
  sort: { by: 'publishedAt', descending: true },
}

/** Every list in every order, ascending and descending; every filter with the newest and with the most viewed first. */
export function listCases(): Case[] {
  const sorts = videoSortFields.flatMap((by) => [true, false].map((descending) => ({ by, descending })))
  const nameOf = ({ by, descending }: { by: string; descending: boolean }) => `${descending ? '-' : ''}${by}`
  return [
    ...Object.entries(lists).flatMap(([list, queryOf]) =>
      sorts.map((sort): Case => [`${list}, ${nameOf(sort)}`, (library) => ({ ...everybody, ...queryOf(library), sort })]),
    ),
    ...Object.entries(filters).flatMap(([filter, change]) =>
      (['publishedAt', 'views'] as const).map(
        (by): Case => [
          `${filter}, -${by}`,
          (library) => ({
            ...everybody,
            ...(typeof change === 'function' ? change(library) : change),
            sort: { by, descending: true },
          }),
        ],
      ),
    ),
    ...Object.entries(searches).map(
      ([name, search]): Case => [`${name}, -match`, () => ({ ...everybody, search, sort: { by: 'match', descending: true } })],
    ),
  ]
}

const lists: Record<string, (library: Library) => Partial<VideoListQuery>> = {
  everybody: () => ({}),
  'for users': () => ({ internal: true, nsfw: undefined }),
  'for the staff': () => ({
    internal: true,
    nsfw: undefined,
    privacyOneOf: [1, 2, 3, 4, 5],
    unpublished: true,
    include: { files: true, source: true },
  }),
  'of a channel': ({ channelId }) => ({ scope: { of: 'channel', channelId } }),
  'of an account': ({ accountId }) => ({ scope: { of: 'account', accountId } }),
  "one's own": ({ ownerAccountId }) => ({
    scope: { of: 'owner', accountId: ownerAccountId },
    internal: true,
    mutedFor: undefined,
    nsfw: undefined,
  }),
  'of followed channels': ({ followerActorId }) => ({ scope: { of: 'followed', followerActorId }, internal: true }),
}

const filters: Record<string, Partial<VideoListQuery> | ((library: Library) => Partial<VideoListQuery>)> = {
  'page 40': { start: 600 },
  sensitive: { nsfw: true },
  ours: { isLocal: true },
  'of others': { isLocal: false },
  live: { isLive: true },
  'not live': { isLive: false },
  'a frequent category': { categoryOneOf: [1] },
  'a rare category': { categoryOneOf: [19] },
  'no such category': { categoryOneOf: [99] },
  'a licence': { licenceOneOf: [3] },
  'a frequent language': { languageOneOf: ['en'] },
  'a rare language': { languageOneOf: ['eo'] },
  'without language': { languageOneOf: ['_unknown'] },
  'one of two tags': { tagsOneOf: ['tag7', 'tag8'] },
  'all of two tags': { tagsAllOf: ['tag7', wordOf(0)] },
  'one of two automatic tags': { autoTagOneOf: ['watched', 'external-link'] },
  'with HLS': { hasHlsFiles: true },
  'without HLS': { hasHlsFiles: false },
  'with web videos': { hasWebVideoFiles: true },
  'without web videos': { hasWebVideoFiles: false },
  'of this server': { host: null },
  'of a server': { host: hostOf(7) },
  long: { duration: { from: 3400 } },
  short: { duration: { to: 20 } },
  'of a week': { publishedAt: { from: new Date(Date.now() - 7 * 86_400_000) } },
  'first published in a month': {
    originallyPublishedAt: {
      from: new Date(Date.now() - 400 * 86_400_000),
      to: new Date(Date.now() - 370 * 86_400_000),
    },
  },
  'a frequent word': { search: wordOf(0) },
  'a rare word': { search: wordOf(4990) },
  'by their UUIDs': { uuids: ['00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000001'] },
  'of strangers too': { strangers: true },
  'blocked ones too': { blocked: true, internal: true, nsfw: undefined },
  'not published ones too': { unpublished: true, internal: true, nsfw: undefined },
  'of one privacy': { privacyOneOf: [2], internal: true, nsfw: undefined },
  'of one privacy, with mutes shown': { privacyOneOf: [3], mutedFor: undefined, include: { mutedFor: null } },
  'of those who watch': ({ watcherAccountId }) => ({ watcher: watcherAccountId, internal: true }),
  'not watched yet': ({ watcherAccountId }) => ({ notWatchedBy: watcherAccountId, internal: true }),
  watched: ({ watcherAccountId }) => ({ scope: { of: 'watched', accountId: watcherAccountId }, internal: true }),
  'watched, a word': ({ watcherAccountId }) => ({
    scope: { of: 'watched', accountId: watcherAccountId },
    internal: true,
    search: wordOf(0),
  }),
  'a word in followed channels': ({ followerActorId }) => ({
    scope: { of: 'followed', followerActorId },
    internal: true,
    search: wordOf(0),
  }),
  'of a server, a category': { host: hostOf(7), categoryOneOf: [1] },
}

const searches = {
  'a frequent word': wordOf(0),
  'a rare word': wordOf(4990),
  'two words': `${wordOf(1)} ${wordOf(2)}`,
  'a part of a word': wordOf(7).slice(1, 5),
  'a word with a mistake': `${wordOf(40).slice(0, 5)}xx`,
  'nothing found': 'qqqqqqqq',
}
