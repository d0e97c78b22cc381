// Requests of logged-in users, and pages: each route beside the same one of an earlier checkout, if given, and beside a bare Fastify route
// that answers the same bytes. In alternating short rounds, so that other load affects all.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { NodeProcess } from '../scripts/demo/node-process.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { startBare } from './bare.ts'
import type { PreparedAnswer } from './bare-server.ts'
import { type Checkout, startCheckouts } from './checkouts.ts'
import { withDatabase } from './federation/peers.ts'
import { type Load, type LoadGenerator, makeLoadGenerator, type Target } from './load.ts'
import { loginTarget } from './login.ts'
import { median, processorTime } from './processes.ts'
import { seedComments, seedVideos } from './seed.ts'
import { printTable, verdict, verdictAtLeast } from './table.ts'

const VIDEOS = Number(process.env.VIREO_BENCH_VIDEOS ?? 300)
const CONNECTIONS = 20
const ROUNDS = 3
const ROUND_MS = 1_500
const WARM_UP_MS = 1_500
/** Share of the slowest one's throughput that arrives at a fixed rate. */
const SHARE_AT_RATE = 0.5

/** Of a request, in ms. */
const MAX_SQL_MS = 1.5
const MIN_OF_BARE = 0.25
const MAX_OF_P99_BEFORE = 0.3

export interface Route {
  name: string
  path: string
  isSignedIn: boolean
  /** At least this many times the requests a second of the earlier checkout. */
  faster?: number
  /** Its answers are kept: at least a share of what the bare server answers. */
  isKept?: boolean
}

/** The servers: this checkout, the one of `VIREO_BENCH_AGAINST`, and the bare server. */
interface Side {
  name: string
  pid: number
  load: LoadGenerator
  target(route: Route): Target
  /** Returns and resets the statistics of PostgreSQL; undefined without PostgreSQL. */
  statements?(): Promise<Planned>
  stop(): Promise<void>
}

interface Planned {
  /** Ms. */
  planning: number
  execution: number
}

interface Measured extends Load, Planned {
  /** CPU time of the server for one request, in ms. */
  processor: number
}

export const routesOf = (uuid: string): Route[] => [
  { name: 'list, signed in', path: '/api/v1/videos?count=15&sort=-publishedAt', isSignedIn: true, faster: 5 },
  { name: 'search', path: '/api/v1/search/videos?search=number&count=15', isSignedIn: false, faster: 5, isKept: true },
  { name: 'search, signed in', path: '/api/v1/search/videos?search=number&count=15', isSignedIn: true },
  { name: 'videos of a channel', path: '/api/v1/video-channels/root_channel/videos?count=15', isSignedIn: false, faster: 5, isKept: true },
  { name: 'the same, signed in', path: '/api/v1/video-channels/root_channel/videos?count=15', isSignedIn: true },
  { name: 'comment threads', path: `/api/v1/videos/${uuid}/comment-threads?count=10`, isSignedIn: false, faster: 5, isKept: true },
  { name: 'users/me', path: '/api/v1/users/me', isSignedIn: true, faster: 5, isKept: true },
  { name: 'account', path: '/api/v1/accounts/root', isSignedIn: false },
  { name: 'channel', path: '/api/v1/video-channels/root_channel', isSignedIn: false },
  { name: 'video, signed in', path: `/api/v1/videos/${uuid}`, isSignedIn: true },
  { name: 'watch page', path: `/w/${uuid}`, isSignedIn: false, faster: 20, isKept: true },
  { name: 'watch page with a session', path: `/w/${uuid}`, isSignedIn: true },
  { name: 'embedded player', path: `/videos/embed/${uuid}`, isSignedIn: false, isKept: true },
  { name: 'first page', path: '/', isSignedIn: false, isKept: true },
]

