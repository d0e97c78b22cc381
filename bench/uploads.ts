// Sequential uploads: the time that a client waits, optionally beside an earlier checkout. The servers take turns; each turn ends with all
// work after the responses, so that no server slows another.

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Client, eventually, login } from '../scripts/demo/client.ts'
import type { NodeProcess } from '../scripts/demo/node-process.ts'
import { findFfmpeg } from '../src/media/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { type Checkout, startCheckouts } from './checkouts.ts'
import { median, percentile, processorTime } from './processes.ts'
import { printTable, verdict, verdictAtLeast } from './table.ts'

const run = promisify(execFile)
const WARM_UP = 3
const UPLOADS = 30
const ROUNDS = 2

interface Side {
  name: string
  node: NodeProcess
  client: Client
  channelId: number | undefined
  /** Duration of each upload, in ms. */
  times: number[]
  /** From the first upload of each round until the last one was complete, in ms. */
  whole: number[]
  /** CPU time of the server and its children, in ms. */
  processor: number
  /** Videos that did not get their pictures and torrent. */
  lost: number
}

export async function benchUploads(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-uploads-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  const sides: Side[] = []
  try {
    const video = await makeVideo(join(folder, 'video.mp4'))
    const checkouts = await startCheckouts({ folder, databaseUrl: postgres.url, env: NOTHING_AFTER })
    for (const checkout of checkouts) {
      const side = await sideOf(checkout)
      await uploadMany(side, video, WARM_UP)
      sides.push({ ...side, times: [], whole: [], processor: 0 })
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await uploadMany(side, video, UPLOADS / ROUNDS)
    }
    console.log(`\n${UPLOADS} uploads of ${video.length} bytes, one after another, without transcoding`)
    printTable(
      ['uploads', 'a second', 'p50 ms', 'p99 ms', 'a second with all that follows', 'CPU ms each', 'lost'],
      sides.map(({ name, times, whole, processor, lost }) => [
        name,
        (1000 / median(times)).toFixed(1),
        median(times).toFixed(0),
        percentile(times, 0.99).toFixed(0),
        ((1000 * UPLOADS) / sum(whole)).toFixed(1),
        (processor / UPLOADS).toFixed(0),
        `${lost}`,
      ]),
    )
    for (const { name, lost } of sides) verdict(`uploads that ${name} lost`, lost, 0)
    const [now, before] = sides
    if (now && before) verdictAtLeast('uploads a second, beside before', median(before.times) / median(now.times), 2, ' x')
  } finally {
    for (const { node } of sides) await node.stop()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function uploadMany(side: Side, video: Buffer, count: number): Promise<void> {
  const pid = side.node.child.pid ?? 0
  const [processor, begun] = [processorTime(pid, { children: true }), performance.now()]
  const uploaded: string[] = []
  for (let index = 0; index < count; index += 1) {
    const at = performance.now()
    uploaded.push(await upload(side, video))
    side.times.push(performance.now() - at)
  }
  for (const uuid of uploaded) if (!(await isWhole(side, uuid))) side.lost += 1
  side.whole.push(performance.now() - begun)
  side.processor += processorTime(pid, { children: true }) - processor
}

/** Waits for the pictures and the torrent of the video. */
async function isWhole({ client }: Side, uuid: string): Promise<boolean> {
  try {
    return await eventually('the end of an upload', AFTER_MS, async () => {
      const video = await client.get<UploadedVideo>(`/api/v1/videos/${uuid}`)
      const files = video.files.flatMap(({ torrentUrl }) => (torrentUrl ? [new URL(torrentUrl).pathname] : []))
      if (files.length === 0) return false
      for (const path of [video.thumbnailPath, video.previewPath, ...files]) {
        const answer = await client.raw(path)
        if (!answer.ok || (await answer.arrayBuffer()).byteLength === 0) return false
      }
      return true
    })
  } catch {
    return false
  }
}

interface UploadedVideo {
  thumbnailPath: string
  previewPath: string
  files: { torrentUrl: string | null }[]
}

const AFTER_MS = 120_000

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export async function sideOf({ name, node }: Checkout): Promise<Side> {
  const client = await login(node.base, node.username, node.password)
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  return { name, node, client, channelId: me.videoChannels[0]?.id, times: [], whole: [], processor: 0, lost: 0 }
}

/** Renditions and storyboards are not measured. */
export const NOTHING_AFTER = { VIREO__TRANSCODING__ENABLED: 'false', VIREO__STORYBOARDS__ENABLED: 'false' }

/** Four seconds with sound. */
export async function makeVideo(path: string): Promise<Buffer> {
  const { ffmpegPath } = await findFfmpeg()
  await run(ffmpegPath, [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=1280x720:rate=30:duration=4',
    '-f',
    'lavfi',
    '-i',
    'sine=duration=4',
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
    path,
  ])
  return await readFile(path)
}

/** Returns the uuid. */
export async function upload({ client, channelId }: Side, video: Buffer): Promise<string> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId, name: 'bench', privacy: 1 })) form.set(name, String(value))
  form.set('videofile', new Blob([new Uint8Array(video)], { type: 'video/mp4' }), 'video.mp4')
  return (await client.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)).video.uuid
}
