// Uploads one after another: what a client waits for, beside an earlier checkout if one is named.

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Client, login } from '../scripts/demo/client.ts'
import type { NodeProcess } from '../scripts/demo/node-process.ts'
import { findFfmpeg } from '../src/media/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { type Checkout, startCheckouts } from './checkouts.ts'
import { median, percentile, processorTime } from './processes.ts'
import { printTable } from './table.ts'

const run = promisify(execFile)
const WARM_UP = 3
const UPLOADS = 30

interface Side {
  name: string
  node: NodeProcess
  client: Client
  channelId: number | undefined
  /** Ms of each upload. */
  times: number[]
}

export async function benchUploads(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-uploads-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  const sides: Side[] = []
  try {
    const video = await makeVideo(join(folder, 'video.mp4'))
    const checkouts = await startCheckouts({ folder, databaseUrl: postgres.url, env: NOTHING_AFTER })
    for (const checkout of checkouts) sides.push(await sideOf(checkout))
    for (let round = 0; round < WARM_UP + UPLOADS; round += 1) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const begun = performance.now()
        await upload(side, video)
        if (round >= WARM_UP) side.times.push(performance.now() - begun)
      }
    }
    console.log(`\n${UPLOADS} uploads of ${video.length} bytes, one after another, without transcoding`)
    printTable(
      ['uploads', 'a second', 'p50 ms', 'p99 ms', 'CPU ms of the server in all'],
      sides.map(({ name, times, node }) => [
        ...[name, (1000 / median(times)).toFixed(1), median(times).toFixed(0), percentile(times, 0.99).toFixed(0)],
        processorTime(node.child.pid ?? 0).toFixed(0),
      ]),
    )
  } finally {
    for (const { node } of sides) await node.stop()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

export async function sideOf({ name, node }: Checkout): Promise<Side> {
  const client = await login(node.base, node.username, node.password)
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  return { name, node, client, channelId: me.videoChannels[0]?.id, times: [] }
}

/** What comes after an upload is not measured. */
export const NOTHING_AFTER = { VIREO__TRANSCODING__ENABLED: 'false', VIREO__STORYBOARDS__ENABLED: 'false' }

/** Four seconds with sound. */
export async function makeVideo(path: string): Promise<Buffer> {
  const { ffmpegPath } = await findFfmpeg()
  await run(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30:duration=4'],
    ...['-f', 'lavfi', '-i', 'sine=duration=4', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...['-c:a', 'aac', path],
  ])
  return await readFile(path)
}

/** Gives the uuid. */
export async function upload({ client, channelId }: Side, video: Buffer): Promise<string> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId, name: 'bench', privacy: 1 })) form.set(name, String(value))
  form.set('videofile', new Blob([new Uint8Array(video)], { type: 'video/mp4' }), 'video.mp4')
  return (await client.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)).video.uuid
}
