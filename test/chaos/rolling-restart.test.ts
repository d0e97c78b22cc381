// Two processes of a server behind a proxy that checks their readiness. Each is restarted under load without a failed request; then both
// are stopped in the middle of all work.

import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { io, type Socket } from 'socket.io-client'
import { type Client, login } from '../../scripts/demo/client.ts'
import { slowness } from '../support/cpu-time.ts'
import { freePort } from '../support/ports.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres.ts'
import { type RoundRobin, startRoundRobin } from '../support/round-robin.ts'
import { eventually } from '../support/until.ts'
import { type Child, dataFolder, PASSWORD, processesIn, start, USERNAME } from './support/child.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { channelOf, makeVideo, untilWhole } from './support/videos.ts'

const ENDS_WITHIN_MS = 10_000
const CHUNK = 100_000

const folder = dataFolder()
let database: TestDatabase
let proxy: RoundRobin
let options: Parameters<typeof start>[0][]
let nodes: Child[] = []
let client: Client
let channelId: number
let video: Buffer
let uuid: string
/** Transports of the web client, and of a client without WebSockets. */
let sockets: Socket[] = []

beforeAll(async () => {
  database = await freshDatabase()
  const ports = [await freePort(), await freePort()]
  proxy = await startRoundRobin({ targets: () => ports.map((port) => `http://127.0.0.1:${port}`) })
  options = ports.map((port) => ({
    dataDir: folder.path,
    port,
    env: {
      DATABASE_URL: database.url,
      VIREO__WEBSERVER__PORT: String(proxy.port),
      VIREO__VIREO__HTTP__DRAIN_DELAY: '2 seconds',
    },
  }))
  nodes = await Promise.all(options.map((one) => start(one)))
  client = await login(proxy.url, USERNAME, PASSWORD)
  channelId = await channelOf(client)
  video = await makeVideo(2)
  uuid = await upload(video, true)
  await untilWhole(client, uuid, [360, 240, 144])
})

afterAll(async () => {
  for (const socket of sockets) socket.disconnect()
  for (const node of nodes) node.signal('SIGKILL', 'group')
  await proxy?.close()
  await folder.remove()
  await database?.drop()
})

async function upload(bytes: Buffer, waitTranscoding: boolean): Promise<string> {
  const fields = { channelId, name: 'rolling', filename: 'rolling.mp4', privacy: 1, waitTranscoding }
  return (await persistentUpload({ client, bytes, chunkSize: CHUNK, fields }).proceed()).uuid
}

/** Repeats these requests until it is stopped; returns how often each succeeded, and the errors. */
function load(work: Record<string, () => Promise<unknown>>) {
  const done: Record<string, number> = {}
  const failures: string[] = []
  let ended = false
  const running = Object.entries(work).map(async ([name, once]) => {
    while (!ended) {
      try {
        await once()
        done[name] = (done[name] ?? 0) + 1
      } catch (error) {
        const cause = error instanceof Error && error.cause ? ` (${String(error.cause)})` : ''
        failures.push(`${name}: ${String(error)}${cause}`)
      }
    }
  })
  return {
    done,
    failures,
    async end() {
      ended = true
      await Promise.all(running)
    },
  }
}

/** Enables or disables transcoding of uploads, on all processes. */
async function transcode(enabled: boolean): Promise<void> {
  const custom = await client.get<{ transcoding: object }>('/api/v1/config/custom')
  await client.send('PUT', '/api/v1/config/custom', { ...custom, transcoding: { ...custom.transcoding, enabled } })
}

async function bytesOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(url, { headers })
  const body = Buffer.from(await answer.arrayBuffer())
  if (answer.status !== 200 && answer.status !== 206) throw new Error(`${answer.status} from ${url}: ${body}`)
  return body.length
}

