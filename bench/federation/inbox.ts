// Signed comments from many actors: rates at which they are accepted (204), counted over REST, and effective (counted, with the owner
// notified and their servers answered). Optionally in alternation with an earlier checkout.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { startBare } from '../bare.ts'
import { type Checkout, startCheckouts } from '../checkouts.ts'
import { median, processorTime } from '../processes.ts'
import { seedVideos } from '../seed.ts'
import { printTable, verdictAtLeast } from '../table.ts'
import { type BenchPeer, commentBy, type SignedPost, seedPeers, withDatabase } from './peers.ts'

const HOSTS = 40
const ACTORS_PER_HOST = 10
const VIDEOS = 100
const WARM_UP = 800
const ACTIVITIES = 4000
const ROUNDS = 3
const CONNECTIONS = 32
const LOOK_EVERY_MS = 100
const LONGEST_MS = 180_000
const MIN_ACCEPTED = 300
const MIN_EFFECTIVE = 250
/** Comments per second, relative to the earlier checkout. */
const MIN_RATIO = 2

interface Pace {
  /** Seconds. */
  wall: number
  /** Total CPU time of the server, in ms. */
  processor: number
}

interface Side extends Checkout {
  peers: BenchPeer[]
  /** Ids of public videos; each round uses another one. */
  videos: string[]
  accepted: Pace[]
  counted: Pace[]
  effective: Pace[]
}

