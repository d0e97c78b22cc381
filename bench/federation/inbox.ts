// Signed comments from many actors: how many a second are accepted (204), and how many a second are to be seen over REST.

import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { startBare } from '../bare.ts'
import { processorTime } from '../processes.ts'
import { printTable, verdictAtLeast } from '../table.ts'
import type { Stage } from './index.ts'
import { commentBy, type SignedPost, seedPeers } from './peers.ts'

const HOSTS = 40
const ACTORS_PER_HOST = 10
const WARM_UP = 800
const ACTIVITIES = 4000
const CONNECTIONS = 32
const LOOK_EVERY_MS = 100
const LONGEST_MS = 180_000
const MIN_ACCEPTED = 300
const MIN_EFFECTIVE = 250

interface Pace {
  /** Seconds. */
  wall: number
  /** Processor time of the server in all, in ms. */
  processor: number
}

export async function benchInbox({ node, databaseUrl, video }: Stage): Promise<void> {
  const peers = await seedPeers({
    ...{ databaseUrl, prefix: 'peer', hosts: HOSTS, perHost: ACTORS_PER_HOST },
    inboxes: ['http://127.0.0.1:9/inbox'],
  })
  const inbox = `${node.base}/inbox`
  const make = (count: number): SignedPost[] =>
    Array.from({ length: count }, (_, n) => peers[n % peers.length]).flatMap((peer) =>
      peer ? [commentBy(peer, video.url, inbox)] : [],
    )
  const seen = async (): Promise<number> => {
    const answer = await fetch(`${node.base}/api/v1/videos/${video.uuid}/comment-threads?count=1`)
    return ((await answer.json()) as { total: number }).total
  }
  const pid = node.child.pid ?? 0

  await postAll(node.base, make(WARM_UP), 204)
  await awaitSeen(seen, WARM_UP)
  const posts = make(ACTIVITIES)
  const begun = performance.now()
  const processorBefore = processorTime(pid)
  await postAll(node.base, posts, 204)
  const accepted: Pace = { wall: since(begun), processor: processorTime(pid) - processorBefore }
  await awaitSeen(seen, WARM_UP + ACTIVITIES)
  const effective: Pace = { wall: since(begun), processor: processorTime(pid) - processorBefore }
  const bare = await benchBare(posts)

  const row = (what: string, { wall, processor }: Pace) => [
    ...[what, (ACTIVITIES / wall).toFixed(0), (processor / ACTIVITIES).toFixed(3)],
    ...[perCore(processor).toFixed(0), (processor / bare.processor).toFixed(1)],
  ]
  console.log(`\n${ACTIVITIES} comments of ${peers.length} actors on ${HOSTS} hosts, ${CONNECTIONS} connections`)
  printTable(
    ['inbox', 'a second', 'CPU ms each', 'a second of CPU', 'CPU to bare'],
    [row('accepted', accepted), row('effective, all included', effective), row('bare Fastify, 204', bare)],
  )
  verdictAtLeast('activities accepted, a second of processor', perCore(accepted.processor), MIN_ACCEPTED)
  verdictAtLeast('comments effective, a second of processor', perCore(effective.processor), MIN_EFFECTIVE)
  verdictAtLeast('comments effective, a second', ACTIVITIES / effective.wall, MIN_EFFECTIVE)
}

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

/** The yardstick: the same bytes to a bare route. */
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
