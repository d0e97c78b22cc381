// Latency of health and metrics while the server transcodes, with its database and without it, each beside a bare Fastify route that
// answers the same bytes: one request at a time, in short rounds, like a monitoring system.

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { type Client, eventually, login } from '../scripts/demo/client.ts'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { findFfmpeg } from '../src/media/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../test/support/database-proxy.ts'
import { startBare } from './bare.ts'
import { percentile } from './processes.ts'
import { printTable, verdict } from './table.ts'

const VIDEO_SECONDS = 10
const REPEATS = 24
const ROUNDS = 6
const ROUND_MS = 1000
/** Between two requests, so that they do not load the server. */
const ASK_EVERY_MS = 5
const MAX_P99_MS = 20

interface Case {
  name: string
  url: string
}

export async function benchOperations(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-operations-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    logger: silentLogger,
    fsync: false,
  })
  const proxy = await startDatabaseProxy(postgres.url)
  const exporter = await freePort()
  let node: NodeProcess | undefined
  try {
    node = await startNode({
      dataDir: join(folder, 'node'),
      port: await freePort(),
      env: {
        DATABASE_URL: proxy.url,
        VIREO__OPEN_TELEMETRY__METRICS__ENABLED: 'true',
        VIREO__OPEN_TELEMETRY__METRICS__HTTP_REQUEST_DURATION__ENABLED: 'true',
        VIREO__OPEN_TELEMETRY__METRICS__PROMETHEUS_EXPORTER__PORT: String(exporter),
      },
    })
    await measure({ node, proxy, folder, exporter: `http://127.0.0.1:${exporter}` })
  } finally {
    proxy.resume()
    await node?.stop()
    await proxy.close()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(stage: { node: NodeProcess; proxy: DatabaseProxy; folder: string; exporter: string }): Promise<void> {
  const { node, proxy, folder, exporter } = stage
  const client = await login(node.base, node.username, node.password)
  const routes = await askEveryRoute(client)
  await uploadVideo(client, folder)
  const transcodes = async () => /^vireo_transcodings\{state="running"\} [1-9]/m.test(await textOf(`${exporter}/metrics`))
  await eventually('the start of a transcoding', 60_000, transcodes)

  const cases: Case[] = [
    { name: '/health/live', url: `${node.base}/health/live` },
    { name: '/health/ready', url: `${node.base}/health/ready` },
    { name: '/metrics', url: `${exporter}/metrics` },
  ]
  const rows: string[][] = []
  const tails: [name: string, p99: number][] = []
  const look = async (state: string) => {
    for (const one of cases) {
      const [vireo, bare] = await inTurn(one)
      const name = `${one.name}, ${state}`
      const [p99, bareP99] = [percentile(vireo, 0.99), percentile(bare, 0.99)]
      tails.push([name, p99])
      const figures = [percentile(vireo, 0.5), p99, Math.max(...vireo), percentile(bare, 0.5), bareP99]
      rows.push([name, String(vireo.length), ...figures.map((ms) => ms.toFixed(1)), (p99 / bareP99).toFixed(1)])
    }
  }
  await look('transcoding')
  if (!(await transcodes())) throw new Error('The transcoding ended too early for this machine: make a longer video.')
  proxy.stall()
  await eventually('the end of readiness', 10_000, async () => (await fetch(`${node.base}/health/ready`)).status === 503)
  await look('database silent')

  console.log(`\n${routes} routes were asked for, so that they have series; a look every ${ASK_EVERY_MS} ms`)
  printTable(['look', 'looks', 'p50 ms', 'p99 ms', 'most ms', 'bare p50 ms', 'p99 ms', 'ratio p99'], rows)
  for (const [name, p99] of tails) verdict(`p99 of ${name}`, p99, MAX_P99_MS, ' ms')
}

async function askEveryRoute(client: Client): Promise<number> {
  const { paths } = await client.get<{ paths: Record<string, object> }>('/api/v1/openapi.json')
  const names = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}))
  for (const path of names) await (await client.raw(path.replaceAll(/\{[^}]+\}/g, '1'))).arrayBuffer()
  return names.length
}

async function uploadVideo(client: Client, folder: string): Promise<void> {
  const { ffmpegPath } = await findFfmpeg()
  const [once, path] = [join(folder, 'once.mp4'), join(folder, 'video.mp4')]
  const run = promisify(execFile)
  await run(ffmpegPath, [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=1280x720:rate=30:duration=${VIDEO_SECONDS}`,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    once,
  ])
  await run(ffmpegPath, ['-v', 'error', '-stream_loop', `${REPEATS - 1}`, '-i', once, '-c', 'copy', path])
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId: me.videoChannels[0]?.id, name: 'bench', privacy: 1 })) {
    form.set(name, String(value))
  }
  form.set('videofile', new Blob([new Uint8Array(await readFile(path))], { type: 'video/mp4' }), 'video.mp4')
  await client.send('POST', '/api/v1/videos/upload', form)
}

const textOf = async (url: string): Promise<string> => await (await fetch(url)).text()

async function inTurn({ url }: Case): Promise<[ours: number[], bare: number[]]> {
  const answer = await fetch(url)
  const body = Buffer.from(await answer.arrayBuffer()).toString('base64')
  const yardstick = await startBare([{ path: '/bare', contentType: answer.headers.get('content-type') ?? '', body }])
  try {
    const bareUrl = `${yardstick.origin}/bare`
    const [vireo, bare]: [number[], number[]] = [[], []]
    await looks(url)
    await looks(bareUrl)
    for (let round = 0; round < ROUNDS; round += 1) {
      const both = [async () => vireo.push(...(await looks(url))), async () => bare.push(...(await looks(bareUrl)))]
      for (const one of round % 2 === 0 ? both : both.reverse()) await one()
    }
    return [vireo, bare]
  } finally {
    yardstick.stop()
  }
}

/** Latency of each request in one round, in ms. */
async function looks(url: string): Promise<number[]> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: 1 })
  const times: number[] = []
  try {
    for (const begun = performance.now(); performance.now() - begun < ROUND_MS; ) {
      const at = performance.now()
      const { body } = await pool.request({ method: 'GET', path: pathname })
      await body.arrayBuffer()
      times.push(performance.now() - at)
      await pause(ASK_EVERY_MS)
    }
  } finally {
    await pool.close()
  }
  return times.slice(1)
}
