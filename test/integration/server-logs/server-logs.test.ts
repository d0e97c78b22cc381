// The logs of a server: what administrators read, the audit of changes, and no secrets.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { FastifyContextConfig } from 'fastify'
import pg from 'pg'
import sharp from 'sharp'
import { z } from 'zod'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { AUDITED_FIELDS } from '../../../src/actors/audit/audited-fields.ts'
import { AUDITED } from '../../../src/http/plugins/audit.ts'
import { type LogFileWriter, openLogFiles } from '../../../src/platform/log-files/index.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { linksIn, makeBrowser } from '../../support/browser.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
import { until } from '../../support/until.ts'
import { NOT_AUDITED } from '../../support/write-routes.ts'

const S3_SECRET = 'the-secret-of-the-buckets'
const SMTP_PASSWORD = 'the-password-of-the-post'
const SEAL = 'the-secret-that-seals-all-keys-of-this-server'

let folder: string
let files: LogFileWriter
let s3: TestS3
let mail: MailServer
let node: TestNode
let root: Client
const routes = new Map<string, FastifyContextConfig>()
/** The format of standard output. */
const output: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vireo-server-logs-'))
  files = openLogFiles({ directory: folder, kind: 'web', rotation: null, warn: () => undefined })
  ;[s3, mail] = await Promise.all([startS3(), startMailServer({ user: { username: 'post', password: SMTP_PASSWORD } })])
  const objects = everythingIn(s3.endpoint)
  const object_storage = {
    ...objects.object_storage,
    credentials: { access_key_id: 'S3RVER', secret_access_key: S3_SECRET },
  }
  node = await startTestNode({
    config: {
      object_storage,
      storage: { logs: folder },
      secrets: { peertube: SEAL },
      transcoding: { enabled: false },
      video_file: { update: { enabled: true } },
      vireo: { object_storage: objects.vireo.object_storage },
      smtp: {
        hostname: '127.0.0.1',
        port: mail.port,
        tls: false,
        disable_starttls: true,
        username: 'post',
        password: SMTP_PASSWORD,
        from_address: 'video@example.org',
      },
    },
    onRoute: ({ method, url, config = {} }) => {
      for (const one of [method].flat()) routes.set(`${one} ${url}`, config)
    },
    logger: makeLogger({
      level: 'debug',
      destination: {
        write(line) {
          output.push(line)
          files.write(line)
        },
      },
    }),
  })
  root = await login(node.base, node.username, node.password)
})
afterAll(async () => {
  await node?.stop()
  await files?.close()
  await Promise.all([s3?.stop(), mail?.close()])
  await rm(folder, { recursive: true, force: true })
})

const line = z.looseObject({
  level: z.string(),
  message: z.string(),
  label: z.string(),
  timestamp: z.iso.datetime(),
  tags: z.array(z.string()).optional(),
})
const logs = async (query: Record<string, string> = {}) =>
  z.array(line).parse(await root.get(`/api/v1/server/logs?${new URLSearchParams({ startDate: '2020-01-01', ...query })}`))

