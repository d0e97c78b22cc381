// A live on a server of several processes, each killed repeatedly while a player reads. Neither the player nor the recording misses any
// received frame.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventually as awaited, type Client } from '../../scripts/demo/client.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { numbersIn, publish } from '../support/live.ts'
import { freePort } from '../support/ports.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres.ts'
import { SEED } from '../support/seed.ts'
import { ask, processesIn } from './support/child.ts'
import { type Cluster, type Member, makeCluster } from './support/cluster.ts'
import { createLive, detailsOf, type Live, untilPlays } from './support/lives.ts'

const WINDOW_MS = 25_000
/** Frames that refer to each other. */
const LAST = 8
/** Minimal standard generator of Park and Miller. */
let state = SEED
const random = (): number => {
  state = (state * 48_271) % 2_147_483_647
  return state / 2_147_483_647
}
let database: TestDatabase
let proxy: DatabaseProxy
let cluster: Cluster
let client: Client
let rtmp: number

beforeAll(async () => {
  ;[database, rtmp] = await Promise.all([freshDatabase(), freePort()])
  proxy = await startDatabaseProxy(database.url)
  cluster = await makeCluster({
    databaseUrl: proxy.url,
    roles: { 'web 1': ['web'], 'web 2': ['web'], encoder: ['media'], 'another encoder': ['media', 'federation'], acceptor: ['live'] },
    env: {
      VIREO__LIVE: JSON.stringify({ enabled: true, rtmp: { port: rtmp }, transcoding: { resolutions: { '144p': true } } }),
      VIREO__TRANSCODING: JSON.stringify({ enabled: false }),
      VIREO__VIREO__LIVE: JSON.stringify({
        segment_duration: '1 second',
        segments_in_playlist: 60,
        no_data_timeout: '20 seconds',
        reconnect_window: WINDOW_MS,
      }),
    },
  })
  for (const member of cluster.members) await member.start()
  client = await cluster.login()
})

afterAll(async () => {
  proxy?.resume()
  for (const { pid } of cluster ? receivers() : []) process.kill(pid, 'SIGKILL')
  await cluster?.close()
  await proxy?.close()
  await database?.drop()
})

const query = async <Row extends object>(text: string, values: unknown[]): Promise<Row[]> =>
  await ask<Row>({ ...cluster.place, databaseUrl: database.url }, text, values)
const receivers = () => processesIn(cluster.place.dataDir).filter(({ command }) => command.includes('live-stream.ts'))

const sessionsOf = ({ id }: Live) => query<{ state: string }>('select state from live_session where video_id = $1', [id])
const piecesOf = ({ id }: Live) =>
  query<{ generation: number; seconds: number }>(
    'select p.generation, p.seconds from live_piece p join live_session s on s.id = p.session_id where s.video_id = $1 order by sequence',
    [id],
  )
const untilReceived = async (live: Live, count: number) => {
  const before = (await piecesOf(live)).length
  await awaited(`${count} more pieces`, 600_000, async () => (await piecesOf(live)).length >= before + count)
}

/** Publishes like encoders, which retry until they are accepted; resolves once it is sending. */
async function connect({ url }: Live, options: { numberedFrom: number; seconds?: number; signal?: AbortSignal }) {
  return await awaited('a connection', 600_000, async () => {
    const sending = publish(url, { seconds: 600, paced: true, ...options })
    return await Promise.race([sending.then(() => undefined), pause(3_000, { sending })])
  })
}

/** Reads a rendition like a player until it is stopped; then returns the bytes of each segment by its number. */
function play({ uuid }: Live, rendition: number) {
  const base = `${cluster.base}/static/streaming-playlists/hls/${uuid}`
  const pieces = new Map<number, Buffer>()
  let isOver = false
  async function look(): Promise<void> {
    const playlist = await (await fetch(`${base}/${rendition}.m3u8`)).text()
    for (const [, gap, name = '', sequence] of playlist.matchAll(/(#EXT-X-GAP\n)?(\d-(\d+)\.ts)/g)) {
      if (pieces.has(Number(sequence)) || gap) continue
      const answer = await fetch(`${base}/${name}`)
      if (answer.ok) pieces.set(Number(sequence), Buffer.from(await answer.arrayBuffer()))
    }
  }
  const reading = (async () => {
    while (!isOver) {
      // The proxy chooses another process next time.
      await look().catch(() => undefined)
      await pause(300)
    }
  })()
  return {
    pieces,
    async stop(): Promise<number[]> {
      isOver = true
      await reading
      const path = join(cluster.place.dataDir, `player-${uuid}-${rendition}.ts`)
      await writeFile(path, Buffer.concat([...pieces.entries()].toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes)))
      return await numbersIn(path)
    },
  }
}

async function numbersOfReplay(live: Live): Promise<number[]> {
  await awaited(
    'the recording',
    600_000,
    async () => !(await detailsOf(client, live)).isLive && (await detailsOf(client, live)).state.id === 1,
  )
  const [file] = (await detailsOf(client, live)).files
  return await numbersIn(file?.fileUrl ?? '')
}

const upTo = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n)

