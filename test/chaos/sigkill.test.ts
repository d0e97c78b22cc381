// kill -9 of the whole process group at pseudo-random moments of uploads and transcodings, in half of the rounds together with the
// database. VIREO_TEST_SEED chooses other moments.

import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { eventually } from '../support/until.ts'
import { type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload, Unexpected } from './support/persistent-upload.ts'
import { seededRandom } from './support/seeded-random.ts'
import { channelOf, ladderOf, makeVideo, untilWhole } from './support/videos.ts'

const ROUNDS = 5
const CHUNKS = 6

const random = seededRandom()
const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number }
let node: Child
let client: Client

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort() }
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await folder.remove()
})

it('publishes every video whole, without orphaned files or rows', async () => {
  const bytes = await makeVideo(6)
  const channelId = await channelOf(client)
  const newUpload = (name: string) =>
    persistentUpload({
      client,
      bytes,
      chunkSize: Math.ceil(bytes.length / CHUNKS),
      fields: { channelId, name, filename: `${name}.mp4`, privacy: 1, waitTranscoding: true },
    })

  // An undisturbed run measures the duration, and gives the expected result.
  const calm = newUpload('calm')
  const uploadMs = await measured(() => calm.proceed())
  const uuids = [calm.made?.uuid ?? '']
  const transcodingMs = await measured(() => eventually(async () => expect(await ladderOf(client, uuids[0] ?? '')).toBeDefined()))
  const ladder = (await ladderOf(client, uuids[0] ?? '')) ?? []
  expect(ladder.length).toBeGreaterThanOrEqual(3)

  for (let round = 0; round < ROUNDS; round += 1) {
    const inUpload = round % 2 === 0
    const upload = newUpload(`round ${round}`)
    if (!inUpload) await upload.proceed()
    const uploading = inUpload ? upload.proceed().catch(asLostConnection) : undefined
    await moment(random() * (inUpload ? uploadMs : transcodingMs))
    await node.kill9({ database: round % 4 < 2 })
    await uploading
    node = await start(options)
    const { uuid } = upload.made ?? (await upload.proceed())
    uuids.push(uuid)
  }

  expect(new Set(uuids).size).toBe(ROUNDS + 1)
  await explained(node, folder.path, async () => {
    for (const uuid of uuids) await untilWhole(client, uuid, ladder)
    await untilSettled(folder.path)
  })
})

function asLostConnection(error: unknown): void {
  if (error instanceof Unexpected) throw error
}

async function measured(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