export async function benchInbox(env: Record<string, string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-inbox-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  const sides: Side[] = []
  try {
    const checkouts = await startCheckouts({ folder, databaseUrl: postgres.url, env })
    for (const checkout of checkouts) sides.push(await sideOf(checkout))
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await takeIn(side, round)
    }
    await report(sides)
  } finally {
    for (const { node } of sides) await node.stop()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function sideOf(checkout: Checkout): Promise<Side> {
  const { node, databaseUrl } = checkout
  await seedVideos({ databaseUrl, origin: node.base, count: VIDEOS })
  const peers = await seedPeers({
    databaseUrl,
    prefix: 'peer',
    hosts: HOSTS,
    perHost: ACTORS_PER_HOST,
    inboxes: ['http://127.0.0.1:9/inbox'],
  })
  const videos = await withDatabase(databaseUrl, (client) =>
    client.query<{ uuid: string }>('select uuid from video order by id limit $1', [ROUNDS + 1]),
  )
  return { ...checkout, peers, videos: videos.rows.map(({ uuid }) => uuid), accepted: [], counted: [], effective: [] }
}

/** The first, short round does not count. */
async function takeIn(side: Side, round: number): Promise<void> {
  const { node, databaseUrl, peers, videos, accepted, counted, effective } = side
  const uuid = videos[round] ?? ''
  const count = round === 0 ? WARM_UP : ACTIVITIES
  const posts = postsOf(peers, { count, video: `${node.base}/videos/watch/${uuid}`, inbox: `${node.base}/inbox` })
  const seen = async (): Promise<number> => {
    const answer = await fetch(`${node.base}/api/v1/videos/${uuid}/comment-threads?count=1`)
    return ((await answer.json()) as { total: number }).total
  }
  const pid = node.child.pid ?? 0
  const begun = performance.now()
  const processorBefore = processorTime(pid)
  const pace = (): Pace => ({ wall: since(begun), processor: processorTime(pid) - processorBefore })
  await postAll(node.base, posts, 204)
  if (round > 0) accepted.push(pace())
  await awaitSeen(seen, count)
  if (round > 0) counted.push(pace())
  await awaitCarriedOn(databaseUrl)
  if (round > 0) effective.push(pace())
}

const postsOf = (peers: BenchPeer[], of: { count: number; video: string; inbox: string }): SignedPost[] =>
  Array.from({ length: of.count }, (_, n) => peers[n % peers.length]).flatMap((peer) => (peer ? [commentBy(peer, of.video, of.inbox)] : []))

async function report(sides: readonly Side[]): Promise<void> {
  const [{ node, peers, videos } = {}] = sides
  if (!node || !peers || !videos) return
  const bare = await benchBare(
    postsOf(peers, { count: ACTIVITIES, video: `${node.base}/videos/watch/${videos[0]}`, inbox: `${node.base}/inbox` }),
  )
  const row = (what: string, { wall, processor }: Pace) => [
    what,
    (ACTIVITIES / wall).toFixed(0),
    (processor / ACTIVITIES).toFixed(3),
    perCore(processor).toFixed(0),
    (processor / bare.processor).toFixed(1),
  ]
  console.log(
    `\n${ACTIVITIES} comments of ${peers.length} actors on ${HOSTS} hosts, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`,
  )
  printTable(
    ['inbox', 'a second', 'CPU ms each', 'a second of CPU', 'CPU to bare'],
    [
      ...sides.flatMap(({ name, accepted, counted, effective }) => [
        row(`${name}: accepted`, middle(accepted)),
        row(`${name}: counted`, middle(counted)),
        row(`${name}: effective, all included`, middle(effective)),
      ]),
      row('bare Fastify, 204', bare),
    ],
  )
  const perSecond = (paces: readonly Pace[]) => paces.map(({ wall }) => (ACTIVITIES / wall).toFixed(0)).join(' ')
  for (const { name, counted, effective } of sides) {
    console.log(`${name}, each round: counted ${perSecond(counted)}, effective ${perSecond(effective)} a second`)
  }
  const [now, before] = sides.map(({ accepted, counted, effective }) => ({
    accepted: middle(accepted),
    counted: middle(counted),
    effective: middle(effective),
  }))
  if (!now) return
  verdictAtLeast('activities accepted, a second of processor', perCore(now.accepted.processor), MIN_ACCEPTED)
  verdictAtLeast('comments effective, a second of processor', perCore(now.effective.processor), MIN_EFFECTIVE)
  verdictAtLeast('comments effective, a second', ACTIVITIES / now.effective.wall, MIN_EFFECTIVE)
  if (!before) return
  verdictAtLeast('comments counted, to before', before.counted.wall / now.counted.wall, MIN_RATIO)
  verdictAtLeast('comments effective, to before', before.effective.wall / now.effective.wall, MIN_RATIO)
}

const middle = (paces: readonly Pace[]): Pace => ({
  wall: median(paces.map(({ wall }) => wall)),
  processor: median(paces.map(({ processor }) => processor)),
})
const since = (begun: number): number => (performance.now() - begun) / 1000
const perCore = (processor: number): number => (ACTIVITIES * 1000) / processor

async function postAll(origin: string, posts: readonly SignedPost[], status: number): Promise<void> {
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 })
  let next = 0
  const work = async () => {
    for (let post = posts[next++]; post; post = posts[next++]) {
      const answer = await pool.request({ method: 'POST', ...post })
      const text = await answer.body.text()
      if (answer.statusCode !== status) throw new Error(`${post.path} answered ${answer.statusCode}: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  await pool.close()
}

async function awaitSeen(seen: () => Promise<number>, count: number): Promise<void> {
  const begun = performance.now()
  while ((await seen()) < count) {
    if (performance.now() - begun > LONGEST_MS) throw new Error(`Only ${await seen()} of ${count} comments are there.`)
    await pause(LOOK_EVERY_MS)
  }
}

/** Waits until all resulting work is done. */
const awaitCarriedOn = (databaseUrl: string): Promise<void> =>
  withDatabase(databaseUrl, async (client) => {
    const begun = performance.now()
    while ((await client.query('select from outbox limit 1')).rows.length > 0) {
      if (performance.now() - begun > LONGEST_MS) throw new Error('Events of comments are not carried on.')
      await pause(LOOK_EVERY_MS)
    }
  })

/** The baseline: the same bytes to a bare route. */
async function benchBare(posts: readonly SignedPost[]): Promise<Pace> {
  const { origin, pid, stop } = await startBare([{ path: '/inbox', contentType: '', body: '', method: 'POST' }])
  try {
    await postAll(origin, posts, 204)
    const begun = performance.now()
    const processorBefore = processorTime(pid)
    await postAll(origin, posts, 204)
    return { wall: since(begun), processor: processorTime(pid) - processorBefore }
  } finally {
    stop()
  }
}
