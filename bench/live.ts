// Memory of a server and of a stream's process while a long live is transcoded and watched.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually, login } from '../scripts/demo/client.ts'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { findFfmpeg } from '../src/media/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { residentMemory } from './processes.ts'
import { printTable, verdict } from './table.ts'

const MINUTES = Number(process.env.VIREO_BENCH_LIVE_MINUTES ?? 30)
/** Minutes until caches and pools are filled. */
const WARM_UP = Math.min(5, MINUTES / 3)
const LOOK_EVERY_MS = 10_000
const MAX_SPREAD_MIB = 30

export async function benchLive(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-live-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  const rtmp = await freePort()
  let node: NodeProcess | undefined
  try {
    node = await startNode({
      dataDir: join(folder, 'node'),
      port: await freePort(),
      env: {
        DATABASE_URL: postgres.url,
        VIREO__LIVE: JSON.stringify({ enabled: true, rtmp: { port: rtmp }, transcoding: { resolutions: { '240p': true } } }),
      },
    })
    await measure(node, rtmp)
  } finally {
    await node?.stop()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(node: NodeProcess, rtmp: number): Promise<void> {
  const client = await login(node.base, node.username, node.password)
  const { videoChannels } = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const fields = { channelId: videoChannels[0]?.id, name: 'A long live', privacy: 1 }
  const { video } = await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', fields)
  const { streamKey } = await client.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  const { ffmpegPath } = await findFfmpeg({})
  const source = ['-re', '-f', 'lavfi', '-i', 'testsrc=size=640x360:rate=25', '-re', '-f', 'lavfi', '-i', 'sine=sample_rate=48000']
  const codecs = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-g', '50', '-c:a', 'aac']
  const target = ['-t', `${MINUTES * 60}`, '-f', 'flv', `rtmp://127.0.0.1:${rtmp}/live/${streamKey}`]
  const publisher = spawn(ffmpegPath, ['-v', 'error', ...source, ...codecs, ...target], { stdio: ['ignore', 'inherit', 'inherit'] })
  const over = once(publisher, 'close')
  try {
    const base = `${node.base}/static/streaming-playlists/hls/${video.uuid}`
    await eventually('the first pieces', 60_000, async () => (await fetch(`${base}/1.m3u8`)).ok)
    const serverPid = node.child.pid ?? 0
    const streamPid = childrenOf(serverPid).find(({ command }) => command.includes('live-stream.ts'))?.pid ?? 0
    const looks: { minute: number; server: number; stream: number; behind: number }[] = []
    const began = performance.now()
    const minuteNow = () => (performance.now() - began) / 60_000
    while (minuteNow() < MINUTES - 1 && publisher.exitCode === null) {
      const [received, encoded] = [await watch(base, 0), await watch(base, 1)]
      looks.push({
        minute: minuteNow(),
        server: residentMemory(serverPid),
        stream: residentMemory(streamPid),
        behind: received - encoded,
      })
      await pause(LOOK_EVERY_MS)
    }
    const settled = looks.filter(({ minute }) => minute >= WARM_UP)
    const spread = (values: number[]) => Math.max(...values) - Math.min(...values)
    const rows = looks.filter((_, index) => index % Math.ceil(looks.length / 15) === 0)
    printTable(
      ['minute', 'server MiB', 'stream MiB', 'pieces behind'],
      rows.map(({ minute, server, stream, behind }) => [minute.toFixed(1), server.toFixed(0), stream.toFixed(0), `${behind}`]),
    )
    verdict(`server, spread after minute ${WARM_UP.toFixed(0)}`, spread(settled.map(({ server }) => server)), MAX_SPREAD_MIB, ' MiB')
    verdict(`stream, spread after minute ${WARM_UP.toFixed(0)}`, spread(settled.map(({ stream }) => stream)), MAX_SPREAD_MIB, ' MiB')
  } finally {
    publisher.kill()
    await over
  }
}

/** Reads the newest segment like a player, and returns its number. */
async function watch(base: string, rendition: number): Promise<number> {
  const playlist = await (await fetch(`${base}/${rendition}.m3u8`)).text()
  const newest = playlist.split('\n').findLast((line) => line.endsWith('.ts')) ?? ''
  await (await fetch(`${base}/${newest}`)).arrayBuffer()
  return Number(/-(\d+)\.ts$/.exec(newest)?.[1])
}

function childrenOf(parent: number): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      return isChild ? [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }] : []
    } catch {
      // It has exited.
      return []
    }
  })
}
