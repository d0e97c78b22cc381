// Requests per second and latencies of the four most important reads, each beside a bare Fastify route that answers the same bytes: in
// alternating short rounds, so that other load affects both. Also the number of SQL statements of each. The list and the video are
// measured twice: read from the database, and from the cache.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { startBare } from './bare.ts'
import { type Load, type LoadGenerator, makeLoadGenerator, type Target } from './load.ts'
import { median, processorTime, residentMemory } from './processes.ts'
import { seedVideos } from './seed.ts'
import { startStatementCounter } from './statement-counter.ts'
import { printTable, verdict } from './table.ts'

const VIDEOS = 20_000
const CONNECTIONS = 16
const ROUNDS = 5
const ROUND_MS = 900
const WARM_UP_MS = 500
const MAX_STATEMENTS = 3
/** Other work of the server may fall into a request: the minimum of several runs is the request's own. */
const LOOKS = 5

interface Route extends Target {
  name: string
}

interface Measured extends Load {
  /** CPU time of the server for one request, in ms. */
  processor: number
}

interface Side {
  pid: number
  load: LoadGenerator
}

export async function benchHttp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-http-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    logger: silentLogger,
    fsync: false,
  })
  try {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const start = (databaseUrl: string, env: Record<string, string> = {}) =>
      startNode({ dataDir: join(folder, 'node'), port, env: { DATABASE_URL: databaseUrl, ...UNLIMITED, ...env } })
    const statements = await countStatements({
      databaseUrl: postgres.url,
      origin,
      start: (databaseUrl) => start(databaseUrl, NOT_KEPT),
    })
    const [list, video] = statements.routes
    const kept = new Map([list, video].flatMap((route) => (route ? [[{ ...route, name: `${route.name}, cached` }, []]] : [])))
    await compare({
      node: await start(postgres.url, NOT_KEPT),
      routes: statements.routes,
      statements: statements.counts,
    })
    await compare({ node: await start(postgres.url), routes: [...kept.keys()], statements: kept })
    for (const [{ name }, taken] of statements.counts) {
      verdict(`SQL statements of ${name}`, taken.length, MAX_STATEMENTS)
      if (taken.length > MAX_STATEMENTS) for (const text of taken) console.log(`          ${text.replaceAll(/\s+/g, ' ')}`)
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Statements = Map<Route, string[]>

/** Starts a new server behind the counter, fills its tables and counts the statements of each request. */
async function countStatements(options: {
  databaseUrl: string
  origin: string
  start: (databaseUrl: string) => Promise<NodeProcess>
}): Promise<{ routes: Route[]; counts: Statements }> {
  const { databaseUrl, origin, start } = options
  const counter = await startStatementCounter(databaseUrl)
  let node: NodeProcess | undefined
  try {
    node = await start(counter.url)
    const { uuid } = await seedVideos({ databaseUrl, origin, count: VIDEOS })
    const routes = routesOf(uuid, new URL(origin).host)
    const counts: Statements = new Map()
    for (const route of routes) {
      let least: string[] | undefined
      for (let look = 0; look <= LOOKS; look += 1) {
        counter.take()
        const answer = await fetch(`${origin}${route.path}`, { headers: route.headers })
        await answer.arrayBuffer()
        const taken = counter.take()
        // The first request may fill caches.
        if (look > 0 && taken.length < (least?.length ?? Number.POSITIVE_INFINITY)) least = taken
      }
      counts.set(route, least ?? [])
    }
    return { routes, counts }
  } finally {
    await node?.stop()
    await counter.close()
  }
}

const routesOf = (uuid: string, host: string): Route[] => [
  { name: 'list of 15', path: '/api/v1/videos?count=15', headers: {} },
  { name: 'one video', path: `/api/v1/videos/${uuid}`, headers: {} },
  { name: 'ActivityPub video', path: `/videos/watch/${uuid}`, headers: { accept: 'application/activity+json' } },
  { name: 'WebFinger', path: `/.well-known/webfinger?resource=acct:root@${host}`, headers: {} },
]

/** Anonymous readers of one address: no rate limits. */
const UNLIMITED = {
  VIREO__RATES_LIMIT__API__MAX: '100000000',
  VIREO__RATES_LIMIT__WELL_KNOWN__MAX: '100000000',
  VIREO__RATES_LIMIT__ACTIVITY_PUB__MAX: '100000000',
}

/** Every list and video is read from the database. */
const NOT_KEPT = { VIREO__VIREO__CACHING__ROUTES__VIDEOS: '0' }

async function compare(options: { node: NodeProcess; routes: Route[]; statements: Statements }): Promise<void> {
  const { node, routes, statements } = options
  const vireoSide: Side = {
    pid: node.child.pid ?? 0,
    load: makeLoadGenerator({ origin: node.base, connections: CONNECTIONS }),
  }
  const answers = await Promise.all(routes.map((route, index) => vireoSide.load.answerOf(route, `/bare/${index}`)))
  const bare = await startBare(answers)
  const bareSide: Side = {
    pid: bare.pid,
    load: makeLoadGenerator({ origin: bare.origin, connections: CONNECTIONS }),
  }
  try {
    const rows: string[][] = []
    for (const [index, route] of routes.entries()) {
      const bareTarget: Target = { path: answers[index]?.path ?? '', headers: route.headers }
      const [vireo, yardstick] = await inTurn(vireoSide, route, bareSide, bareTarget)
      const bytes = Buffer.from(answers[index]?.body ?? '', 'base64').length
      rows.push(rowOf(route.name, bytes, statements.get(route)?.length ?? 0, vireo, yardstick))
    }
    console.log(`\n${VIDEOS} videos, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`)
    printTable(HEADING, rows)
    console.log(`Memory of the server after this: ${residentMemory(vireoSide.pid).toFixed(0)} MiB\n`)
  } finally {
    await Promise.all([vireoSide.load.close(), bareSide.load.close()])
    bare.stop()
    await node.stop()
  }
}

async function inTurn(vireo: Side, route: Target, bare: Side, bareRoute: Target): Promise<[vireo: Measured, bare: Measured]> {
  await vireo.load.run(route, WARM_UP_MS)
  await bare.load.run(bareRoute, WARM_UP_MS)
  const ofVireo: Measured[] = []
  const ofBare: Measured[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const both = [async () => ofVireo.push(await measure(vireo, route)), async () => ofBare.push(await measure(bare, bareRoute))]
    for (const one of round % 2 === 0 ? both : both.reverse()) await one()
  }
  return [medians(ofVireo), medians(ofBare)]
}

async function measure({ pid, load }: Side, target: Target): Promise<Measured> {
  const before = processorTime(pid)
  const found = await load.run(target, ROUND_MS)
  return { ...found, processor: (processorTime(pid) - before) / found.requests }
}

function medians(rounds: Measured[]): Measured {
  const of = (key: keyof Measured) => median(rounds.map((round) => round[key]))
  return { requests: of('requests'), rate: of('rate'), p50: of('p50'), p99: of('p99'), processor: of('processor') }
}

const HEADING = [
  'route',
  'bytes',
  'SQL',
  'req/s',
  'p50 ms',
  'p99 ms',
  'CPU ms',
  'bare req/s',
  'p50 ms',
  'p99 ms',
  'CPU ms',
  'ratio req/s',
  'p99',
  'CPU',
]

const rowOf = (name: string, bytes: number, sql: number, vireo: Measured, bare: Measured): string[] => [
  name,
  String(bytes),
  String(sql),
  ...figures(vireo),
  ...figures(bare),
  (vireo.rate / bare.rate).toFixed(2),
  (vireo.p99 / bare.p99).toFixed(1),
  (vireo.processor / bare.processor).toFixed(1),
]

const figures = ({ rate, p50, p99, processor }: Measured): string[] => [
  rate.toFixed(0),
  p50.toFixed(1),
  p99.toFixed(1),
  processor.toFixed(3),
]
