// Imports through the API of a whole server: files, pages and torrents of another site, and failures.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import WebTorrent from 'webtorrent'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { findImportedUrls } from '../../../src/actors/video-import/index.ts'
import type { Sql } from '../../../src/platform/database/index.ts'
import { media } from '../../support/media.ts'
import { startTestNode, storedNames, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { installYtDlp, pageInfo, startVideoOrigin, type VideoOrigin } from '../../support/video-origin.ts'

interface Import {
  id: number
  state: { id: number; label: string }
  error: string | null
  targetUrl: string | null
  video?: { id: number; uuid: string; name: string; state: { id: number } }
}

const ADDRESS = '/api/v1/videos/imports'
const SETTLED = ['Success', 'Failed', 'Rejected', 'Cancelled']

let node: TestNode
let pool: pg.Pool
let site: VideoOrigin
let client: Client
let channelId: number
let bytes: Buffer

beforeAll(async () => {
  site = await startVideoOrigin('localhost')
  bytes = await readFile(await media('small.mp4'))
  node = await startTestNode({
    config: {
      transcoding: { enabled: false },
      import: {
        videos: {
          concurrency: 1,
          http: { enabled: true },
          torrent: { enabled: true },
        },
      },
      vireo: {
        federation: { allow_http: true, allow_private_addresses: true },
        runtime: { drain_timeout: '100 ms' },
        imports: { torrent_dht: false, peer_timeout: '1 minute', silence_timeout: '30 seconds' },
      },
    },
  })
  await installYtDlp(join(node.dataDir, 'storage', 'bin'))
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 2 })
  pool.on('error', () => undefined)
  client = await login(node.base, node.username, node.password)
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = me.videoChannels[0]?.id ?? 0
  site.answer('/small.mp4', { type: 'video/mp4', bytes })
  site.answer('/waiting.mp4', (_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' }).write('a')
  })
})
afterAll(async () => {
  await pool?.end()
  await site?.close()
  await node?.stop()
})
beforeEach(() => {
  site.requested.length = 0
})

const at = (path: string): string => `http://localhost:${site.port}${path}`
const post = (body: object) => client.send<Import>('POST', ADDRESS, { channelId, privacy: 1, ...body })
const statusOf = async (body: object) =>
  (
    await client.raw(ADDRESS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ channelId, ...body }),
    })
  ).status
const list = (query = '') => client.get<{ total: number; data: Import[] }>(`/api/v1/users/me/videos/imports?count=100${query}`)

async function find(id: number): Promise<Import> {
  const found = (await list()).data.find((one) => one.id === id)
  if (!found) throw new Error(`There is no import ${id}.`)
  return found
}

const settled = (id: number): Promise<Import> =>
  until(async () => {
    const found = await find(id)
    return SETTLED.includes(found.state.label) ? found : undefined
  })

const processing = (id: number) => until(async () => (await find(id)).state.label === 'Processing')

