// Outgoing federation: the rate of signed deliveries, an audience of thousands, and servers that never answer.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Client, login } from '../../scripts/demo/client.ts'
import type { NodeProcess } from '../../scripts/demo/node-process.ts'
import { median, processorTime, residentMemory } from '../processes.ts'
import { printTable, verdict, verdictAtLeast } from '../table.ts'
import type { BareOrder } from './bare-client.ts'
import { follow, seedPeers, withDatabase } from './peers.ts'
import { startSink } from './sink.ts'

export interface Stage {
  node: NodeProcess
  databaseUrl: string
  /** A public video of the node. */
  video: { uuid: string; url: string }
  /** Memory of the node after a garbage collection, in MiB. */
  liveMemory(): Promise<number>
}

const PACE = { hosts: 100, comments: 40, warmUp: 5 }
const MIN_DELIVERIES = 400
/** About the size of a comment with its signatures, in characters. */
const BODY = 3000
const AUDIENCE = { hosts: 2000, perHost: 5, ports: 100, publications: 6 }
const MAX_GROWTH_MIB = 64
const MAX_LEFT_MIB = 8
const HOSTS = { all: 1000, hanging: 500 }
const MAX_P95_MS = 5000
const MAX_SOCKETS = 1100
const LONGEST_MS = 180_000

const speak = async (client: Client, uuid: string): Promise<void> => {
  await client.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: 'Said by somebody here.' })
}

export async function benchDeliveries({ node, databaseUrl, video }: Stage): Promise<void> {
  const { hosts, comments, warmUp } = PACE
  const sink = await startSink({ ports: hosts, hanging: 0 })
  try {
    const peers = await seedPeers({ databaseUrl, prefix: 'reader', hosts, perHost: 1, inboxes: sink.inboxes })
    await follow(databaseUrl, peers, `${node.base}/accounts/peertube`)
    const client = await login(node.base, node.username, node.password)
    const pid = node.child.pid ?? 0
    for (let time = 0; time < warmUp; time += 1) await speak(client, video.uuid)
    await sink.awaitAnswered(hosts * warmUp, LONGEST_MS)
    const begun = performance.now()
    const processorBefore = processorTime(pid)
    for (let time = 0; time < comments; time += 1) await speak(client, video.uuid)
    const { answered, sockets, repeated } = await sink.awaitAnswered(hosts * comments, LONGEST_MS)
    const wall = (performance.now() - begun) / 1000
    const processor = processorTime(pid) - processorBefore
    const bare = await benchBare({ inboxes: sink.inboxes, posts: comments, size: BODY })
    console.log(`\n${comments} comments to ${hosts} hosts`)
    printTable(
      ['deliveries', 'sent', 'a second', 'CPU ms each', 'a second of CPU', 'CPU to bare', 'sockets'],
      [
        [
          'signed, to a loopback sink',
          String(answered.length),
          (answered.length / wall).toFixed(0),
          (processor / answered.length).toFixed(3),
          ((answered.length * 1000) / processor).toFixed(0),
          (processor / answered.length / bare.each).toFixed(1),
          String(sockets),
        ],
        [
          'bare undici, unsigned',
          String(hosts * comments),
          ((hosts * comments) / bare.wall).toFixed(0),
          bare.each.toFixed(3),
          (1000 / bare.each).toFixed(0),
          '1.0',
          '',
        ],
      ],
    )
    verdictAtLeast('deliveries, a second of processor', (answered.length * 1000) / processor, MIN_DELIVERIES)
    verdict('deliveries that came twice', repeated, 0)
  } finally {
    sink.close()
  }
}

/** CPU time of one post in ms, and seconds for all; after a warm-up that compiles the code and opens connections. */
async function benchBare(order: BareOrder): Promise<{ each: number; wall: number }> {
  const child = fork(fileURLToPath(new URL('bare-client.ts', import.meta.url)))
  const run = async () => {
    const done = once(child, 'message')
    child.send(order)
    await done
  }
  try {
    await run()
    const begun = performance.now()
    const before = processorTime(child.pid ?? 0)
    await run()
    const each = (processorTime(child.pid ?? 0) - before) / (order.inboxes.length * order.posts)
    return { each, wall: (performance.now() - begun) / 1000 }
  } finally {
    child.disconnect()
  }
}

/**
 * Publications, each with its Create built and signed once. The first one also loads and compiles code; the increase of the later ones is
 * the cost of a publication. Each starts after a garbage collection.
 */
