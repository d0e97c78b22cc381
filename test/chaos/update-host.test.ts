// `vireo update-host`: moves the data of a stopped server to another address, and leaves no trace of the old one.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../scripts/demo/client.ts'
import { insert, makeRemoteChannel } from '../support/builders.ts'
import { media } from '../support/media.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { urlsInText } from './support/url-variants.ts'
import { environmentOf, queryVireo, runVireo } from './support/vireo.ts'

let node: TestNode
let root: Client
let pool: pg.Pool
let old: string
let uuid: string
let isStopped = false

const NEW = 'https://new.example'
const onNew = () => ({
  ...environmentOf(node),
  VIREO__WEBSERVER: JSON.stringify({ hostname: 'new.example', https: true, port: 443 }),
  VIREO__WEBSERVER__HOSTNAME: undefined,
  VIREO__WEBSERVER__PORT: undefined,
  VIREO__TRACKER: '{"enabled":true}',
})

beforeAll(async () => {
  node = await startTestNode({ config: { tracker: { enabled: true }, transcoding: { enabled: false } } })
  old = node.base
  root = await login(node.base, node.username, node.password)
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 1 })
  pool.on('error', () => undefined)
})
afterAll(async () => {
  await pool?.end()
  if (isStopped) await node?.restart().catch(() => undefined)
  await node?.stop()
})

