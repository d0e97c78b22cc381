// Federation: activities per second that one process receives and sends, with known keys; and the effect of hanging servers and a large
// audience. The machine may be busy, so the bars apply to the server's CPU time; wall-clock figures are printed beside it.

import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, type NodeProcess, startNode } from '../../scripts/demo/node-process.ts'
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { seedVideos } from '../seed.ts'
import { benchDeliveries, benchHangingHosts, benchLargeAudience, type Stage } from './deliveries.ts'
import { benchInbox } from './inbox.ts'

const VIDEOS = 100
const LIVE_MEMORY = new URL('live-memory.ts', import.meta.url).href
const LOOK_EVERY_MS = 50

/** The parts in order; `VIREO_BENCH_FEDERATION` selects some of them. */
const PARTS: Record<string, () => Promise<void>> = {
  inbox: () => benchInbox(UNLIMITED),
  deliveries: () => onStage(benchDeliveries),
  audience: () => onStage(benchLargeAudience),
  hanging: () => onStage(benchHangingHosts),
}

export async function benchFederation(): Promise<void> {
  const requested = process.env.VIREO_BENCH_FEDERATION?.split(',') ?? Object.keys(PARTS)
  for (const [name, part] of Object.entries(PARTS)) if (requested.includes(name)) await part()
}

/** A new server for each part, so that no part does the work of another. */
async function onStage(part: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-federation-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  try {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const liveMemory = join(folder, 'live-memory')
    const env = {
      DATABASE_URL: postgres.url,
      DATABASE_POOL_MAX: '20',
      ...UNLIMITED,
      NODE_OPTIONS: `--expose-gc --import=${LIVE_MEMORY}`,
      VIREO_BENCH_LIVE_MEMORY: liveMemory,
    }
    const node = await startNode({ dataDir: join(folder, 'node'), port, env })
    try {
      const { uuid } = await seedVideos({ databaseUrl: postgres.url, origin, count: VIDEOS })
      const video = { uuid, url: `${origin}/videos/watch/${uuid}` }
      await part({ node, databaseUrl: postgres.url, video, liveMemory: () => readLiveMemory(node, liveMemory) })
    } finally {
      await node.stop()
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function readLiveMemory(node: NodeProcess, file: string): Promise<number> {
  await rm(file, { force: true })
  node.child.kill('SIGUSR2')
  while (!existsSync(file)) await pause(LOOK_EVERY_MS)
  return Number(await readFile(file, 'utf8')) / 2 ** 20
}

/** No rate limits. */
const UNLIMITED = {
  VIREO__RATES_LIMIT__API__MAX: '100000000',
  VIREO__RATES_LIMIT__ACTIVITY_PUB__MAX: '100000000',
  VIREO__VIREO__FEDERATION__INBOX__ACTIVITIES_PER_HOST: '100000000',
  VIREO__VIREO__FEDERATION__INBOX__COMMENTS_PER_HOST: '100000000',
}