export async function benchLargeAudience({ node, databaseUrl, liveMemory }: Stage): Promise<void> {
  const { hosts, perHost, ports, publications } = AUDIENCE
  const sink = await startSink({ ports, hanging: 0 })
  try {
    const peers = await seedPeers({ databaseUrl, prefix: 'reader', hosts, perHost, inboxes: sink.inboxes })
    await follow(databaseUrl, peers, `${node.base}/accounts/root`)
    const pid = node.child.pid ?? 0
    const rounds: { sent: number; bodies: number; seconds: number; live: number; most: number }[] = []
    for (let place = 0; place < publications; place += 1) {
      const live = await liveMemory()
      let most = residentMemory(pid)
      const look = setInterval(() => {
        most = Math.max(most, residentMemory(pid))
      }, 100)
      const begun = performance.now()
      await publish(databaseUrl, place)
      const { answered, bodies } = await sink.awaitAnswered(hosts, LONGEST_MS)
      clearInterval(look)
      const seconds = (performance.now() - begun) / 1000
      rounds.push({ sent: answered.length, bodies, seconds, live, most })
    }
    console.log(`\nPublications to ${hosts * perHost} followers on ${hosts} hosts`)
    printTable(
      ['publication', 'deliveries', 'documents', 'seconds', 'MiB live before', 'MiB at most'],
      rounds.map(({ sent, bodies, seconds, live, most }, place) => [
        String(place + 1),
        String(sent),
        String(bodies),
        seconds.toFixed(1),
        live.toFixed(0),
        most.toFixed(0),
      ]),
    )
    const [first, ...later] = rounds
    verdictAtLeast('deliveries of a publication', Math.min(...rounds.map(({ sent }) => sent)), hosts)
    verdict('documents that were signed for it', Math.max(...rounds.map(({ bodies }) => bodies)), 1)
    const growth = Math.max(...later.map(({ most }) => most)) - (first?.most ?? 0)
    verdict('memory that later ones take more', growth, MAX_GROWTH_MIB, ' MiB')
    verdict('memory that they keep', (await liveMemory()) - (later[0]?.live ?? 0), MAX_LEFT_MIB, ' MiB')
  } finally {
    sink.close()
  }
}

/** Simulates the publication of a seeded video. */
const publish = (databaseUrl: string, place: number) =>
  withDatabase(databaseUrl, (database) =>
    database.query(
      `insert into outbox (aggregate, aggregate_id, event, payload)
       select 'video', id, 'VideoPublished', jsonb_build_object('videoId', id) from video order by id offset $1 limit 1`,
      [place],
    ),
  )

export async function benchHangingHosts({ node, databaseUrl, video }: Stage): Promise<void> {
  const { all, hanging } = HOSTS
  const sink = await startSink({ ports: all, hanging })
  try {
    const peers = await seedPeers({ databaseUrl, prefix: 'reader', hosts: all, perHost: 1, inboxes: sink.inboxes })
    await follow(databaseUrl, peers, `${node.base}/accounts/peertube`)
    const client = await login(node.base, node.username, node.password)
    const pid = node.child.pid ?? 0
    const before = residentMemory(pid)
    const rows: string[][] = []
    const tails: number[] = []
    let mostSockets = 0
    for (const round of ['first', 'again']) {
      const begun = Date.now()
      await speak(client, video.uuid)
      const { answered, sockets } = await sink.awaitAnswered(all - hanging, LONGEST_MS)
      const times = answered.map((at) => at - begun).sort((a, b) => a - b)
      const p95 = times[Math.floor((all - hanging) * 0.95) - 1] ?? Number.POSITIVE_INFINITY
      tails.push(p95)
      mostSockets = Math.max(mostSockets, sockets)
      rows.push([round, ...[times.length, median(times), p95, sockets].map(String), residentMemory(pid).toFixed(0)])
    }
    console.log(`\n${all} hosts, of which ${hanging} hang; memory before: ${before.toFixed(0)} MiB`)
    printTable(['comment', 'healthy answered', 'median ms', 'p95 ms', 'sockets', 'MiB'], rows)
    for (const p95 of tails) verdict('p95 of the healthy hosts', p95, MAX_P95_MS, ' ms')
    verdict('sockets at once', mostSockets, MAX_SOCKETS)
  } finally {
    sink.close()
  }
}
