// kill -9 at pseudo-random moments of imports: during download, placement and transcoding. Each import becomes one video in the end, and
// leaves nothing behind.

import { readdirSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { eventually } from '../support/until.ts'
import { type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { seededRandom } from './support/seeded-random.ts'
import { channelOf, makeVideo } from './support/videos.ts'

const ROUNDS = 3
/** How long the foreign site takes for a file, in ms, and in how many parts it sends it. */
const DOWNLOAD_MS = 1000
const PARTS = 20
const ETAG = '"one"'

const random = seededRandom()
const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number; env: Record<string, string> }
let node: Child
let client: Client
let site: Server
let siteUrl: string
/** First byte of each answer: greater than 0 for a resumed download. */
const begins: number[] = []

beforeAll(async () => {
  const file = await makeVideo(2)
  site = createServer(async (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    begins.push(from)
    const headers = { 'content-type': 'video/mp4', 'content-length': file.length - from, etag: ETAG }
    const range = { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }
    response.writeHead(from > 0 ? 206 : 200, from > 0 ? { ...headers, ...range } : headers)
    const first = begins.length === 1
    const size = Math.ceil(file.length / PARTS)
    for (let at = from; at < file.length && !response.destroyed; at += size) {
      response.write(file.subarray(at, at + size))
      await moment(DOWNLOAD_MS / PARTS)
      // The first answer stops halfway, until the requesting process is gone.
      if (first && at > file.length / 2) return
    }
    response.end()
  })
  const sitePort = await freePort()
  await new Promise<void>((resolve) => site.listen(sitePort, 'localhost', resolve))
  siteUrl = `http://localhost:${sitePort}`
  const env = { VIREO__IMPORT__VIDEOS__HTTP__ENABLED: 'true', VIREO__VIREO__JOBS__LEASE: '3 seconds' }
  options = { dataDir: folder.path, port: await freePort(), env }
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  site?.closeAllConnections()
  site?.close()
  await folder.remove()
})

it('ends with one video for each import, and leaves nothing behind', async () => {
  const channelId = await channelOf(client)
  const ids: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = { channelId, privacy: 1, name: `round ${round}`, targetUrl: `${siteUrl}/${round}.mp4` }
    ids.push((await client.send<{ id: number }>('POST', '/api/v1/videos/imports', body)).id)
    // During the download and after it; the first time certainly during it.
    if (round === 0) await eventually(() => expect(partIn(folder.path)).toBe(true))
    else await moment(random() * DOWNLOAD_MS * (round % 2 === 0 ? 1 : 3))
    await node.kill9({ database: round === ROUNDS - 1 })
    node = await start(options)
  }
  await explained(node, folder.path, () => untilSettled(folder.path))
  const imports = await client.get<{ data: { id: number; state: { id: number }; video: { state: { id: number } } }[] }>(
    '/api/v1/users/me/videos/imports',
  )
  const shown = imports.data.map(({ id, state, video }) => [id, state.id, video.state.id])
  expect(shown).toEqual(ids.toReversed().map((id) => [id, 2, 1]))
  const videos = await client.get<{ total: number }>('/api/v1/videos')
  expect(videos.total).toBe(ROUNDS)
  expect(begins.some((from) => from > 0)).toBe(true)
})

/** Whether a partial download exists. */
function partIn(path: string): boolean {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).some(
    (name) => name.endsWith('.part') && (statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
}
