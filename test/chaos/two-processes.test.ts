// One upload through two processes: chunks in turn, two at once, with each process stopped or killed in between.

import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres.ts'
import { eventually } from '../support/until.ts'
import { type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { channelOf, makeVideo } from './support/videos.ts'

const PATH = '/api/v1/videos/upload-resumable'
const CHUNKS = 8

const folder = dataFolder()
let database: TestDatabase
let options: [Parameters<typeof start>[0], Parameters<typeof start>[0]]
let nodes: [Child, Child]
let client: Client
let channelId: number
let bytes: Buffer

beforeAll(async () => {
  database = await freshDatabase()
  const ports = [await freePort(), await freePort()] as const
  const env = {
    DATABASE_URL: database.url,
    VIREO__WEBSERVER__PORT: String(ports[0]),
    VIREO__TRANSCODING__ENABLED: 'false',
  }
  options = [
    { dataDir: folder.path, port: ports[0], env },
    { dataDir: folder.path, port: ports[1], env },
  ]
  nodes = [await start(options[0]), await start(options[1])]
  client = await login(nodes[0].base, USERNAME, PASSWORD)
  channelId = await channelOf(client)
  bytes = await makeVideo(2)
})

afterAll(async () => {
  for (const node of nodes ?? []) node.signal('SIGKILL', 'group')
  await folder.remove()
  await database?.drop()
})

/** Offset of chunk `index`. */
const edge = (index: number): number => Math.floor((index * bytes.length) / CHUNKS)

async function open(name: string): Promise<string> {
  const answer = await client.raw(PATH, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-length': String(bytes.length),
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ channelId, name, filename: 'video.mp4', privacy: 1 }),
  })
  expect(answer.status).toBe(201)
  return answer.headers.get('location')?.split('upload_id=')[1] ?? ''
}

const headersOf = (from: number, to: number) => ({
  authorization: client.authorization,
  'content-type': 'application/octet-stream',
  'content-range': `bytes ${from}-${to - 1}/${bytes.length}`,
})

interface Answer {
  status: number
  range: string | null
  retryAfter: string | null
  body: { video: { id: number; uuid: string; shortUUID: string } } | null
}

async function put(node: Child, id: string, init: { headers: Record<string, string>; body?: Buffer }): Promise<Answer> {
  const answer = await fetch(`${node.base}${PATH}?upload_id=${id}`, {
    method: 'PUT',
    redirect: 'manual',
    headers: init.headers,
    body: init.body ? new Uint8Array(init.body) : null,
  })
  const text = await answer.text()
  return {
    status: answer.status,
    range: answer.headers.get('range'),
    retryAfter: answer.headers.get('retry-after'),
    body: text === '' ? null : JSON.parse(text),
  }
}

const send = (node: Child, id: string, from: number, to: number) =>
  put(node, id, { headers: headersOf(from, to), body: bytes.subarray(from, to) })

const ask = (node: Child, id: string) => put(node, id, { headers: { ...headersOf(0, 1), 'content-range': `bytes */${bytes.length}` } })

/** Sends the headers and first bytes of a chunk, and returns a function for the rest. */
function begin(node: Child, id: string, from: number, to: number, sent: number) {
  const { hostname, port } = new URL(node.base)
  const request = httpRequest({
    hostname,
    port,
    method: 'PUT',
    path: `${PATH}?upload_id=${id}`,
    agent: false,
    headers: { ...headersOf(from, to), 'content-length': to - from },
  })
  request.on('error', () => undefined)
  request.write(bytes.subarray(from, from + sent))
  return request
}

/** Waits until a request holds the lease of the upload. */
async function untilHeld(id: string): Promise<void> {
  const looker = new pg.Client({ connectionString: database.url })
  await looker.connect()
  try {
    await eventually(async () => {
      const { rows } = await looker.query('select 1 from upload where token = $1 and lease_owner is not null', [id])
      expect(rows).toHaveLength(1)
    })
  } finally {
    await looker.end()
  }
}

async function served(uuid: string): Promise<Buffer> {
  const video = await client.get<{ files: { fileUrl: string }[] }>(`/api/v1/videos/${uuid}`)
  return Buffer.from(await (await fetch(video.files[0]?.fileUrl ?? '')).arrayBuffer())
}