/** Sockets that wait for notifications, at both processes. */
async function listening(): Promise<Socket[]> {
  const query = { accessToken: client.authorization.replace('Bearer ', '') }
  const some = [{}, {}, {}, {}, { transports: ['polling'] }, { transports: ['polling'] }].map((options) =>
    io(`${proxy.url}/user-notifications`, { forceNew: true, query, ...options }),
  )
  await eventually(() => expect(some.map(({ connected }) => connected)).not.toContain(false))
  return some
}

async function everything(): Promise<Record<string, () => Promise<unknown>>> {
  const view = await client.get<{ streamingPlaylists: { playlistUrl: string; files: { fileUrl: string }[] }[] }>(`/api/v1/videos/${uuid}`)
  const playlist = view.streamingPlaylists[0]
  const fileUrl = playlist?.files[0]?.fileUrl ?? ''
  return {
    read: () => client.get('/api/v1/videos?count=15'),
    page: () => bytesOf(`${proxy.url}/w/${uuid}`),
    'HLS playlist': () => bytesOf(playlist?.playlistUrl ?? ''),
    'HLS segment': async () => expect(await bytesOf(fileUrl, { range: 'bytes=0-65535' })).toBe(65_536),
    write: () => client.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: 'Here.' }),
    upload: () => upload(video, false),
  }
}

it('a rolling restart fails no request', async () => {
  await transcode(false)
  const busy = load(await everything())
  sockets = await listening()
  const lost = new Set<Socket>()
  for (const socket of sockets) socket.on('disconnect', () => lost.add(socket))
  for (const [index, one] of options.entries()) {
    nodes[index]?.signal('SIGTERM', 'process')
    expect(await nodes[index]?.ended).toBe(0)
    const before = { ...busy.done }
    nodes[index] = await start(one)
    await untilReady(one.port)
    // Everything continued meanwhile, and continues with the new process.
    await eventually(() => {
      for (const name of Object.keys(before)) expect(busy.done[name]).toBeGreaterThan(before[name] ?? 0)
    })
  }
  await busy.end()
  expect(busy.failures).toEqual([])
  // Each socket was at a process that ended, and is connected to another one.
  expect(lost.size).toBe(sockets.length)
  await eventually(() => expect(sockets.map(({ connected }) => connected)).not.toContain(false))
  const { total } = await client.get<{ total: number }>(`/api/v1/videos/${uuid}/comment-threads`)
  expect(total).toBe(busy.done.write)
  await transcode(true)
})

it('processes that stop under load release their work and exit within ten seconds', async () => {
  await upload(await makeVideo(60), true)
  await eventually(() => {
    const works = processesIn(folder.path).some(({ command }) => /ffmpeg.*transcoding-/.test(command))
    if (!works) throw new Error('Nothing is transcoded.')
  })
  const busy = load(await everything())
  await eventually(() => expect(Object.keys(busy.done)).toContain('upload'))
  const stuck = options.map(({ port }) => neverEnding(port))

  const begun = performance.now()
  for (const node of nodes) node.signal('SIGTERM', 'process')
  expect(await Promise.all(nodes.map(({ ended }) => ended))).toEqual([0, 0])
  expect(performance.now() - begun).toBeLessThan(ENDS_WITHIN_MS * slowness())
  nodes = []
  await busy.end()
  for (const request of stuck) request.destroy()

  expect(processesIn(folder.path)).toEqual([])
  const looker = new pg.Client({ connectionString: database.url })
  await looker.connect()
  const { rows } = await looker.query(
    "select distinct state, lease_owner from job where type = 'video-transcoding' and state <> 'completed'",
  )
  const { rows: held } = await looker.query('select token from upload where lease_owner is not null')
  await looker.end()
  expect(rows).toEqual([{ state: 'waiting', lease_owner: null }])
  expect(held).toEqual([])
})

/** A request with an endless body. */
function neverEnding(port: number) {
  const headers = { authorization: client.authorization, 'content-type': 'application/json', 'content-length': 1000 }
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/video-playlists', headers })
  request.on('error', () => {})
  request.write('{')
  return request
}

async function untilReady(port: number): Promise<void> {
  await eventually(async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/health/ready`)
    expect(status).toBe(200)
  })
}