/** All rows of all tables that contain the text. */
async function rowsWith(text: string): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t where strpos(lower(t::text), lower($1)) > 0`, [
      text,
    ])
    found.push(...rows.map(({ row }) => `${name}: ${row}`))
  }
  return found
}

async function makeData(): Promise<void> {
  const channelId = (await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels[0]?.id
  const form = new FormData()
  const fields = { channelId, name: 'A video', privacy: 1, description: urlsInText(old).join(' ') }
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
  form.set('videofile', new File([new Uint8Array(await readFile(await media('small.mp4')))], 'small.mp4'))
  const { video } = await root.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
  uuid = video.uuid
  await root.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: `At ${old}/about` })
  await root.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'like' })
  const playlist = new FormData()
  for (const [name, value] of Object.entries({ displayName: 'A list', privacy: 1, videoChannelId: channelId }))
    playlist.set(name, String(value))
  await root.send('POST', '/api/v1/video-playlists', playlist)

  const db = {
    query: async (text: string, values: readonly unknown[] = []) => (await pool.query(text, [...values])).rows,
  }
  await makeRemoteChannel(db as never, { host: 'far.example', username: 'far' })
  const { rows: actors } = await pool.query<{ id: number; host_id: number | null; type: string }>(
    'select id, host_id, type from actor order by id',
  )
  const local = actors.find(({ host_id, type }) => host_id === null && type === 'Application')
  const remote = actors.find(({ host_id, type }) => host_id !== null && type === 'Person')
  if (!local || !remote) throw new Error('There are no actors.')
  await insert(db as never, 'follow', {
    follower_id: remote.id,
    target_id: local.id,
    state: 'accepted',
    url: 'https://far.example/follows/1',
  })
  await insert(db as never, 'follow', {
    follower_id: local.id,
    target_id: remote.id,
    state: 'accepted',
    url: `${old}/accounts/peertube/follows/1`,
    request_urls: [`${old}/accounts/peertube/follows/1`, 'https://far.example/x'],
  })
  const document = await insert(db as never, 'document', {
    activity_id: `${old}/videos/watch/${uuid}/activity`,
    type: 'Create',
    body: '{}',
  })
  await insert(db as never, 'delivery', {
    document_id: document,
    host_id: remote.host_id,
    actor_id: local.id,
    inbox_url: 'https://far.example/inbox',
  })
  await pool.query('insert into kv (key, value) values ($1, $2)', [`x-${old}`, JSON.stringify({ at: old })])
  await pool.query('insert into setting (key, value, updated_at) values ($1, $2, now())', ['a-text', JSON.stringify({ at: [`${old}/x`] })])
}

it('refuses while a server runs, and shows what it would change', async () => {
  await makeData()
  const preview = await queryVireo<{ change: object; columns: { column: string }[] } & Record<string, unknown>>(onNew(), ['update-host'])
  expect(preview).toMatchObject({
    change: { from: old, to: NEW },
    applied: false,
    deliveries: expect.any(Number),
    followers: 1,
    follows: 1,
  })
  expect(preview.columns.map(({ column }) => column)).toEqual(
    expect.arrayContaining(['actor.url', 'actor.key_id', 'video.url', 'comment.url', 'playlist.url', 'rating.url', 'follow.request_urls']),
  )
  const refused = await runVireo(onNew(), ['update-host', '--apply', '--yes'])
  expect([refused.code, refused.complaint]).toEqual([1, expect.stringMatching(/in use .*vireo-queue/)])
  expect((await pool.query("select 1 from setting where key = 'update-host'")).rows).toEqual([])
  expect(await queryVireo(environmentOf(node), ['update-host'])).toEqual({ change: null })
})

it('leaves no row with the old address, and changes nothing of other servers', async () => {
  await node.server.stop()
  isStopped = true
  await pool.query('select 1')
  const looking = await runVireo(onNew(), ['update-host', '--apply'])
  expect([looking.code, looking.complaint]).toEqual([2, expect.stringContaining('--yes')])
  // The test's own connection does not count as a server.
  const applied = await queryVireo<{ rows: number }>(onNew(), ['update-host', '--apply', '--yes', '--even-if-used'])
  expect(applied).toMatchObject({ change: { from: old, to: NEW }, applied: true, videos: 1, follows: 1 })
  expect(applied.rows).toBeGreaterThan(5)

  // Only addresses of other servers that start alike remain, whatever else their row contains.
  const { host } = new URL(old)
  const left = (await rowsWith(host)).filter((row) => row.replaceAll(`${host}9`, '').includes(host))
  expect(left).toEqual([])
  const { rows } = await pool.query<{ description: string; url: string; hash: boolean }>(
    'select description, url, url_hash = md5(url)::uuid as hash from video where uuid = $1',
    [uuid],
  )
  expect(rows[0]).toEqual({
    description: urlsInText(NEW, old).join(' '),
    url: `${NEW}/videos/watch/${uuid}`,
    hash: true,
  })
  const { rows: follows } = await pool.query('select state, url, request_urls from follow order by id')
  expect(follows).toEqual([
    {
      state: 'accepted',
      url: `${NEW}/accounts/peertube/follows/1`,
      request_urls: [`${NEW}/accounts/peertube/follows/1`, 'https://far.example/x'],
    },
  ])
  expect((await pool.query("select data from job where type = 'manage-video-torrent' and state <> 'completed'")).rows).not.toEqual([])
  const requested = await pool.query(
    "select 1 from outbox where event = 'FollowRequested' union all select 1 from document where type = 'Follow'",
  )
  expect(requested.rows).not.toEqual([])
  expect(await queryVireo(onNew(), ['update-host'])).toEqual({ change: null })
})

it('blocks server starts during an unfinished change, which can be reverted the same way', async () => {
  await pool.query("insert into setting (key, value, updated_at) values ('update-host', $1, now())", [
    JSON.stringify({ from: NEW, to: old }),
  ])
  await expect(node.restart()).rejects.toThrow(/was not ended/)
  const elsewhere = await runVireo(onNew(), ['update-host', '--apply', '--yes', '--even-if-used'])
  expect([elsewhere.code, elsewhere.complaint]).toEqual([1, expect.stringContaining('has begun')])
  expect(await queryVireo(environmentOf(node), ['update-host', '--apply', '--yes', '--even-if-used'])).toMatchObject({
    applied: true,
  })
  await node.restart()
  isStopped = false
  const again = await login(node.base, node.username, node.password)
  expect(await again.get(`/api/v1/videos/${uuid}`)).toMatchObject({ url: `${old}/videos/watch/${uuid}` })
  const actor = await fetch(`${old}/accounts/peertube`, { headers: { accept: 'application/activity+json' } })
  expect(await actor.json()).toMatchObject({ id: `${old}/accounts/peertube`, inbox: `${old}/accounts/peertube/inbox` })
})

it('refuses the address of a known remote server', async () => {
  const env = { ...onNew(), VIREO__WEBSERVER: JSON.stringify({ hostname: 'far.example', https: true, port: 443 }) }
  const refused = await runVireo(env, ['update-host', '--apply', '--yes', '--even-if-used'])
  expect([refused.code, refused.complaint]).toEqual([1, expect.stringContaining('known here as a remote server')])
})