async function count(sql: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from ${sql}`)
  return rows[0]?.count ?? -1
}

/** Expects no folders, files or records of imports. */
const untilClean = () =>
  until(async () => {
    const folders = await readdir(join(node.dataDir, 'storage', 'tmp')).catch(() => [])
    const left = folders.filter((name) => name.startsWith('import-'))
    return left.length === 0 && (await count('pending_file')) === 0 && (await count("video where state = 'to-import'")) === 0
  })

async function torrentOf(name: string, seed: string, files = 1): Promise<FormData> {
  const { default: createTorrent } = await import('create-torrent')
  const inputs = Array.from({ length: files }, (_, index) =>
    Object.assign(Buffer.from(bytes), { name: files === 1 ? name : `${index}-${name}` }),
  )
  const torrent = await new Promise<Uint8Array>((done, failed) =>
    createTorrent(inputs, { name, announceList: [], urlList: [seed] }, (error, made) => (error ? failed(error) : done(made))),
  )
  const form = new FormData()
  form.set('channelId', String(channelId))
  form.set('torrentfile', new Blob([new Uint8Array(torrent)]), 'sent.torrent')
  return form
}

describe('an import by URL', () => {
  it('becomes a published video with the given fields', async () => {
    const begun = await post({ targetUrl: at('/small.mp4'), name: 'my name', tags: ['mine'] })
    expect(begun).toMatchObject({
      targetUrl: at('/small.mp4'),
      magnetUri: null,
      torrentName: null,
      error: null,
      video: {
        name: 'my name',
        state: { id: 3 },
        waitTranscoding: true,
        tags: ['mine'],
        thumbnailPath: null,
        duration: 0,
      },
    })
    // Its job may have started before the response was read.
    expect([
      { id: 1, label: 'Pending' },
      { id: 6, label: 'Processing' },
    ]).toContainEqual(begun.state)
    expect(await settled(begun.id)).toMatchObject({ state: { id: 2 }, video: { state: { id: 1 }, duration: 2 } })
    const video = await client.get<{ files: { fileUrl: string }[]; thumbnailPath: string }>(`/api/v1/videos/${begun.video?.uuid}`)
    const stored = await fetch(video.files[0]?.fileUrl ?? '')
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
    expect(video.thumbnailPath).toMatch(/^\/lazy-static\/thumbnails\//)
    await untilClean()
  })

  it('needs approval where new videos do, from the start', async () => {
    const wait = async (enabled: boolean) => {
      const custom = await client.get<object>('/api/v1/config/custom')
      await client.send('PUT', '/api/v1/config/custom', {
        ...custom,
        autoBlacklist: { videos: { ofUsers: { enabled } } },
      })
    }
    const user = { username: 'waiter', password: 'password of waiter', email: 'waiter@example.org', role: 2 }
    await client.send('POST', '/api/v1/users', { ...user, videoQuota: -1, videoQuotaDaily: -1 })
    const waiter = await login(node.base, user.username, user.password)
    const me = await waiter.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    await wait(true)
    const body = { channelId: me.videoChannels[0]?.id, privacy: 1, targetUrl: at('/small.mp4') }
    const { video } = await waiter.send<Import>('POST', ADDRESS, body)
    await wait(false)
    const waiting = await client.get('/api/v1/videos/blacklist?type=2')
    expect(waiting).toMatchObject({ total: 1, data: [{ video: { uuid: video?.uuid } }] })
    const address = `/api/v1/videos/${video?.uuid}`
    const { files } = await until(async () => {
      const found = await waiter.get<{ state: { id: number }; files: { fileUrl: string }[] }>(address)
      return found.state.id === 1 ? found : undefined
    })
    expect(files[0]?.fileUrl).toContain('/web-videos/private/')
    expect((await fetch(node.base + address)).status).toBe(401)
    await client.send('DELETE', `${address}/blacklist`)
    expect((await fetch(node.base + address)).status).toBe(200)
    await untilClean()
  })

  it("of a page takes other fields from the page's metadata", async () => {
    site.answer('/watch/1', { type: 'text/html', bytes: '<video>' })
    site.answer('/watch/1.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/1.mp4', { type: 'video/mp4', bytes })
    site.answer('/watch/1.vtt', { type: 'text/vtt', bytes: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n' })
    site.answer('/watch/1.png', { type: 'image/png', bytes: await readFile(await media('picture.png')) })
    await client.send('POST', '/api/v1/watched-words/server/lists', { listName: 'sites', words: ['another site'] })
    const { id, video } = await post({ targetUrl: at('/watch/1'), category: 2 })
    expect(video?.name).toBe('localhost')
    expect(await settled(id)).toMatchObject({ state: { id: 2 }, error: null })
    const address = `/api/v1/videos/${video?.uuid}`
    expect(await client.get(address)).toMatchObject({
      name: 'A video of another site',
      tags: ['one', 'two'],
      nsfw: true,
      language: { id: 'en' },
      category: { id: 2 },
      licence: { id: 1 },
      originallyPublishedAt: '2020-01-02T00:00:00.000Z',
      description: 'Its description\n\n0:00 Ignored',
    })
    expect(await client.get('/api/v1/videos?autoTagOneOf=sites&include=64&nsfw=both')).toMatchObject({
      total: 1,
      data: [{ uuid: video?.uuid, automaticTags: ['sites'] }],
    })
    const chapters = await client.get<{ chapters: unknown[] }>(`${address}/chapters`)
    expect(chapters.chapters).toEqual([
      { timecode: 0, title: 'Beginning' },
      { timecode: 1, title: 'End' },
    ])
    expect(await client.get(`${address}/captions`)).toMatchObject({ total: 1, data: [{ language: { id: 'en' } }] })
    await untilClean()
  })

  it('that fails has a reason, leaves nothing, and can be retried', async () => {
    site.answer('/later.mp4', { type: 'text/plain', bytes: 'not yet' })
    const { id, video } = await post({ targetUrl: at('/later.mp4'), name: 'tried again' })
    const failed = await settled(id)
    expect(failed).toMatchObject({ state: { id: 3 } })
    expect(failed.error).toMatch(/^The video cannot be downloaded/)
    expect(failed.video).toBeUndefined()
    expect((await client.raw(`/api/v1/videos/${video?.uuid}`)).status).toBe(404)
    await untilClean()
    site.answer('/later.mp4', { type: 'video/mp4', bytes })
    await client.send('POST', `${ADDRESS}/${id}/retry`)
    expect(await settled(id)).toMatchObject({ state: { id: 2 }, error: null, video: { name: 'tried again' } })
    expect((await client.raw(`${ADDRESS}/${id}/retry`, { method: 'POST' })).status).toBe(409)
  })

  it('that failed keeps its uploaded pictures for a retry, and no longer', async () => {
    const picture = new Blob([new Uint8Array(await readFile(await media('picture.png')))], { type: 'image/png' })
    const begin = async () => {
      const form = new FormData()
      form.set('channelId', String(channelId))
      form.set('targetUrl', at('/pictured.mp4'))
      for (const name of ['thumbnailfile', 'previewfile']) form.set(name, picture, 'picture.png')
      const { id } = await client.send<Import>('POST', ADDRESS, form)
      expect(await settled(id)).toMatchObject({ state: { id: 3 } })
      return id
    }
    const pictures = () => Promise.all((['thumbnails', 'previews'] as const).map((kind) => storedNames(node, kind)))
    site.answer('/pictured.mp4', { type: 'text/plain', bytes: 'not yet' })
    const id = await begin()
    const before = (await pictures()).map((names) => names.length)
    await until(async () => (await count("video where state in ('to-import', 'removed')")) === 0)
    const kept = await pool.query<{ name: string }>("select name from pending_file where owner like 'failed-import:%' order by kind desc")
    expect(await pictures()).toEqual(kept.rows.map(({ name }) => expect.arrayContaining([name])))
    site.answer('/pictured.mp4', { type: 'video/mp4', bytes })
    await client.send('POST', `${ADDRESS}/${id}/retry`)
    expect(await settled(id)).toMatchObject({ state: { id: 2 } })
    const { rows } = await pool.query<{ filename: string; type: number }>(
      'select t.filename from thumbnail t join video_import i on i.video_id = t.video_id where i.id = $1 order by t.type',
      [id],
    )
    expect(rows.map(({ filename }) => filename)).toEqual(kept.rows.map(({ name }) => name))

    site.answer('/pictured.mp4', { type: 'text/plain', bytes: 'not any more' })
    await client.send('DELETE', `${ADDRESS}/${await begin()}`)
    await until(async () => (await count("pending_file where kind in ('thumbnails', 'previews')")) === 0)
    expect((await pictures()).map((names) => names.length)).toEqual(before)
  })

  it('of a file without video fails', async () => {
    site.answer('/text.mp4', { type: 'video/mp4', bytes: await readFile(await media('text.mp4')) })
    const { id } = await post({ targetUrl: at('/text.mp4') })
    const { state, error } = await settled(id)
    expect(state.id).toBe(3)
    expect(error).toMatch(/cannot be used/)
    await untilClean()
  })

  it('with a password in its URL is refused before anything is stored', async () => {
    expect(await statusOf({ targetUrl: 'https://me:secret@site.example/x.mp4' })).toBe(400)
    expect((await list('&targetUrl=secret')).total).toBe(0)
  })

  it.each(['http://127.0.0.1/x.mp4', 'http://10.1.2.3/x.mp4', 'http://[::1]/x.mp4', 'http://0x7f000001/x.mp4', 'http://169.254.169.254/'])(
    'from %s is refused',
    async (targetUrl) => {
      expect(await statusOf({ targetUrl })).toBe(403)
      expect((await list(`&targetUrl=${encodeURIComponent(targetUrl)}`)).total).toBe(0)
    },
  )
})

describe('an import by torrent', () => {
  it('becomes a video with the name in the torrent, whatever its file name', async () => {
    const begun = await client.send<Import>('POST', ADDRESS, await torrentOf('seeded video.mp4', at('/small.mp4')))
    expect(begun).toMatchObject({ torrentName: 'sent.torrent', targetUrl: null, video: { name: 'seeded video.mp4' } })
    expect(await settled(begun.id)).toMatchObject({
      state: { id: 2 },
      torrentName: 'sent.torrent',
      video: { name: 'seeded video.mp4', state: { id: 1 }, duration: 2 },
    })
    await untilClean()
  })

  it.each([
    ['none', 'Imported video'],
    ['another', 'called by the link'],
  ])('by magnet URI gets the name of the torrent when the URI has %s', async (_which, beginning) => {
    const peer = new WebTorrent({ dht: false, lsd: false, utp: false, natUpnp: false, natPmp: false, tracker: {} })
    try {
      const infoHash = await new Promise<string>((seeded) =>
        peer.seed(Buffer.from(bytes), { name: `inside, ${beginning}.mp4`, announceList: [] }, (torrent) => seeded(torrent.infoHash)),
      )
      const name = beginning === 'Imported video' ? '' : `&dn=${encodeURIComponent(beginning)}`
      const magnetUri = `magnet:?xs=http%3A%2F%2Fa.example%2F1.torrent&xt=urn:btih:${infoHash}${name}&x.pe=127.0.0.1:${peer.torrentPort}`
      const begun = await post({ magnetUri })
      expect(begun).toMatchObject({ torrentName: null, video: { name: beginning } })
      expect(await settled(begun.id)).toMatchObject({
        state: { id: 2 },
        magnetUri,
        video: { name: `inside, ${beginning}.mp4`, state: { id: 1 } },
      })
      await untilClean()
    } finally {
      await new Promise<void>((ended) => peer.destroy(() => ended()))
    }
  })

  it('keeps the given name', async () => {
    const form = await torrentOf('inner name.mp4', at('/small.mp4'))
    form.set('name', 'my torrent')
    const begun = await client.send<Import>('POST', ADDRESS, form)
    expect(begun).toMatchObject({ video: { name: 'my torrent' } })
    expect(await settled(begun.id)).toMatchObject({ state: { id: 2 }, video: { name: 'my torrent' } })
    await untilClean()
  })

  it('of several files is refused with the code of the contract', async () => {
    const answer = await client.raw(ADDRESS, { method: 'POST', body: await torrentOf('two.mp4', at('/x'), 2) })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'incorrect_files_in_torrent' })
  })
})

describe('during an import', () => {
  const begin = async () => {
    const begun = await post({ targetUrl: at('/waiting.mp4') })
    await processing(begun.id)
    await until(() => site.requested.includes('/waiting.mp4'))
    return begun
  }

  it('the next one waits and can be cancelled, and its removal ends it at once', async () => {
    const { id } = await begin()
    const waiting = await post({ targetUrl: at('/small.mp4') })
    expect((await client.raw(`${ADDRESS}/${waiting.id}`, { method: 'DELETE' })).status).toBe(409)
    expect((await client.raw(`${ADDRESS}/${id}/cancel`, { method: 'POST' })).status).toBe(409)
    await client.send('POST', `${ADDRESS}/${waiting.id}/cancel`)
    expect(await find(waiting.id)).toMatchObject({ state: { id: 5, label: 'Cancelled' } })
    await client.send('DELETE', `${ADDRESS}/${id}`)
    expect((await list()).data.some((one) => one.id === id)).toBe(false)
    await untilClean()
    await until(async () => (await count("job where state = 'active'")) === 0)
  })

  it('its video may be removed', async () => {
    const { id, video } = await begin()
    await client.send('DELETE', `/api/v1/videos/${video?.uuid}`)
    expect(await settled(id)).toMatchObject({ state: { id: 5 } })
    await untilClean()
  })

  it('its user may be blocked', async () => {
    const email = 'blocked@example.com'
    await client.send('POST', '/api/v1/users', { username: 'blocked', password: 'password1', email, role: 2 })
    const remote = await login(node.base, 'blocked', 'password1')
    const me = await remote.get<{ id: number; videoChannels: { id: number }[] }>('/api/v1/users/me')
    const body = { channelId: me.videoChannels[0]?.id, targetUrl: at('/waiting.mp4') }
    const { id } = await remote.send<Import>('POST', ADDRESS, body)
    await until(() => site.requested.includes('/waiting.mp4'))
    await client.send('POST', `/api/v1/users/${me.id}/block`, {})
    await until(async () => (await count(`video_import where id = ${id} and state = 'rejected'`)) === 1)
    await untilClean()
  })

  it('its user’s quota may be used up', async () => {
    const email = 'small@example.com'
    const quota = { videoQuota: 1000, videoQuotaDaily: -1 }
    await client.send('POST', '/api/v1/users', { username: 'small', password: 'password1', email, role: 2, ...quota })
    const remote = await login(node.base, 'small', 'password1')
    const me = await remote.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    const body = { channelId: me.videoChannels[0]?.id, targetUrl: at('/small.mp4') }
    const { id } = await remote.send<Import>('POST', ADDRESS, body)
    await until(async () => (await count(`video_import where id = ${id} and state = 'failed'`)) === 1)
    await untilClean()
  })

  it('the end of a previous worker’s job does not end it; one without a worker is over', async () => {
    const { id } = await begin()
    await pool.query("update video_import set lease_owner = 'elsewhere|1|1|alive', due_at = now() + interval '1 hour' where id = $1", [id])
    await until(async () => (await count("job where state = 'active'")) === 0)
    await pool.query(
      `insert into job (type, queue, state, data, lost_leases, lease_owner, lease_until)
       values ('video-import', 'media', 'active', $1, 99, 'gone|1|1|gone', '-infinity')`,
      [{ importId: id }],
    )
    await until(async () => (await count("job where state = 'active' and lost_leases = 100 and error is null")) === 1)
    expect((await find(id)).state.label).toBe('Processing')
    await pool.query('update video_import set due_at = null where id = $1', [id])
    await pool.query("update job set lease_until = '-infinity' where state = 'active'")
    expect(await settled(id)).toMatchObject({ state: { id: 3 }, error: expect.stringMatching(/ended again and again/) })
  })

  it('the database may be blocked for a while, which costs no attempt and no worker', async () => {
    await pool.query(
      `create function out_of_order() returns trigger language plpgsql as
       $$ begin raise exception using errcode = 'cannot_connect_now'; end $$`,
    )
    await pool.query(
      `create trigger out_of_order before update on video_import for each row when (new.state = 'success')
       execute function out_of_order()`,
    )
    const { id } = await post({ targetUrl: at('/small.mp4') })
    await until(async () => (await count("job where type = 'video-import' and state = 'delayed'")) === 1)
    expect(await count("job where type = 'video-import' and state = 'delayed' and failures = 0")).toBe(1)
    expect((await find(id)).state.label).toBe('Processing')
    const mostLost = { lost: 9, error: null }
    await pool.query('update video_import set context = $2, due_at = now() where id = $1', [id, mostLost])
    await until(async () => (await find(id)).state.label === 'Pending')
    await pool.query('drop function out_of_order cascade')
    await pool.query("update job set due_at = now() where type = 'video-import' and state = 'delayed'")
    expect(await settled(id)).toMatchObject({ state: { id: 2 } })
    expect(site.requested).toEqual(['/small.mp4'])
    await untilClean()
  })

  it('its user may change the video', async () => {
    site.answer('/watch/2', { type: 'text/html', bytes: '<video>' })
    site.answer('/watch/2.mp4', { type: 'video/mp4', bytes })
    site.answer('/watch/2.json', (_request, response) => {
      client
        .send('PUT', `/api/v1/videos/${begunUuid}`, { name: 'chosen meanwhile' })
        .then(() => response.writeHead(200, { 'content-type': 'application/json' }).end(pageInfo()))
    })
    const { id, video } = await post({ targetUrl: at('/watch/2') })
    const begunUuid = video?.uuid
    expect(await settled(id)).toMatchObject({
      state: { id: 2 },
      video: { name: 'chosen meanwhile', tags: ['one', 'two'] },
    })
  })
})

it('finds which URLs were imported to a channel', async () => {
  const query: Sql = async <R extends object>(text: string, values: readonly unknown[] = []) =>
    (await pool.query(text, [...values])).rows as R[]
  const targetUrls = ['/small.mp4', '/text.mp4', '/never.mp4'].map(at)
  expect([...(await findImportedUrls({ query }, { channelId, targetUrls }))]).toEqual([at('/small.mp4')])
  expect((await findImportedUrls({ query }, { channelId: 1_000_000, targetUrls })).size).toBe(0)
})

it('lists imports by search, newest first', async () => {
  const { total, data } = await list('&search=tried')
  expect({ total, names: data.map(({ video }) => video?.name) }).toEqual({ total: 1, names: ['tried again'] })
  expect((await list(`&targetUrl=${encodeURIComponent(at('/later.mp4'))}`)).total).toBe(1)
  const ids = (await list()).data.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((one, other) => other - one))
})

it('continues the work of a stopped server', async () => {
  let isOpen = false
  site.answer('/stopped.mp4', (_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes.length })
    if (isOpen) response.end(bytes)
    else response.write(bytes.subarray(0, 10))
  })
  const { id } = await post({ targetUrl: at('/stopped.mp4') })
  await until(() => site.requested.includes('/stopped.mp4'))
  isOpen = true
  await node.restart()
  expect(await settled(id)).toMatchObject({ state: { id: 2 } })
  await untilClean()
})
