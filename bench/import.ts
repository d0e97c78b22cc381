// The bar of imports: an archive of 2 GB is uploaded to two processes in turn and imported, with less than 400 MiB of memory in each.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Client, eventually, login } from '../scripts/demo/client.ts'
import { type Child, dataFolder, PASSWORD, start, USERNAME } from '../test/chaos/support/child.ts'
import { freePort } from '../test/support/ports.ts'
import { makeZip } from '../test/support/zip.ts'
import { residentMemory } from './processes.ts'
import { verdict } from './table.ts'

const BLOCK = 2 ** 20
/** Size of the file in the archive. */
const BLOCKS = 2000
const CHUNK = 64 * BLOCK
const LIMIT_MIB = 400

export async function benchImport(): Promise<void> {
  const folder = dataFolder()
  const nodes: Child[] = []
  try {
    const ports = [await freePort(), await freePort()] as const
    // The second one uses the database of the first.
    // With the flag that operators use.
    const env = { VIREO__WEBSERVER__PORT: String(ports[0]), NODE_OPTIONS: '--max-semi-space-size=2' }
    for (const port of ports) nodes.push(await start({ dataDir: folder.path, port, env }))
    const clients = await Promise.all(nodes.map(({ base }) => login(base, USERNAME, PASSWORD)))
    const peaks = watchMemory(nodes)
    const began = performance.now()
    await importArchive(clients, await writeArchive(join(folder.path, 'archive.zip')))
    console.log(`uploaded and brought in within ${((performance.now() - began) / 1000).toFixed(0)} s`)
    for (const [index, peak] of peaks.stop().entries()) verdict(`MiB of process ${index + 1}`, peak, LIMIT_MIB)
  } finally {
    await Promise.all(nodes.map((node) => node.kill9({ database: false })))
    await folder.remove()
  }
}

/** An invalid video that must be read completely to verify its checksum. */
async function writeArchive(path: string): Promise<string> {
  const date = '2024-01-02T03:04:05.000Z'
  const video = {
    uuid: 'd0a8c6f6-5b1c-4c7e-9a59-0d6a4c3f2b11',
    createdAt: date,
    updatedAt: date,
    publishedAt: date,
    name: 'A large one',
    privacy: 1,
    duration: 10,
    url: 'https://video.example/w/1',
    nsfw: false,
    state: 1,
    channel: { name: 'root_channel' },
    archiveFiles: { videoFile: '../files/videos/large.mp4' },
    source: { inputFilename: 'large.mp4' },
  }
  const block = Buffer.alloc(BLOCK, 'vireo')
  let sum = 0
  for (let n = 0; n < BLOCKS; n += 1) sum = crc32(block, sum)
  const document = { name: 'peertube/videos.json', data: JSON.stringify({ videos: [video] }) }
  const size = BLOCK * BLOCKS
  // The large file is written as empty: its bytes are inserted between its header and the central directory.
  const large = { name: 'files/videos/large.mp4', crc: sum, size, packedSize: size }
  const short = makeZip([document, large])
  const list = short.readUInt32LE(short.length - 6)
  const whole = makeZip([document, large], { listOffset: list + size })
  const file = await open(path, 'w')
  await file.write(whole, 0, list)
  for (let n = 0; n < BLOCKS; n += 1) await file.write(block)
  await file.write(whole, list)
  await file.close()
  return path
}

async function importArchive(clients: readonly Client[], path: string): Promise<void> {
  const [first] = clients
  if (!first) throw new Error('There is no process.')
  const { id: userId } = await first.get<{ id: number }>('/api/v1/users/me')
  const address = `/api/v1/users/${userId}/imports/import-resumable`
  const file = await open(path)
  const { size } = await file.stat()
  const opened = await first.raw(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-length': String(size),
      'x-upload-content-type': 'application/zip',
    },
    body: JSON.stringify({ filename: 'archive.zip' }),
  })
  const id = opened.headers.get('location')?.split('upload_id=')[1]
  const chunk = Buffer.alloc(CHUNK)
  for (let at = 0, turn = 0; at < size; turn += 1) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK, at)
    const answer = await (clients[turn % clients.length] ?? first).raw(`${address}?upload_id=${id}`, {
      method: 'PUT',
      headers: { 'content-range': `bytes ${at}-${at + bytesRead - 1}/${size}` },
      body: new Uint8Array(chunk.subarray(0, bytesRead)),
    })
    at += bytesRead
    if (answer.status !== (at < size ? 308 : 204)) throw new Error(`A chunk was answered ${answer.status}.`)
  }
  await file.close()
  await eventually('the end of the import', 600_000, async () => {
    const { state } = await first.get<{ state: { id: number } }>(`/api/v1/users/${userId}/imports/latest`)
    return state.id > 2
  })
}

function watchMemory(nodes: readonly Child[]): { stop(): number[] } {
  const peaks = nodes.map(() => 0)
  const timer = setInterval(() => {
    for (const [index, { pid }] of nodes.entries()) {
      peaks[index] = Math.max(peaks[index] ?? 0, residentMemory(pid))
    }
  }, 200)
  return {
    stop() {
      clearInterval(timer)
      return peaks
    },
  }
}
