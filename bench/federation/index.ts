// Federation: what one process takes in and sends out in a second, with the keys known; and what hanging servers and a
// large audience do to it. The machine may be busy with other things, so the bars are held against the processor time
// of the server; beside it stands what came of it on the clock.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, type NodeProcess, startNode } from '../../scripts/demo/node-process.ts'
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { seedVideos } from '../seed.ts'
import { benchDeliveries, benchHangingHosts, benchLargeAudience } from './deliveries.ts'
import { benchInbox } from './inbox.ts'

export interface Stage {
  node: NodeProcess
  databaseUrl: string
  /** A public video of the node. */
  video: { uuid: string; url: string }
}

const VIDEOS = 100

/** What the parts are, in their order; `VIREO_BENCH_FEDERATION` names some of them. */
const PARTS: Record<string, (stage: Stage) => Promise<void>> = {
  inbox: benchInbox,
  deliveries: benchDeliveries,
  audience: benchLargeAudience,
  hanging: benchHangingHosts,
}

export async function benchFederation(): Promise<void> {
  const asked = process.env.VIREO_BENCH_FEDERATION?.split(',') ?? Object.keys(PARTS)
  for (const [name, part] of Object.entries(PARTS)) if (asked.includes(name)) await onStage(part)
}

/** A server on empty data for each part, so that none of them works off what another left. */
async function onStage(part: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-federation-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  try {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const env = { DATABASE_URL: postgres.url, DATABASE_POOL_MAX: '20', ...UNLIMITED }
    const node = await startNode({ dataDir: join(folder, 'node'), port, env })
    try {
      const { uuid } = await seedVideos({ databaseUrl: postgres.url, origin, count: VIDEOS })
      await part({ node, databaseUrl: postgres.url, video: { uuid, url: `${origin}/videos/watch/${uuid}` } })
    } finally {
      await node.stop()
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** No limit may stand in the way of what is measured. */
const UNLIMITED = {
  VIREO__RATES_LIMIT__API__MAX: '100000000',
  VIREO__RATES_LIMIT__ACTIVITY_PUB__MAX: '100000000',
}
