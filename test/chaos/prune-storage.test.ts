// `vireo prune-storage` and `vireo regenerate-thumbnails` beside a running server, with files on disk and in object storage.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../scripts/demo/client.ts'
import type { PrunedKind } from '../../src/actors/storage-prune/index.ts'
import { openStore } from '../../src/connections.ts'
import { type FileKind, type FileStore, fileKinds, type ObjectStore } from '../../src/media/index.ts'
import { testLoadedConfig } from '../support/config.ts'
import { media } from '../support/media.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { everythingIn, startS3, type TestS3 } from '../support/s3.ts'
import { until } from '../support/until.ts'
import { environmentOf, queryVireo, runVireo } from './support/vireo.ts'

let s3: TestS3
let node: TestNode
let root: Client
let pool: pg.Pool
let store: FileStore
let objects: ObjectStore | undefined
let env: Record<string, string | undefined>
let uuid: string
let id: number

beforeAll(async () => {
  s3 = await startS3()
  const config = { ...everythingIn(s3.endpoint), transcoding: { enabled: false } }
  node = await startTestNode({ config })
  root = await login(node.base, node.username, node.password)
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 1 })
  pool.on('error', () => undefined)
  ;({ store, objects } = openStore(testLoadedConfig(config, { dataDir: node.dataDir }).config, 'test'))
  env = {
    ...environmentOf(node),
    ...Object.fromEntries(Object.entries(config).map(([name, values]) => [`VIREO__${name}`, JSON.stringify(values)])),
  }
  const channelId = (await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels[0]?.id
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId, name: 'A video', privacy: 1 })) form.set(name, String(value))
  form.set('videofile', new File([new Uint8Array(await readFile(await media('small.mp4')))], 'small.mp4'))
  const { video } = await root.send<{ video: { uuid: string; id: number } }>('POST', '/api/v1/videos/upload', form)
  ;({ uuid, id } = video)
  const pictures = () => pool.query('select from thumbnail where video_id = $1 and on_disk', [id])
  await until(async () => (await pictures()).rowCount === 2, { what: 'the pictures of the video' })
})
afterAll(async () => {
  await pool?.end()
  await objects?.close()
  await node?.stop()
  await s3?.stop()
})

interface Pruned {
  deleted: number
  kinds: PrunedKind[]
  missing: { count: number; examples: { kind: string; name: string }[] } | null
}

/** Files of this moment count as old too. */
const prune = (...args: string[]) => queryVireo<Pruned>(env, ['prune-storage', '--older-than', '0.0000001', ...args])

const isLooked = (kind: FileKind) => kind !== 'tmp'

const unneeded = ({ kinds }: Pruned) =>
  kinds.filter(({ unreferenced }) => unreferenced > 0).map(({ place, kind, unreferenced }) => [place, kind, unreferenced])

it('finds nothing to prune and nothing missing on a healthy server', async () => {
  const pruned = await prune()
  expect([unneeded(pruned), pruned.missing]).toEqual([[], { count: 0, examples: [] }])
  expect(pruned.kinds.map(({ place, kind }) => [place, kind])).toEqual([
    ['object-storage', 'web_videos'],
    ['object-storage', 'thumbnails'],
    ['object-storage', 'previews'],
  ])
})