/** The worker of the encoding, or any worker if none is encoding. */
async function encoderAtWork(): Promise<Member> {
  const [lane] = await query<{ owner: string | null }>(
    "select lease_owner as owner from lane where kind = 'live-encoding' order by 1 limit 1",
    [],
  )
  const pid = Number.parseInt(lane?.owner?.split('|')[1] ?? '', 10)
  return cluster.members.find(({ child }) => child?.pid === pid) ?? cluster.member('encoder')
}

/** Its output stays open as long as the stream's process, which writes to it too, so it is not awaited. */
async function killAlone({ child }: Member): Promise<void> {
  child?.signal('SIGKILL', 'group')
  await awaited('its end', 600_000, async () => !processesIn(cluster.place.dataDir).some(({ pid }) => pid === child?.pid))
}

it('continues for players and in its recording while every process is killed three times', async () => {
  const live = await createLive(client, rtmp, 'killed')
  const ending = new AbortController()
  const first = await connect(live, { numberedFrom: 0, signal: ending.signal })
  await untilPlays(client, live)
  const players = [play(live, 0), play(live, 1)]
  const victims = [async () => cluster.member('acceptor'), encoderAtWork, async () => cluster.member('web 1')]
  for (let round = 0; round < 3; round += 1) {
    const again: Promise<void>[] = []
    for (const find of victims) {
      await pause(random() * 1_500)
      const victim = await find()
      await killAlone(victim)
      again.push(victim.start())
    }
    await Promise.all(again)
  }
  expect(receivers()).toHaveLength(1)
  // Its own process: the publisher's encoder reconnects.
  let { sending } = first
  for (let times = 1; times <= 3; times += 1) {
    await untilReceived(live, 2)
    await pause(random() * 1_000)
    for (const { pid } of receivers()) process.kill(pid, 'SIGKILL')
    await sending
    ;({ sending } = await connect(live, { numberedFrom: times * 10_000, signal: ending.signal }))
  }
  await untilReceived(live, 2)
  ending.abort('finished')
  await sending
  await awaited('the end', 600_000, async () => (await sessionsOf(live)).every(({ state }) => state === 'ended'))
  const stored = await piecesOf(live)
  const frames = [1, 2, 3, 4].map((of) =>
    Math.round(stored.filter(({ generation }) => generation === of).reduce((sum, { seconds }) => sum + seconds, 0) * 25),
  )
  expect(Math.min(...frames)).toBeGreaterThan(0)
  const acknowledged = frames.flatMap((count, times) => upTo(times * 10_000, count))
  expect(await numbersOfReplay(live)).toEqual(acknowledged)
  expect(await sessionsOf(live)).toHaveLength(1)
  const [received = [], encoded = []] = await Promise.all(players.map((player) => player.stop()))
  for (const [name, seen] of Object.entries({ received, encoded })) {
    process.stdout.write(`a player saw ${seen.length} of ${acknowledged.length} pictures as ${name} while the live lasted\n`)
  }
  // The recording replaces the live once it is stored; players find the rest there.
  expect(received).toEqual(acknowledged.slice(0, received.length))
  expect(received.length).toBeGreaterThan(acknowledged.length * 0.8)
  // On a slow machine the encoder skips segments after an interruption.
  const wasSeen = new Set(encoded)
  expect(encoded).toEqual(acknowledged.filter((number) => wasSeen.has(number)))
  expect(encoded.length).toBeGreaterThan(acknowledged.length * 0.3)
})

it('loses nothing during a database outage of 15 s', async () => {
  const live = await createLive(client, rtmp, 'without a database')
  const seconds = 30
  const { sending } = await connect(live, { numberedFrom: 0, seconds })
  await untilPlays(client, live)
  proxy.refuse()
  await pause(15_000)
  proxy.resume()
  expect((await sending).code).toBe(0)
  expect(await numbersOfReplay(live)).toEqual(upTo(0, seconds * 25))
  expect(await sessionsOf(live)).toEqual([{ state: 'ended' }])
})

it('waits 20 s for a vanished publisher, and ends after the reconnection window', async () => {
  const live = await createLive(client, rtmp, 'vanished')
  for (const numberedFrom of [0, 10_000]) {
    const vanishing = new AbortController()
    const { sending } = await connect(live, { numberedFrom, signal: vanishing.signal })
    await untilPlays(client, live)
    await untilReceived(live, 3)
    vanishing.abort('vanished')
    await sending
    if (numberedFrom === 0) await pause(20_000)
  }
  const vanished = performance.now()
  await awaited('the end', 600_000, async () => (await sessionsOf(live)).every(({ state }) => state === 'ended'))
  expect(performance.now() - vanished).toBeGreaterThan(WINDOW_MS - 2_000)
  const numbers = await numbersOfReplay(live)
  const [before, after] = [numbers.filter((number) => number < 10_000), numbers.filter((number) => number >= 10_000)]
  // The last frames that arrived refer to frames that did not.
  for (const part of [before, after]) expect(part.slice(0, -LAST)).toEqual(upTo(part[0] ?? 0, part.length - LAST))
  expect(numbers).toEqual([...before, ...after])
  expect(Math.min(before.length, after.length)).toBeGreaterThan(50)
  expect(new Set((await piecesOf(live)).map(({ generation }) => generation))).toEqual(new Set([1, 2]))
  expect(await sessionsOf(live)).toHaveLength(1)
})
