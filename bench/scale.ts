// HTTP reads with a thousand videos and with a million, with ten comments each: no route may take more than three times as long. It takes
// half an hour, so it only runs by name.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../migrations/index.ts'
import { login } from '../scripts/demo/client.ts'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { entities } from '../src/entities.ts'
import { type Database, makeDatabase } from '../src/platform/database/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { findInLibrary, seedLibrary, settleLibrary, wordOf } from './library.ts'
import { percentile } from './processes.ts'
import { printTable, verdict } from './table.ts'

const VIDEOS = { small: 1000, large: Number(process.env.VIREO_BENCH_VIDEOS ?? 1_000_000) }
const MAX_GROWTH = 3
/** Below this many ms a route is fast enough, whatever the ratio. */
const FAST_MS = 5
const WARM_UP = 7
const ROUNDS = 15

interface Shelf {
  node: NodeProcess
  db: Database
  authorization: string
  /** Placeholders of paths. */
  names: Record<'uuid' | 'channel' | 'account' | 'host', string>
}

export async function benchScale(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-scale-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    logger: silentLogger,
    fsync: false,
  })
  const shelves: Shelf[] = []
  try {
    for (const [name, videos] of Object.entries(VIDEOS)) shelves.push(await openShelf({ folder, serverUrl: postgres.url, name, videos }))
    const [small, large] = shelves
    if (small && large) await compareRoutes(small, large)
  } finally {
    for (const { node, db } of shelves) {
      await node.stop()
      await db.close()
    }
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function openShelf(options: { folder: string; serverUrl: string; name: string; videos: number }): Promise<Shelf> {
  const { folder, serverUrl, name, videos } = options
  const open = (url: string) => makeDatabase({ url, poolMax: 2, entities, migrations, logger: silentLogger })
  const server = await open(serverUrl)
  await server.query(`create database ${name}`)
  await server.close()
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const node = await startNode({
    dataDir: join(folder, name),
    port: await freePort(),
    env: { DATABASE_URL: url.href, ...UNLIMITED, ...NOT_KEPT },
  })
  const db = await open(url.href)
  const size = { videos, comments: videos * 10, channels: Math.max(100, videos / 10) }
  const started = performance.now()
  await db.transaction(({ query }) => seedLibrary(query, { ...size, origin: node.base }))
  await settleLibrary(db.query)
  console.log(`${videos} videos: made in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  const { authorization } = await login(node.base, node.username, node.password)
  return { node, db, authorization, names: await namesIn(db) }
}

const UNLIMITED = {
  VIREO__RATES_LIMIT__CLIENT__MAX: '100000000',
  VIREO__RATES_LIMIT__FEEDS__MAX: '100000000',
}
/** Bypasses caches. */
const NOT_KEPT = { VIREO__VIREO__CACHING__ROUTES__VIDEOS: '0' }

async function namesIn(db: Database): Promise<Shelf['names']> {
  const { ownerAccountId } = await findInLibrary(db.query)
  const [found] = await db.query<Shelf['names']>(
    `select (select x.preferred_username from actor x where x.id = c.actor_id) as channel,
       (select x.preferred_username from account a join actor x on x.id = a.actor_id where a.id = $1) as account,
       (select h.host from video v join channel_search s on s.id = v.channel_id join remote_host h on h.id = s.host_id
        where v.listed and v.category = 1 group by 1 order by count(*) desc, 1 limit 1) as host,
       (select uuid from video where privacy = 1 and state = 'published' and channel_id = c.id order by comments desc limit 1) as uuid
     from channel c where c.account_id = $1`,
    [ownerAccountId],
  )
  if (!found) throw new Error('The library is empty.')
  return found
}

/** Requests by user: paths below `/api/v1` unless they start with a slash. */
const routes: [signedIn: boolean, path: (names: Shelf['names']) => string][] = [
  [false, () => 'videos?count=15'],
  [false, () => 'videos?count=15&sort=-trending'],
  [false, () => 'videos?count=15&isLocal=true&sort=-views'],
  [true, () => 'videos?count=15&sort=-publishedAt'],
  [true, () => 'videos?count=15&include=31&privacyOneOf=1&privacyOneOf=3'],
  [false, () => 'videos?count=15&categoryOneOf=1'],
  [false, () => 'videos?count=15&languageOneOf=en&sort=-views'],
  [false, () => 'videos?count=15&tagsOneOf=tag7'],
  [false, ({ host }) => `videos?count=15&categoryOneOf=1&host=${host}`],
  [false, () => `search/videos?search=${wordOf(3)}`],
  [true, () => `search/videos?search=${wordOf(4000)}`],
  [false, () => `search/video-channels?search=${wordOf(3)}`],
  [false, () => `search/video-playlists?search=${wordOf(3)}`],
  [false, ({ uuid }) => `videos/${uuid}`],
  [true, ({ uuid }) => `videos/${uuid}`],
  [false, ({ uuid }) => `videos/${uuid}/comment-threads`],
  [true, ({ uuid }) => `videos/${uuid}/comment-threads?sort=-totalReplies`],
  [true, () => 'videos/comments?count=15'],
  [true, () => `videos/comments?count=15&search=${wordOf(5)}`],
  [false, ({ channel }) => `video-channels/${channel}`],
  [false, ({ channel }) => `video-channels/${channel}/videos`],
  [false, ({ channel }) => `video-channels/${channel}/video-playlists`],
  [false, () => 'video-channels?count=15'],
  [false, ({ account }) => `accounts/${account}`],
  [false, ({ account }) => `accounts/${account}/videos`],
  [false, ({ account }) => `accounts/${account}/video-channels`],
  [true, () => 'accounts?count=15'],
  [false, () => 'overviews/videos?page=1'],
  [true, () => 'users/me'],
  [true, () => 'users/me/videos'],
  [true, () => 'users/me/video-quota-used'],
  [true, () => 'users/me/subscriptions/videos'],
  [true, () => 'users/me/notifications'],
  [true, () => 'users/me/history/videos'],
  [true, () => 'users?count=15'],
  [true, () => 'jobs/completed?count=15'],
  [true, () => 'jobs/failed?count=15'],
  [true, () => 'abuses?count=15'],
  [true, () => 'videos/blacklist?count=15'],
  [true, () => 'server/blocklist/accounts?count=15'],
  [true, () => 'server/redundancy/videos?target=my-videos'],
  [false, () => 'server/followers?count=15'],
  [false, () => 'server/following?count=15'],
  [false, () => 'server/stats'],
  [false, () => '/feeds/videos.xml'],
  [false, ({ uuid }) => `/feeds/video-comments.xml?videoId=${uuid}`],
  [false, () => '/feeds/video-comments.xml'],
  [false, () => '/'],
  [false, ({ uuid }) => `/w/${uuid}`],
  [false, ({ channel }) => `/c/${channel}`],
  [false, ({ account }) => `/a/${account}`],
  [false, () => `/search?search=${wordOf(3)}`],
]

async function compareRoutes(small: Shelf, large: Shelf): Promise<void> {
  const rows: string[][] = []
  const missed: string[] = []
  for (const [signedIn, pathOf] of routes) {
    const before = await timed(small, pathOf(small.names), signedIn)
    const after = await timed(large, pathOf(large.names), signedIn)
    const growth = after / before
    const name = `${signedIn ? 'signed in: ' : ''}${pathOf({ uuid: 'UUID', channel: 'CHANNEL', account: 'ACCOUNT', host: 'HOST' })}`
    rows.push([name, before.toFixed(1), after.toFixed(1), growth.toFixed(1)])
    if (growth > MAX_GROWTH && after > FAST_MS) missed.push(name)
  }
  printTable(['route', `${VIDEOS.small} p50 ms`, `${VIDEOS.large} p50 ms`, 'growth'], rows)
  for (const name of missed) console.log(`        ${name}`)
  verdict(`routes of ${rows.length} that take more than ${MAX_GROWTH} times as long`, missed.length, 0)
}

/** Median, in ms. */
async function timed({ node, authorization }: Shelf, path: string, signedIn: boolean): Promise<number> {
  const url = `${node.base}${path.startsWith('/') ? '' : '/api/v1/'}${path}`
  const times: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const begun = performance.now()
    const answer = await fetch(url, signedIn ? { headers: { authorization } } : {})
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`)
    if (round >= WARM_UP) times.push(performance.now() - begun)
  }
  return percentile(times, 0.5)
}