it('prunes unreferenced files in both places, and nothing that is recorded, pending, young or in use', async () => {
  const stray = (kind: FileKind) => (kind === 'streaming_playlists' || kind === 'redundancy' ? `hls/${uuid}/stray.mp4` : 'stray.bin')
  const files = store.only('file-system', 'tmp')
  for (const kind of fileKinds) {
    await files?.put({ kind, name: stray(kind) }, Buffer.from('nobody needs it'))
    if (objects?.has(kind)) await objects.put({ kind, name: stray(kind) }, Buffer.from('nobody needs it'))
  }
  const kept = [
    { kind: 'thumbnails', name: 'noted.jpg' },
    { kind: 'tmp', name: 'stray.bin' },
    { kind: 'uploads', name: 'a-token' },
    { kind: 'uploads', name: 'a-token-thumbnail.jpg' },
  ] as const
  for (const ref of kept) await files?.put(ref, Buffer.from('in use'))
  await pool.query(
    `insert into pending_file (kind, name, folder, owner, created_at)
     values ('thumbnails', 'noted.jpg', false, 'elsewhere|1-1|1', now())`,
  )
  const { rows: columns } = await pool.query(
    `select column_name as name, data_type as type from information_schema.columns
     where table_name = 'upload' and is_nullable = 'NO' and column_default is null and is_identity = 'NO'`,
  )
  const values: Record<string, unknown> = { user_id: 1, token: 'a-token', state: 'receiving' }
  for (const { name, type } of columns) values[name] ??= { jsonb: '{}', text: 'x', bigint: 1, integer: 1 }[String(type)] ?? new Date()
  const names = Object.keys(values)
  await pool.query(
    `insert into upload (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(values),
  )

  const expected = [
    // Files in `tmp` belong to the server or to other programs.
    ...fileKinds.filter(isLooked).map((kind) => ['file-system', kind, 1]),
    ...fileKinds.filter((kind) => isLooked(kind) && objects?.has(kind)).map((kind) => ['object-storage', kind, 1]),
  ]
  const preview = await prune()
  expect([unneeded(preview), preview.deleted]).toEqual([expected, 0])
  const young = await queryVireo<Pruned>(env, ['prune-storage', '--delete', '--yes', '--no-missing'])
  expect([unneeded(young), young.deleted, young.missing]).toEqual([[], 0, null])
  const requested = await runVireo(env, ['prune-storage', '--older-than', '0.0000001', '--delete'])
  expect([requested.code, requested.complaint]).toEqual([2, expect.stringContaining('--yes')])
  expect(unneeded(await prune())).toEqual(expected)

  const pruned = await prune('--delete', '--yes')
  expect([unneeded(pruned), pruned.deleted]).toEqual([expected, expected.length])
  expect(unneeded(await prune())).toEqual([])
  for (const ref of kept) expect(await store.stat(ref)).toBeDefined()
  expect((await root.raw(`/api/v1/videos/${uuid}`)).status).toBe(200)
  await pool.query("delete from upload where token = 'a-token'")
  await pool.query("delete from pending_file where owner = 'elsewhere|1-1|1'")
  expect(unneeded(await prune('--delete', '--yes'))).toEqual([
    ['file-system', 'thumbnails', 1],
    ['file-system', 'uploads', 2],
  ])
})

it('refuses nested storage folders, whose files it would take for orphans', async () => {
  const of = (folders: Record<string, string>) =>
    runVireo({ ...env, VIREO__STORAGE: JSON.stringify(folders) }, ['prune-storage', '--delete', '--yes'])
  const folder = join(node.dataDir, 'videos')
  const nested = await of({ web_videos: folder, streaming_playlists: join(folder, 'streaming-playlists/') })
  expect([nested.code, nested.complaint]).toEqual([1, expect.stringContaining('storage.web_videos holds storage.streaming_playlists')])
  const same = await of({ thumbnails: folder, previews: `${folder}/` })
  expect(same.complaint).toContain('storage.previews holds storage.thumbnails')
  const all = await of({ avatars: node.dataDir })
  expect(all.complaint).toContain('storage.avatars holds')
})

const pictures = async () => {
  const { rows } = await pool.query<{ type: number; filename: string; given: boolean }>(
    'select type, filename, not automatically_generated as given from thumbnail where video_id = $1 order by type',
    [id],
  )
  return rows
}

it('regenerates thumbnails, and keeps uploaded ones unless it is forced', async () => {
  const before = await pictures()
  expect(await queryVireo(env, ['regenerate-thumbnails'])).toEqual({ redrawn: 1, skipped: 0, failed: [] })
  const drawn = await pictures()
  expect(drawn.map(({ given }) => given)).toEqual([false, false])
  expect(drawn.some(({ filename }) => before.some((one) => one.filename === filename))).toBe(false)
  const { thumbnailPath } = await root.get<{ thumbnailPath: string }>(`/api/v1/videos/${uuid}`)
  expect((await root.raw(thumbnailPath)).status).toBe(200)
  const { rows: told } = await pool.query<{ told: boolean }>('select updated_at > created_at as told from video where id = $1', [id])
  expect(told).toEqual([{ told: true }])

  await pool.query('update thumbnail set automatically_generated = false where video_id = $1 and type = 1', [id])
  expect(await queryVireo(env, ['regenerate-thumbnails', '--video', String(id)])).toMatchObject({ redrawn: 1 })
  const half = await pictures()
  expect([half[0]?.filename === drawn[0]?.filename, half[1]?.filename === drawn[1]?.filename]).toEqual([true, false])
  await pool.query('update thumbnail set automatically_generated = false where video_id = $1', [id])
  expect(await queryVireo(env, ['regenerate-thumbnails'])).toEqual({ redrawn: 0, skipped: 1, failed: [] })
  expect(await queryVireo(env, ['regenerate-thumbnails', '--force'])).toMatchObject({ redrawn: 1 })
  expect(unneeded(await prune())).toEqual([])
  const unknown = await runVireo(env, ['regenerate-thumbnails', '--video', '999999'])
  expect([unknown.code, unknown.complaint]).toEqual([1, expect.stringContaining('999999')])
})

it('continues where it was interrupted', async () => {
  await pool.query(`insert into setting (key, value, updated_at) values ('redraw-pictures', $1, now())`, [
    JSON.stringify({ lastId: id, force: false }),
  ])
  expect(await queryVireo(env, ['regenerate-thumbnails'])).toEqual({ redrawn: 0, skipped: 0, failed: [] })
  expect(await queryVireo(env, ['regenerate-thumbnails'])).toMatchObject({ redrawn: 1 })
})

it('names missing files of rows, and videos whose thumbnails cannot be generated', async () => {
  const { rows } = await pool.query<{ filename: string }>('select filename from video_file where video_id = $1', [id])
  const name = rows[0]?.filename ?? ''
  await store.remove({ kind: 'web_videos', name })
  const { missing } = await prune()
  expect(missing).toEqual({ count: 1, examples: [{ kind: 'web_videos', name }] })
  const drawing = await runVireo(env, ['regenerate-thumbnails'])
  expect([drawing.code, drawing.said]).toEqual([1, expect.stringContaining(`${uuid}: There is no such file.`)])
})