export async function benchReads(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-reads-'))
  await chmod(folder, 0o711)
  const postgres = await startMeasuringPostgres(join(folder, 'postgres'))
  const sides: Side[] = []
  const requested = process.env.VIREO_BENCH_ROUTES?.split(';')
  try {
    // The same videos for all servers.
    const uuid = crypto.randomUUID()
    for (const checkout of await startCheckouts({ folder, databaseUrl: postgres.url, env: {} })) sides.push(await sideOf(checkout, uuid))
    const routes = routesOf(uuid).filter(({ name }) => requested === undefined || requested.includes(name))
    const bare = await startBareSide(routes, sides[0])
    sides.push(bare)
    const rows: string[][] = []
    for (const route of routes) rows.push(...(await compare(route, sides)))
    console.log(`\n${VIDEOS} videos, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`)
    printTable(HEADING, rows)
  } finally {
    for (const side of sides) await side.stop()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** With `pg_stat_statements`, which needs a restart. */
async function startMeasuringPostgres(dataDir: string) {
  const start = () => startEmbeddedPostgres({ dataDir, logger: silentLogger, fsync: false })
  const first = await start()
  await withDatabase(first.url, async (client) => {
    await client.query("alter system set shared_preload_libraries = 'pg_stat_statements'")
    await client.query('alter system set pg_stat_statements.track_planning = on')
  })
  await first.stop()
  return await start()
}

async function sideOf({ name, node, databaseUrl }: Checkout, uuid: string): Promise<Side> {
  const seeded = await seedVideos({ databaseUrl, origin: node.base, count: VIDEOS })
  const statistics = new pg.Client({ connectionString: databaseUrl })
  await statistics.connect()
  await statistics.query('create extension pg_stat_statements')
  await statistics.query('update video set uuid = $1 where uuid = $2', [uuid, seeded.uuid])
  await seedComments({ databaseUrl, origin: node.base, uuid })
  const token = await tokenOf(node)
  const load = makeLoadGenerator({ origin: node.base, connections: CONNECTIONS })
  return {
    name,
    pid: node.child.pid ?? 0,
    load,
    target: (route) => targetOf(route, token),
    async statements() {
      const { rows } = await statistics.query<Planned>(
        `select coalesce(sum(total_plan_time), 0) as planning, coalesce(sum(total_exec_time), 0) as execution
         from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = current_database()`,
      )
      await statistics.query('select pg_stat_statements_reset(0, (select oid from pg_database where datname = current_database()), 0)')
      return rows[0] ?? { planning: 0, execution: 0 }
    },
    async stop() {
      await Promise.all([load.close(), statistics.end()])
      await node.stop()
    },
  }
}

/** The API reads the header, and pages read the cookie. */
export function targetOf({ path, isSignedIn }: Route, token: string): Target {
  const signedIn = { authorization: `Bearer ${token}`, cookie: `vireo-session=${token}` }
  return { path, headers: isSignedIn ? signedIn : {}, varies: path.includes('search') }
}

export async function tokenOf(node: NodeProcess): Promise<string> {
  const { path, headers, body = '' } = await loginTarget(node)
  const answer = await fetch(`${node.base}${path}`, { method: 'POST', headers, body })
  return ((await answer.json()) as { access_token: string }).access_token
}

async function startBareSide(routes: Route[], side: Side | undefined): Promise<Side> {
  if (!side) throw new Error('There is no server to compare with.')
  const answers: PreparedAnswer[] = []
  for (const [index, route] of routes.entries()) answers.push(await side.load.answerOf(side.target(route), `/bare/${index}`))
  const bare = await startBare(answers)
  const load = makeLoadGenerator({ origin: bare.origin, connections: CONNECTIONS })
  return {
    name: 'bare',
    pid: bare.pid,
    load,
    target: (route) => ({ path: `/bare/${routes.indexOf(route)}`, headers: {} }),
    async stop() {
      await load.close()
      bare.stop()
    },
  }
}

async function compare(route: Route, sides: readonly Side[]): Promise<string[][]> {
  const targets = new Map(sides.map((side) => [side, side.target(route)]))
  const targetFor = (side: Side): Target => targets.get(side) ?? side.target(route)
  const taken = new Map<Side, Measured[]>(sides.map((side) => [side, []]))
  for (const side of sides) await side.load.run(targetFor(side), WARM_UP_MS)
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? sides : sides.toReversed()
    for (const side of order) taken.get(side)?.push(await measure(side, targetFor(side)))
  }
  const found = sides.map((side) => ({ side, ...medians(taken.get(side) ?? []) }))
  const rate = Math.max(1, SHARE_AT_RATE * Math.min(...found.map((one) => one.rate)))
  const last = found.at(-1)
  const before = found.find(({ side }) => side.name === 'before')
  const [now] = found
  if (now && last) judge(route, now, last, before)
  const rows: string[][] = []
  for (const one of found) {
    const steady = await one.side.load.runAtRate(targetFor(one.side), rate, ROUND_MS)
    rows.push([
      `${route.name}: ${one.side.name}`,
      one.rate.toFixed(0),
      one.p50.toFixed(1),
      one.p99.toFixed(1),
      ...[one.planning, one.execution, one.processor - (last?.processor ?? 0), last?.processor ?? 0].map((ms) => ms.toFixed(3)),
      rate.toFixed(0),
      steady.p50.toFixed(1),
      steady.p99.toFixed(1),
      ...(before ? [(one.rate / before.rate).toFixed(1), (one.p99 / before.p99).toFixed(2)] : ['', '']),
      last ? (one.rate / last.rate).toFixed(2) : '',
    ])
  }
  return rows
}

function judge(route: Route, now: Measured, bare: Measured, before?: Measured): void {
  verdict(`${route.name}: PostgreSQL's time of a request`, now.planning + now.execution, MAX_SQL_MS, ' ms')
  if (route.isKept) verdictAtLeast(`${route.name}: requests a second, beside a bare server`, now.rate / bare.rate, MIN_OF_BARE, ' x')
  if (!before || route.faster === undefined) return
  verdictAtLeast(`${route.name}: requests a second, beside before`, now.rate / before.rate, route.faster, ' x')
  verdict(`${route.name}: p99, beside before`, now.p99 / before.p99, MAX_OF_P99_BEFORE, ' x')
}

async function measure({ pid, load, statements }: Side, target: Target): Promise<Measured> {
  await statements?.()
  const before = processorTime(pid)
  const found = await load.run(target, ROUND_MS)
  const processor = (processorTime(pid) - before) / found.requests
  const { planning, execution } = (await statements?.()) ?? { planning: 0, execution: 0 }
  return { ...found, processor, planning: planning / found.requests, execution: execution / found.requests }
}

function medians(rounds: Measured[]): Measured {
  const of = (key: keyof Measured) => median(rounds.map((round) => round[key]))
  return {
    requests: of('requests'),
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    processor: of('processor'),
    planning: of('planning'),
    execution: of('execution'),
  }
}

/** Times of one request, in ms: of PostgreSQL, and the server's CPU time minus that of the bare server. */
const HEADING = [
  'route',
  'req/s',
  'p50',
  'p99',
  'planning',
  'execution',
  'application',
  'frame',
  'at req/s',
  'p50',
  'p99',
  'to before',
  'p99',
  'to bare',
]
