// kill -9 during an export: nothing is left of the first attempt, and the second one completes the archive.

import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../scripts/demo/client.ts'
import { media } from '../support/media.ts'
import { freePort } from '../support/ports.ts'
import { freshDatabase } from '../support/postgres.ts'
import { readArchive } from '../support/read-archive.ts'
import { until } from '../support/until.ts'
import { type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { untilSettled } from './support/orphans.ts'
import { channelOf } from './support/videos.ts'

const folder = dataFolder()
let database: Awaited<ReturnType<typeof freshDatabase>>
let options: { dataDir: string; port: number; env: Record<string, string> }
let node: Child
let client: Client
let pool: pg.Pool

beforeAll(async () => {
  database = await freshDatabase()
  const env = { DATABASE_URL: database.url, VIREO__TRANSCODING__ENABLED: 'false', VIREO__STORYBOARDS__ENABLED: 'false' }
  options = { dataDir: folder.path, port: await freePort(), env }
  pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => undefined)
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  await node?.kill9({ database: false })
  await pool?.end()
  await database?.drop()
  await folder.remove()
})

function bytesThere(): string[] {
  const archives = join(folder.path, 'storage', 'user-exports')
  if (!existsSync(archives)) return []
  return readdirSync(archives, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

it('is restarted by the next process', async () => {
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId: await channelOf(client), name: 'a film', privacy: 1 })) {
    form.set(name, String(value))
  }
  const bytes = await readFile(await media('small.mp4'))
  form.set('videofile', new Blob([bytes]), 'small.mp4')
  await client.send('POST', '/api/v1/videos/upload', form)
  const { id: userId } = await client.get<{ id: number }>('/api/v1/users/me')
  const address = `/api/v1/users/${userId}/exports`

  const holder = new pg.Client(database.url)
  await holder.connect()
  await holder.query('begin')
  await holder.query('lock table watched_words_list in access exclusive mode')
  await client.send('POST', `${address}/request`, { withVideoFiles: true })
  // Its files are in the part that is being written.
  const parts = await until(() => bytesThere().length === 1 && bytesThere())
  await node.kill9({ database: false })
  await holder.end()
  expect(bytesThere()).toEqual(parts)

  node = await start(options)
  const url = await until(
    async () => {
      const { data } = await client.get<{ data: { privateDownloadUrl: string | null }[] }>(address)
      return data[0]?.privateDownloadUrl
    },
    { what: 'the archive' },
  )
  const archive = await readArchive(Buffer.from(await (await fetch(url)).arrayBuffer()))
  expect([...archive.values()].some((entry) => entry.bytes.equals(bytes))).toBe(true)
  await pool.query("delete from job where type = 'email'")
  await until(() => bytesThere().length === 1, { what: 'the end of what the first try wrote' })
  expect(bytesThere()).not.toEqual(parts)
  await untilSettled({ dataDir: folder.path, databaseUrl: database.url })
})