/** Audit entries since the start of the test. */
async function audited(since: Date): Promise<Record<string, unknown>[]> {
  const answer = await root.get(`/api/v1/server/audit-logs?startDate=${since.toISOString()}`)
  return z
    .array(line)
    .parse(answer)
    .map(({ level, label, message }) => {
      expect([level, label]).toEqual(['audit', new URL(node.base).host])
      return z.record(z.string(), z.unknown()).parse(JSON.parse(message))
    })
}
/** Everything created from now on is younger. */
async function moment(): Promise<Date> {
  const now = new Date()
  await pause(2)
  return now
}
async function addUser(username: string, password = 'a good password'): Promise<{ id: number; client: Client }> {
  const body = { username, password, email: `${username}@example.org`, role: 2, videoQuota: -1, videoQuotaDaily: -1 }
  const { user } = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', body)
  return { id: user.id, client: await login(node.base, username, password) }
}
async function sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
  const db = new pg.Client({ connectionString: node.databaseUrl })
  await db.connect()
  try {
    return (await db.query(text, values)).rows
  } finally {
    await db.end()
  }
}
async function avatar(): Promise<FormData> {
  const form = new FormData()
  const bytes = await sharp({ create: { width: 60, height: 60, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  form.set('avatarfile', new File([new Uint8Array(bytes)], 'avatar.png', { type: 'image/png' }))
  return form
}
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${node.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
async function upload(client: Client, fields: Record<string, string>): Promise<{ id: number; uuid: string }> {
  const { videoChannels } = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = new FormData()
  const all = { channelId: String(videoChannels[0]?.id), name: 'A video', ...fields }
  for (const [name, value] of Object.entries(all)) form.set(name, value)
  const bytes = new Uint8Array(await readFile(await media('small.mp4')))
  form.set('videofile', new File([bytes], 'small.mp4', { type: 'video/mp4' }))
  return (await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/upload', form)).video
}

describe('the log', () => {
  it('is served to administrators in the format of clients', async () => {
    await fetch(`${node.base}/api/v1/ping`, { headers: { 'x-request-id': 'ping-1' } })
    const found = await until(async () => (await logs({ tagsOneOf: 'http' })).find(({ reqId }) => reqId === 'ping-1'))
    expect(found).toMatchObject({
      level: 'info',
      message: 'GET /api/v1/ping 200',
      label: new URL(node.base).host,
      tags: ['http'],
      method: 'GET',
      url: '/api/v1/ping',
      status: 200,
      ms: expect.any(Number),
      ip: '127.0.0.1',
    })
    expect(await logs({ startDate: '2020-01-01', endDate: '2020-01-02' })).toEqual([])
    expect((await logs()).every(({ level }) => level !== 'debug')).toBe(true)
    const statements = await logs({ level: 'debug', tagsOneOf: 'sql' })
    expect(statements.some(({ sql }) => String(sql).startsWith('select'))).toBe(true)
    expect(await logs({ level: 'error', tagsOneOf: 'http' })).toEqual([])
  })

  it('is listed in pages, newest first, without details', async () => {
    for (const id of ['ping-2', 'ping-3', 'ping-4']) await fetch(`${node.base}/api/v1/ping`, { headers: { 'x-request-id': id } })
    await until(async () => (await logs({ tagsOneOf: 'http' })).some(({ reqId }) => reqId === 'ping-4'))
    const endDate = new Date().toISOString()
    const all = (await logs({ endDate })).map(({ level, message, timestamp }) => ({ level, message, timestamp }))
    expect(await root.get(`/api/v1/vireo/logs?startDate=2020-01-01&endDate=${endDate}&start=1&count=2`)).toEqual({
      total: 4,
      data: all.slice(-3, -1).toReversed(),
    })
    expect(await root.get(`/api/v1/vireo/logs?startDate=2020-01-01&endDate=${endDate}&level=error`)).toEqual({ total: 0, data: [] })
  })

  it('is searched in steps by the page, whose choice of levels begins with the one that is shown', async () => {
    const path = join(folder, 'vireo-web-elsewhere-9.log')
    const begun = Date.now() - 3_000_000
    const lineOf = (n: number) => JSON.stringify({ level: n === 0 ? 50 : 30, time: begun + n, msg: n === 0 ? 'It broke' : 'z'.repeat(100) })
    await writeFile(path, Array.from({ length: 30_000 }, (_, n) => `${lineOf(n)}\n`).join(''))
    const browser = makeBrowser(node.base)
    await browser.login(node.username, node.password)
    const { html } = await browser.open('/admin/logs')
    expect(html).toMatch(/<option value="info" selected>Info and above<\/option>/)
    const beyond = (await browser.open('/admin/logs?logs.page=9999')).html
    expect([linksIn(beyond, 'Previous page').length, linksIn(beyond, 'Search on').length]).toEqual([1, 1])
    let page = await browser.open('/admin/logs?logs.level=error')
    expect(page.html).toMatch(/<option value="error" selected>Errors only<\/option>/)
    expect(page.html).toContain('Nothing matches.')
    let steps = 0
    for (let [next] = linksIn(page.html, 'Search on'); next; [next] = linksIn(page.html, 'Search on')) {
      page = await browser.open(next)
      steps += 1
    }
    expect(page.html).toContain('It broke')
    expect(page.html).toMatch(/<option value="error" selected>/)
    expect([steps > 0, steps < 5]).toEqual([true, true])
    await rm(path)
  })

  it('accepts reports of web clients, truncated', async () => {
    const report = {
      level: 'error',
      message: 'It \u001b[31mbroke\u202e',
      url: `${node.base}/w/1?videoFileToken=hush`,
      stackTrace: `at x (y:1)\n${'z'.repeat(14_000)}`,
      userAgent: 'Browser',
      meta: '{"a":1}',
    }
    expect((await post('/api/v1/server/logs/client', report)).status).toBe(204)
    const [found, ...more] = await until(async () => {
      const lines = await logs({ tagsOneOf: 'client' })
      return lines.length > 0 ? lines : undefined
    })
    expect(more).toEqual([])
    expect(found).toMatchObject({
      level: 'error',
      message: 'Client log: It [31mbroke',
      url: `${node.base}/w/1?videoFileToken=[hidden]`,
      userAgent: 'Browser',
      meta: '{"a":1}',
      tags: ['client'],
    })
    expect(String(found?.stackTrace)).toHaveLength(5000)
  })

  it.each([
    ['level', { level: 'info' }],
    ['message', { message: '' }],
    ['message', { message: 'x'.repeat(1001) }],
    ['url', { url: 'nowhere' }],
    ['stackTrace', { stackTrace: 'x'.repeat(15_001) }],
    ['userAgent', { userAgent: 'x'.repeat(201) }],
    ['meta', { meta: { a: 1 } }],
  ])('refuses a report with an invalid %s', async (field, change) => {
    const report = { level: 'warn', message: 'm', url: 'https://example.com/', ...change }
    const answer = await post('/api/v1/server/logs/client', report)
    expect([answer.status, Object.keys((await answer.json())['invalid-params'])]).toEqual([400, [field]])
  })
})

const HELLO = 'hello https://a.example/?token=0123456789'

describe('the audit log', () => {
  it('covers every kind of object', async () => {
    for (const portrait of Object.values(AUDITED_FIELDS)) {
      const rows = await sql(`select (${portrait.sql.replace('$id', '$1::bigint')})::text as seen`, [0])
      expect(rows).toEqual([{ seen: null }])
    }
  })

  it('covers existing routes', () => {
    expect([...AUDITED, ...NOT_AUDITED].filter((route) => !routes.has(route))).toEqual([])
  })

  it('covers every change by moderators and administrators, or excludes it explicitly', () => {
    const ofStaff = [...routes].filter(
      ([route, { right, auth }]) => !/^(GET|HEAD|OPTIONS) /.test(route) && (right || auth === 'moderator' || auth === 'admin'),
    )
    expect(ofStaff.length).toBeGreaterThan(30)
    expect(ofStaff.map(([route]) => route).filter((route) => AUDITED.has(route) === NOT_AUDITED.has(route))).toEqual([])
  })

  it('records creation, change and removal of a user, without passwords', async () => {
    const since = await moment()
    const { id } = await addUser('kim', 'the first password')
    await root.send('PUT', `/api/v1/users/${id}`, { videoQuota: 5000 })
    await root.send('PUT', `/api/v1/users/${id}`, { videoQuota: 5000 })
    await root.send('PUT', `/api/v1/users/${id}`, { password: 'the second password' })
    await root.send('POST', `/api/v1/users/${id}/block`, { reason: 'spam' })
    await root.send('DELETE', `/api/v1/users/${id}`)
    const by = { user: 'root', role: 'Administrator', domain: 'users', 'user-id': id }
    const done = await audited(since)
    expect(done).toEqual([
      expect.objectContaining({ ...by, action: 'create', 'user-username': 'kim', 'user-videoQuota': -1 }),
      expect.objectContaining({ ...by, action: 'update', 'user-videoQuota': -1, 'new-user-videoQuota': 5000 }),
      { ...by, action: 'update', 'user-password': 'changed' },
      expect.objectContaining({ ...by, action: 'update', 'new-user-blocked': true, 'new-user-blockedReason': 'spam' }),
      expect.objectContaining({ ...by, action: 'delete', 'user-username': 'kim', 'user-blocked': true }),
    ])
    expect(Object.keys(done[1] ?? {}).filter((key) => key.startsWith('new-'))).toEqual(['new-user-videoQuota'])
    expect(JSON.stringify(done)).not.toMatch(/the (first|second) password/)
  })

  it('records changes of videos, channels, comments, reports and the configuration', async () => {
    const { client } = await addUser('lee')
    const since = await moment()
    const video = await upload(client, { name: 'Before', privacy: '1' })
    await client.send('PUT', `/api/v1/videos/${video.id}`, { name: 'After', tags: ['one', 'two'] })
    const thread = `/api/v1/videos/${video.id}/comment-threads`
    const { comment } = await client.send<{ comment: { id: number } }>('POST', thread, { text: HELLO })
    const { abuse } = await client.send<{ abuse: { id: number } }>('POST', '/api/v1/abuses', {
      reason: 'bad',
      video: { id: video.id },
    })
    await root.send('PUT', `/api/v1/abuses/${abuse.id}`, { state: 3, moderationComment: 'done' })
    await root.send('DELETE', `/api/v1/abuses/${abuse.id}`)
    await root.send('DELETE', `/api/v1/videos/${video.id}/comments/${comment.id}`)
    const channel = { name: 'lee_two', displayName: 'Two' }
    await client.send('POST', '/api/v1/video-channels', channel)
    await client.send('PUT', '/api/v1/video-channels/lee_two', { displayName: 'Second' })
    await client.send('DELETE', '/api/v1/video-channels/lee_two')
    await client.send('PUT', '/api/v1/users/me', { displayName: 'Lee', nsfwPolicy: 'blur' })
    await root.send('POST', '/api/v1/server/following', { hosts: ['127.0.0.1:9'] })
    const custom = z.looseObject({ instance: z.looseObject({}) }).parse(await root.get('/api/v1/config/custom'))
    await root.send('PUT', '/api/v1/config/custom', { ...custom, instance: { ...custom.instance, name: 'Renamed' } })
    await root.send('DELETE', '/api/v1/config/custom')
    await client.send('DELETE', `/api/v1/videos/${video.id}`)

    const [lee, admin] = [
      { user: 'lee', role: 'User' },
      { user: 'root', role: 'Administrator' },
    ]
    const of = (by: object, domain: string, action: string, more: object) => expect.objectContaining({ ...by, domain, action, ...more })
    expect(await audited(since)).toEqual([
      of(lee, 'videos', 'create', { 'video-id': video.id, 'video-name': 'Before', 'video-privacy': 1 }),
      of(lee, 'videos', 'update', {
        'video-name': 'Before',
        'new-video-name': 'After',
        'new-video-tags': ['one', 'two'],
      }),
      of(lee, 'comments', 'create', {
        'comment-id': comment.id,
        'comment-text': 'hello https://a.example/?token=[hidden]',
      }),
      of(lee, 'abuse', 'create', { 'abuse-id': abuse.id, 'abuse-reason': 'bad', 'abuse-reporter-name': 'lee' }),
      of(admin, 'abuse', 'update', { 'abuse-moderationComment': null, 'new-abuse-moderationComment': 'done' }),
      of(admin, 'abuse', 'delete', { 'abuse-id': abuse.id }),
      of(admin, 'comments', 'delete', { 'comment-id': comment.id }),
      of(lee, 'channels', 'create', { 'channel-name': 'lee_two' }),
      of(lee, 'channels', 'update', { 'channel-displayName': 'Two', 'new-channel-displayName': 'Second' }),
      of(lee, 'channels', 'delete', { 'channel-displayName': 'Second' }),
      of(lee, 'users', 'update', { 'new-user-account-displayName': 'Lee', 'new-user-nsfwPolicy': 'blur' }),
      of(admin, 'follows', 'create', { 'follow-following': '127.0.0.1:9' }),
      of(admin, 'config', 'update', { 'new-config-instance-name': 'Renamed' }),
      of(admin, 'config', 'update', { 'config-instance-name': 'Renamed', 'new-config-instance-name': null }),
      of(lee, 'videos', 'delete', { 'video-name': 'After' }),
    ])
  })

  it('records blocks by the instance, watched words, and removals of comments', async () => {
    const { client } = await addUser('spammer')
    const since = await moment()
    const blocks = '/api/v1/server/blocklist'
    for (const _again of [1, 2]) await root.send('POST', `${blocks}/servers`, { host: 'Bad.example' })
    await root.send('DELETE', `${blocks}/servers/bad.example`)
    await root.send('POST', `${blocks}/accounts`, { accountName: 'spammer' })
    await root.send('DELETE', `${blocks}/accounts/spammer`)
    const lists = '/api/v1/watched-words/server/lists'
    const words = { listName: 'Bad words', words: ['one', 'two'] }
    const { watchedWordsList: list } = await root.send<{ watchedWordsList: { id: number } }>('POST', lists, words)
    await root.send('PUT', `${lists}/${list.id}`, { ...words, words: ['one'] })
    await root.send('DELETE', `${lists}/${list.id}`)
    await root.send('POST', '/api/v1/bulk/remove-comments-of', { accountName: 'spammer', scope: 'instance' })
    // Administrators must not read users' private data.
    await client.send('POST', '/api/v1/users/me/blocklist/servers', { host: 'other.example' })
    await client.send('POST', '/api/v1/watched-words/accounts/spammer/lists', words)

    const of = (domain: string, action: string, more: object) =>
      expect.objectContaining({ user: 'root', role: 'Administrator', domain, action, ...more })
    const account = { 'block-account': `${node.base}/accounts/spammer` }
    expect(await audited(since)).toEqual([
      of('blocklist', 'create', { 'block-host': 'bad.example' }),
      of('blocklist', 'delete', { 'block-host': 'bad.example' }),
      of('blocklist', 'create', account),
      of('blocklist', 'delete', account),
      of('watched-words', 'create', { 'list-id': list.id, 'list-listName': 'Bad words', 'list-words': 2 }),
      of('watched-words', 'update', { 'list-id': list.id, 'list-words': 1 }),
      of('watched-words', 'delete', { 'list-id': list.id, 'list-words': 1 }),
      of('comments', 'delete', { 'comment-allOf': 'spammer', 'comment-scope': 'instance' }),
    ])
  })

  it('records changes of the instance, registration requests, blocks and mirrors', async () => {
    const video = await upload(root, { name: 'Blocked', privacy: '1' })
    const [registration] = await sql<{ id: number }>(
      `insert into registration (state, context, username, password_hash, email, registration_reason)
       values ('requested', '{"emailVerified": null}', 'ann', 'x', 'ann@example.org', 'why not') returning id`,
    )
    await sql("insert into remote_host (host) values ('mirrored.example')")
    const since = await moment()
    const homepage = { content: '# Welcome' }
    await root.send('PUT', '/api/v1/custom-pages/homepage/instance', homepage)
    await root.send('PUT', '/api/v1/custom-pages/homepage/instance', homepage)
    await root.send('POST', '/api/v1/config/instance-avatar/pick', await avatar())
    await root.send('DELETE', '/api/v1/config/instance-avatar')
    await root.send('DELETE', '/api/v1/config/instance-banner')
    for (const action of ['pause', 'pause', 'resume']) await root.send('POST', `/api/v1/jobs/${action}`)
    const registrations = `/api/v1/users/registrations/${registration?.id}`
    await root.send('POST', `${registrations}/reject`, { moderationResponse: 'no', preventEmailDelivery: true })
    await root.send('DELETE', registrations)
    await root.send('POST', `/api/v1/videos/${video.id}/blacklist`, { reason: 'bad' })
    await root.send('PUT', `/api/v1/videos/${video.id}/blacklist`, { reason: 'worse' })
    await root.send('DELETE', `/api/v1/videos/${video.id}/blacklist`)
    for (const redundancyAllowed of [true, true, false]) {
      await root.send('PUT', '/api/v1/server/redundancy/mirrored.example', { redundancyAllowed })
    }

    const by = { user: 'root', role: 'Administrator' }
    const config = (more: object) => ({ ...by, domain: 'config', action: 'update', ...more })
    const of = (domain: string, action: string, more: object) => expect.objectContaining({ ...by, domain, action, ...more })
    const host = { 'follow-following': 'mirrored.example' }
    expect(await audited(since)).toEqual([
      config({ 'config-homepage': 'changed' }),
      config({ 'config-instance-avatar': 'changed' }),
      config({ 'config-instance-avatar': 'changed' }),
      config({ 'config-jobs': 'running', 'new-config-jobs': 'paused' }),
      config({ 'config-jobs': 'paused', 'new-config-jobs': 'running' }),
      of('registrations', 'update', { 'registration-username': 'ann', 'new-registration-state': 'rejected' }),
      of('registrations', 'delete', { 'registration-state': 'rejected', 'registration-moderationResponse': 'no' }),
      of('videos', 'update', { 'new-video-blocked': true, 'new-video-blockedReason': 'bad', 'video-webVideoFiles': 1 }),
      of('videos', 'update', { 'video-blockedReason': 'bad', 'new-video-blockedReason': 'worse' }),
      of('videos', 'update', { 'new-video-blocked': false, 'new-video-blockedReason': null }),
      of('follows', 'update', { ...host, 'follow-redundancyAllowed': true }),
      of('follows', 'update', { ...host, 'follow-redundancyAllowed': false }),
    ])
  })

  it("records imports into another user's account, and file replacements", async () => {
    const { id, client } = await addUser('lou')
    const video = await upload(client, { name: 'Replaced', privacy: '1' })
    const bytes = await readFile(await media('silent.mp4'))
    const init = (path: string, filename: string, type: string, length: number) =>
      root.raw(path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-upload-content-length': `${length}`,
          'x-upload-content-type': type,
        },
        body: JSON.stringify({ filename }),
      })
    const since = await moment()
    const imports = `/api/v1/users/${id}/imports/import-resumable`
    expect((await init(imports, 'archive.zip', 'application/zip', 1000)).status).toBe(201)
    const source = `/api/v1/videos/${video.id}/source/replace-resumable`
    const { headers } = await init(source, 'silent.mp4', 'video/mp4', bytes.length)
    const replaced = await root.raw(`${source}${new URL(`http:${headers.get('location')}`).search}`, {
      method: 'PUT',
      headers: {
        'content-type': 'application/octet-stream',
        'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`,
      },
      body: new Uint8Array(bytes),
    })
    expect(replaced.status).toBe(200)
    const by = { user: 'root', role: 'Administrator' }
    expect(await audited(since)).toEqual([
      expect.objectContaining({ ...by, domain: 'user-imports', action: 'create', 'user-import-user-username': 'lou' }),
      expect.objectContaining({
        ...by,
        domain: 'videos',
        action: 'update',
        'video-id': video.id,
        'new-video-inputFileUpdatedAt': expect.any(String),
      }),
    ])
  })

  it('is listed in pages, newest first', async () => {
    const since = await moment()
    for (const n of [1, 2, 3]) await root.send('PUT', '/api/v1/users/me', { description: `${n} ${'x'.repeat(950)}` })
    const [, second, last] = z.array(line).parse(await root.get(`/api/v1/server/audit-logs?startDate=${since.toISOString()}`))
    const headOf = (one = last) => ({ level: 'audit', message: one?.message.slice(0, 1000), timestamp: one?.timestamp })
    const page = (start: number) => root.get(`/api/v1/vireo/audit-logs?startDate=${since.toISOString()}&start=${start}&count=2`)
    expect(last?.message.length).toBeGreaterThan(1000)
    expect(await page(0)).toEqual({ total: 3, data: [headOf(last), headOf(second)] })
    expect(await page(9)).toEqual({ total: 3, data: [] })
  })

  it('records nothing that was refused', async () => {
    const { id, client } = await addUser('sam')
    const since = await moment()
    await expect(client.send('DELETE', `/api/v1/users/${id + 1000}`)).rejects.toThrow('403')
    await expect(root.send('PUT', `/api/v1/users/${id}`, { email: 'kim' })).rejects.toThrow('400')
    await expect(root.send('DELETE', '/api/v1/videos/123456')).rejects.toThrow('404')
    expect(await audited(since)).toEqual([])
  })
})

it('contains no secrets', async () => {
  const secrets: Record<string, string> = { S3_SECRET, SMTP_PASSWORD, SEAL, root: node.password }
  const know = (name: string, secret: string | null | undefined): string => {
    if (!secret || secret.length < 4) throw new Error(`There is no ${name}.`)
    secrets[name] = secret
    return secret
  }
  const password = know('password', 'pass-word-of-max')
  const { id } = await addUser('max', password)
  const app = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
  know('client secret', app.client_secret)
  const token = async (grant: Record<string, string>) =>
    await (
      await fetch(`${node.base}/api/v1/users/token`, {
        method: 'POST',
        body: new URLSearchParams({ ...app, ...grant }),
      })
    ).json()
  const first = await token({ grant_type: 'password', username: 'max', password })
  know('access token', first.access_token)
  const second = await token({ grant_type: 'refresh_token', refresh_token: know('refresh token', first.refresh_token) })
  const bearer = { authorization: `Bearer ${know('second access token', second.access_token)}` }
  know('second refresh token', second.refresh_token)
  await token({ grant_type: 'password', username: 'max', password: know('wrong password', 'not-the-one-of-max') })
  // In fields where they do not belong.
  for (const path of ['/api/v1/users/me', '/api/v1/none', '/w/none', '/feeds/subscriptions.xml']) {
    await fetch(`${node.base}${path}?access_token=${second.access_token}&token=${second.access_token}`, {
      headers: bearer,
    })
  }
  await fetch(`${node.base}/api/v1/users/me`, {
    headers: { authorization: `Basic ${know('basic', btoa(`max:${password}`))}` },
  })
  await post('/api/v1/users/token', { ...app, password }, bearer)
  const scoped = await (await fetch(`${node.base}/api/v1/users/scoped-tokens`, { headers: bearer })).json()
  await fetch(`${node.base}/feeds/subscriptions.xml?accountId=1&token=${know('feed token', scoped.feedToken)}`)
  await post('/api/v1/server/logs/client', {
    level: 'error',
    message: `Bearer ${second.access_token}`,
    url: `${node.base}/?token=${second.access_token}`,
    stackTrace: `at ${node.base}/?password=${password}`,
    meta: `{"url":"/x?a=1&videoFileToken=${second.access_token}"}`,
  })

  const max = await login(node.base, 'max', password)
  know('third access token', max.authorization.replace('Bearer ', ''))
  const shut = await upload(max, { privacy: '3' })
  const locked = await upload(max, { privacy: '5', 'videoPasswords[0]': know('video password', 'open-sesame-1') })
  const headers = { 'x-peertube-video-password': 'open-sesame-1' }
  await fetch(`${node.base}/api/v1/videos/${locked.uuid}`, { headers })
  await fetch(`${node.base}/api/v1/videos/${locked.uuid}`, {
    headers: { 'x-peertube-video-password': know('wrong', 'open-barley') },
  })
  const { files: given } = await max.send<{ files: { token: string } }>('POST', `/api/v1/videos/${shut.uuid}/token`)
  const { files: shown } = await max.get<{ files: { fileUrl: string }[] }>(`/api/v1/videos/${shut.uuid}`)
  const address = `${shown[0]?.fileUrl}?videoFileToken=${know('file token', given.token)}`
  const read = async () => {
    const answer = await fetch(address)
    await answer.arrayBuffer().catch(() => undefined)
    return answer.status
  }
  expect(await read()).toBe(200)
  s3.break(() => true)
  await read()
  s3.break(undefined)

  await post('/api/v1/users/ask-reset-password', { email: 'max@example.org' })
  const { text } = await mail.next('max@example.org')
  const verificationString = know('reset', new URL(/https?:\S+/.exec(text)?.[0] ?? '').searchParams.get('verificationString'))
  await fetch(`${node.base}/reset-password?userId=${id}&verificationString=${verificationString}`)
  const reset = { verificationString, password: know('new password', 'pass-word-of-max-2') }
  expect((await post(`/api/v1/users/${id}/reset-password`, reset)).status).toBe(204)
  const factor = { currentPassword: 'pass-word-of-max-2' }
  const again = await login(node.base, 'max', 'pass-word-of-max-2')
  const { otpRequest } = await again.send<{ otpRequest: { secret: string; requestToken: string } }>(
    ...(['POST', `/api/v1/users/${id}/two-factor/request`, factor] as const),
  )
  know('one-time secret', otpRequest.secret)
  know('request token', otpRequest.requestToken)

  await fetch(`${node.base}/api/v1/ping`, { headers: { 'x-request-id': 'the-last-one' } })
  const stored = await until(async () => {
    const names = await readdir(folder)
    const all = (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('')
    return all.includes('the-last-one') ? all : undefined
  })
  expect(stored).toContain('[hidden]')
  for (const [name, secret] of Object.entries(secrets)) {
    const places = [secret, encodeURIComponent(secret)]
    const found = [...output, ...stored.split('\n')].filter((one) => places.some((place) => one.includes(place)))
    expect({ name, found }).toEqual({ name, found: [] })
  }
})