const standsAt = (offset: number) => ({ status: 308, range: `bytes=0-${offset - 1}` })

describe('an upload with chunks to two processes in turn', () => {
  it('is whole after one process was stopped and the other killed, and fits a quota that it fills exactly', async () => {
    // Counting it twice would exceed the quota.
    const me = await client.get<{ id: number }>('/api/v1/users/me')
    await client.send('PUT', `/api/v1/users/${me.id}`, { videoQuota: bytes.length, videoQuotaDaily: bytes.length })
    const id = await open('in turn')
    expect(await send(nodes[0], id, edge(0), edge(1))).toMatchObject(standsAt(edge(1)))
    expect(await send(nodes[1], id, edge(1), edge(2))).toMatchObject(standsAt(edge(2)))

    nodes[1].signal('SIGTERM', 'process')
    expect(await nodes[1].ended).toBe(0)
    expect(await send(nodes[0], id, edge(2), edge(3))).toMatchObject(standsAt(edge(3)))
    nodes[1] = await start(options[1])
    expect(await send(nodes[1], id, edge(3), edge(4))).toMatchObject(standsAt(edge(4)))

    // Killed during a chunk: the client resends unacknowledged bytes to the other process.
    begin(nodes[0], id, edge(4), edge(5), 1000)
    await untilHeld(id)
    nodes[0].signal('SIGKILL', 'group')
    await nodes[0].ended
    const stood = await ask(nodes[1], id)
    const offset = Number(stood.range?.split('-')[1]) + 1
    expect(offset).toBeGreaterThanOrEqual(edge(4))
    expect(await send(nodes[1], id, offset, edge(6))).toMatchObject(standsAt(edge(6)))
    nodes[0] = await start(options[0])
    expect(await send(nodes[0], id, edge(6), edge(7))).toMatchObject(standsAt(edge(7)))

    const last = await send(nodes[1], id, edge(7), edge(8))
    expect(last).toMatchObject({ status: 200, body: { video: { uuid: expect.any(String) } } })
    // A client that lost the answer gets it again from either process.
    for (const node of nodes) expect(await ask(node, id)).toMatchObject({ status: 200, body: last.body })
    expect((await served(last.body?.video.uuid ?? '')).equals(bytes)).toBe(true)
    await client.send('PUT', `/api/v1/users/${me.id}`, { videoQuota: -1, videoQuotaDaily: -1 })
  })

  it('accepts one of two simultaneous chunks, and answers the other with the offset', async () => {
    const id = await open('at once')
    const slow = begin(nodes[0], id, edge(0), edge(4), 1000)
    const taken = new Promise<number | undefined>((resolve) => slow.on('response', (one) => resolve(one.statusCode)))
    await untilHeld(id)
    expect(await send(nodes[1], id, edge(0), edge(4))).toEqual({
      status: 503,
      retryAfter: expect.stringMatching(/^[1-9]\d*$/),
      range: expect.stringMatching(/^bytes=0-/),
      body: expect.anything(),
    })
    slow.end(bytes.subarray(1000, edge(4)))
    expect(await taken).toBe(308)
    expect(await send(nodes[1], id, edge(0), edge(4))).toMatchObject(standsAt(edge(4)))

    for (const [from, to] of [
      [4, 6],
      [6, 7],
    ] as const) {
      const both = await Promise.all(nodes.map((node) => send(node, id, edge(from), edge(to))))
      for (const answer of both) expect(answer).toMatchObject(standsAt(edge(to)))
    }
    const ends = await Promise.all(nodes.map((node) => send(node, id, edge(7), edge(8))))
    expect(ends.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status } of ends) expect([200, 404, 503]).toContain(status)
    const [first, second] = await Promise.all(nodes.map((node) => ask(node, id)))
    expect(first).toMatchObject({ status: 200 })
    expect(second?.body).toEqual(first?.body)
    expect((await served(first?.body?.video.uuid ?? '')).equals(bytes)).toBe(true)
    expect(await client.get('/api/v1/users/me/videos?search=at once')).toMatchObject({ total: 1 })
  })
})
