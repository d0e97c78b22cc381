// kill -9 at pseudo-random moments while an archive is imported: it continues at the current item, imports and counts each item once, and
// leaves nothing behind.

import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { makeZip } from '../support/zip.ts'
import { type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { seededRandom } from './support/seeded-random.ts'

const KILLS = 3
/** More than an account may have, so that the import takes a while. */
const LISTS = 400
const MAX_LISTS = 100

interface View {
  state: { label: string }
  progress: { partsDone: number; itemsDone: number }
  resultSummary: { stats: Record<string, { success: number; duplicates: number; errors: number }> }
}

const random = seededRandom()
const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number; env: Record<string, string> }
let node: Child
let client: Client

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort(), env: { VIREO__VIREO__JOBS__LEASE: '3 seconds' } }
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await folder.remove()
})

async function upload(userId: number, archive: Buffer): Promise<void> {
  const address = `/api/v1/users/${userId}/imports/import-resumable`
  const opened = await client.raw(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-length': String(archive.length),
      'x-upload-content-type': 'application/zip',
    },
    body: JSON.stringify({ filename: 'archive.zip' }),
  })
  const id = opened.headers.get('location')?.split('upload_id=')[1]
  const sent = await client.raw(`${address}?upload_id=${id}`, {
    method: 'PUT',
    headers: { 'content-range': `bytes 0-${archive.length - 1}/${archive.length}` },
    body: new Uint8Array(archive),
  })
  expect(sent.status).toBe(204)
}

it('imports each item once', async () => {
  const { id: userId } = await client.get<{ id: number }>('/api/v1/users/me')
  const watchedWordLists = Array.from({ length: LISTS }, (_, n) => ({ listName: `list ${n}`, words: [`word${n}`] }))
  const data = JSON.stringify({ watchedWordLists })
  await upload(userId, makeZip([{ name: 'peertube/watched-words-lists.json', data, method: 8 }]))
  const latest = () => client.get<View>(`/api/v1/vireo/users/${userId}/imports/latest`)
  // Each part counts its items from zero.
  const reached: number[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    await moment(random() * 1500)
    const { state, progress } = await latest()
    if (state.label === 'Processing') reached.push(progress.partsDone * LISTS + progress.itemsDone)
    await node.kill9({ database: kill === KILLS - 1 })
    node = await start(options)
  }
  await explained(node, folder.path, () => untilSettled(folder.path))
  const { state, resultSummary } = await latest()
  expect(state.label).toBe('Completed')
  const { success = 0, duplicates = 0, errors } = resultSummary.stats.watchedWordsLists ?? {}
  expect({ all: success + duplicates, errors }).toEqual({ all: MAX_LISTS, errors: LISTS - MAX_LISTS })
  expect(reached).toEqual(reached.toSorted((a, b) => a - b))
  const lists = await client.get<{ total: number }>(`/api/v1/watched-words/accounts/${USERNAME}/lists`)
  expect(lists.total).toBe(MAX_LISTS)
})
