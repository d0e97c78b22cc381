// Upload of a user archive over HTTP, to two processes in turn, on the file system and in object storage, until the import.

import { readdir, readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { type MailServer, smtpConfig, startMailServer } from '../../support/mail-server.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { BUCKETS, everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
import { eventually } from '../../support/until.ts'

const ARCHIVE = new URL('../../fixtures/peertube-export.zip', import.meta.url)
const CHUNKS = 6

interface View {
  id: number
  state: { id: number; label: string }
  createdAt: string
  resultSummary: { stats: Record<string, { success: number; duplicates: number; errors: number }> }
}
interface User {
  id: number
  name: string
}

let s3: TestS3
let mail: MailServer
let archive: Buffer
beforeAll(async () => {
  s3 = await startS3()
  mail = await startMailServer()
  archive = await readFile(ARCHIVE)
})
afterAll(async () => {
  await mail.close()
  await s3.stop()
})

describe.each(['file system', 'object storage'] as const)('an archive on the %s', (place) => {
  const inObjects = place === 'object storage'
  let nodes: [TestNode, TestNode]
  let root: Client
  beforeAll(async () => {
    const config = {
      transcoding: { enabled: false },
      smtp: smtpConfig(mail),
      ...(inObjects ? everythingIn(s3.endpoint) : {}),
    }
    const first = await startTestNode({ config })
    nodes = [first, await startTestNode({ config, beside: first })]
    root = await login(first.base, first.username, first.password)
  })
  afterAll(async () => {
    await nodes?.[1].stop()
    await nodes?.[0].stop()
  })

  /** A user with a client for each process. */
  async function newUser(name: string, fields: object = {}): Promise<{ user: User; clients: [Client, Client] }> {
    const body = { username: name, email: `${name}@example.com`, password: 'a password', role: 2, ...fields }
    const quotas = { videoQuota: -1, videoQuotaDaily: -1, ...fields }
    const { user } = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', { ...body, ...quotas })
    const clients: [Client, Client] = [await login(nodes[0].base, name, 'a password'), await login(nodes[1].base, name, 'a password')]
    return { user: { id: user.id, name }, clients }
  }

  const address = ({ id }: Pick<User, 'id'>) => `/api/v1/users/${id}/imports/import-resumable`
  const init = (
    client: Client,
    user: Pick<User, 'id'>,
    { size = archive.length, filename = 'archive.zip', type = 'application/zip' } = {},
  ) =>
    client.raw(address(user), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-upload-content-length': String(size),
        'x-upload-content-type': type,
      },
      body: JSON.stringify({ filename }),
    })
  async function open(client: Client, user: User, options = {}): Promise<string> {
    const answer = await init(client, user, options)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('content-length')).toBe('0')
    const location = answer.headers.get('location') ?? ''
    expect(location.startsWith(`//${new URL(nodes[0].base).host}${address(user)}?upload_id=`)).toBe(true)
    return location.split('upload_id=')[1] ?? ''
  }
  const edge = (index: number): number => Math.floor((index * archive.length) / CHUNKS)
  const put = (client: Client, user: User, id: string, from: number, to: number) =>
    client.raw(`${address(user)}?upload_id=${id}`, {
      method: 'PUT',
      headers: {
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${from}-${to - 1}/${archive.length}`,
      },
      body: new Uint8Array(archive.subarray(from, to)),
    })
  const cancel = (client: Client, user: User, id: string) => client.raw(`${address(user)}?upload_id=${id}`, { method: 'DELETE' })
  const latest = (client: Client, user: User) => client.raw(`/api/v1/users/${user.id}/imports/latest`)
  /** The same, with the offset. */
  const progress = (client: Client, user: User) => client.raw(`/api/v1/vireo/users/${user.id}/imports/latest`)
  const bytesLeft = async (): Promise<string[]> =>
    inObjects
      ? (await s3.keys(BUCKETS.at(-1) ?? '')).filter((key) => key.includes('uploads/') || key.includes('.pieces/'))
      : await readdir(join(nodes[0].dataDir, 'storage', 'tmp-persistent')).catch(() => [])

  it('is uploaded in chunks to two processes in turn, across a restart, and imported', async () => {
    const { user, clients } = await newUser('owner')
    expect((await latest(clients[0], user)).status).toBe(404)
    const id = await open(clients[0], user)
    // The same file is the same upload in every process.
    expect(await open(clients[1], user)).toBe(id)
    for (let index = 0; index < CHUNKS - 1; index += 1) {
      const client = clients[index % 2] ?? clients[0]
      const answer = await put(client, user, id, edge(index), edge(index + 1))
      expect(answer.status).toBe(308)
      expect(answer.headers.get('range')).toBe(`bytes=0-${edge(index + 1) - 1}`)
      if (index === 2) await nodes[1].restart()
    }
    expect((await latest(clients[0], user)).status).toBe(404)
    // A gap and an earlier range change nothing.
    for (const from of [edge(CHUNKS - 1) + 5, 0]) {
      const answer = await put(clients[0], user, id, from, from + 10)
      expect(answer.status).toBe(308)
      expect(answer.headers.get('range')).toBe(`bytes=0-${edge(CHUNKS - 1) - 1}`)
    }
    const last = await put(clients[1], user, id, edge(CHUNKS - 1), archive.length)
    expect(last.status).toBe(204)
    expect(last.headers.get('content-length')).toBe('0')
    // A repeated request is still complete.
    const status = await clients[0].raw(`${address(user)}?upload_id=${id}`, {
      method: 'PUT',
      headers: { 'content-range': `bytes */${archive.length}` },
    })
    expect(status.status).toBe(204)
    await eventually(async () => {
      const answer = await progress(clients[0], user)
      expect(answer.status).toBe(200)
      const { state, resultSummary } = (await answer.json()) as View
      expect(state).toEqual({ id: 3, label: 'Completed' })
      const errors = Object.entries(resultSummary.stats).flatMap(([name, counts]) => (counts.errors > 0 ? [name] : []))
      // Of videos of an unreachable server.
      expect(errors).toEqual(['likes', 'userVideoHistory'])
      expect(resultSummary.stats.videos?.success).toBeGreaterThan(0)
    })
    expect(((await (await latest(root, user)).json()) as View).state.id).toBe(3)
    await eventually(async () => expect(await bytesLeft()).toEqual([]))
    expect((await mail.next('owner@example.com')).subject).toBe('[Vireo] Your archive was imported on Vireo')
  })

  it('is refused as the contract says', async () => {
    const { user, clients } = await newUser('refused')
    const { clients: others } = await newUser('another')
    const detail = async (answer: Response): Promise<unknown> => ((await answer.json()) as { detail: string }).detail
    const foreign = await init(others[0], user)
    expect([foreign.status, await detail(foreign)]).toEqual([403, 'Cannot manage imports of another user'])
    expect((await latest(others[0], user)).status).toBe(403)
    expect((await init(root, { id: 424_242 })).status).toBe(404)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await fetch(`${nodes[0].base}${address(user)}`, { method })).status).toBe(401)
    }
    const text = await init(clients[0], user, { filename: 'archive.txt' })
    expect([text.status, await detail(text)]).toEqual([400, 'User import file must be a zip'])
    expect((await init(clients[0], user, { type: 'text/plain' })).status).toBe(400)
    expect((await put(clients[0], user, '', 0, 10)).status).toBe(403)
    const id = await open(clients[0], user)
    expect((await put(others[0], user, id, 0, 10)).status).toBe(403)
    // A video is no archive.
    const asVideo = await clients[0].raw(`/api/v1/videos/upload-resumable?upload_id=${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-9/${archive.length}` },
      body: new Uint8Array(10),
    })
    expect(asVideo.status).toBe(403)
    const otherSize = await clients[0].raw(`${address(user)}?upload_id=${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream', 'content-range': 'bytes 0-9/999' },
      body: new Uint8Array(10),
    })
    expect(otherSize.status).toBe(409)
    expect((await cancel(clients[0], user, id)).status).toBe(204)

    const { user: poor, clients: poors } = await newUser('poor', { videoQuota: 1000 })
    const tooLarge = await init(poors[0], poor)
    expect(tooLarge.status).toBe(413)
    expect(await tooLarge.json()).toMatchObject({ code: 'quota_reached' })
  })

  it('leaves nothing when it is cancelled, or silent for too long', async () => {
    const { user, clients } = await newUser('away')
    const id = await open(clients[0], user)
    await put(clients[0], user, id, 0, 1000)
    for (const client of [clients[1], clients[0]]) {
      const answer = await cancel(client, user, id)
      expect(answer.status).toBe(204)
      expect(answer.headers.get('content-length')).toBe('0')
    }
    expect((await put(clients[0], user, id, 1000, 2000)).status).toBe(404)
    const silent = await open(clients[0], user)
    expect(silent).not.toBe(id)
    await put(clients[0], user, silent, 0, 1000)
    await run(nodes[0].databaseUrl, `update upload set due_at = now() - interval '1 second' where token = '${silent}'`)
    // Every chunk extends it by a day.
    await eventually(async () => expect(await bytesLeft()).toEqual([]))
    expect((await put(clients[0], user, silent, 1000, 2000)).status).toBe(403)
    expect((await latest(clients[0], user)).status).toBe(404)
  })

  it('accepts one chunk at a time', async () => {
    const { user, clients } = await newUser('eager')
    const id = await open(clients[0], user)
    // Started, and held open.
    const url = new URL(`${nodes[0].base}${address(user)}?upload_id=${id}`)
    const slow = httpRequest(url, {
      method: 'PUT',
      headers: {
        authorization: clients[0].authorization,
        'content-type': 'application/octet-stream',
        'content-length': archive.length,
        'content-range': `bytes 0-${archive.length - 1}/${archive.length}`,
      },
    })
    slow.on('error', () => undefined)
    slow.write(archive.subarray(0, 1000))
    const database = new pg.Client({ connectionString: nodes[0].databaseUrl })
    await database.connect()
    await eventually(async () => {
      const { rows } = await database.query('select lease_owner from upload where token = $1', [id])
      expect(rows).toEqual([{ lease_owner: expect.any(String) }])
    })
    await database.end()
    const second = await put(clients[1], user, id, 0, 1000)
    expect(second.status).toBe(503)
    expect(second.headers.get('retry-after')).not.toBeNull()
    slow.destroy()
    await eventually(async () => expect((await cancel(clients[0], user, id)).status).toBe(204))
  })

  it('is removed with its user', async () => {
    const { user, clients } = await newUser('leaving')
    const id = await open(clients[0], user)
    await put(clients[0], user, id, 0, 1000)
    await root.raw(`/api/v1/users/${user.id}`, { method: 'DELETE' })
    await eventually(async () => expect(await bytesLeft()).toEqual([]))
    expect((await root.raw(`/api/v1/users/${user.id}`)).status).toBe(404)
  })
})
