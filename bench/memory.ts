// Memory of a server: idle after its start, after sequential uploads, and after a load of reads.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { type Checkout, startCheckouts } from './checkouts.ts'
import { makeLoadGenerator } from './load.ts'
import { residentMemory } from './processes.ts'
import { routesOf, targetOf, tokenOf } from './reads.ts'
import { printTable, verdict } from './table.ts'
import { makeVideo, NOTHING_AFTER, sideOf, upload } from './uploads.ts'

const UPLOADS = Number(process.env.VIREO_BENCH_UPLOADS ?? 300)
const CONNECTIONS = 20
const ROUTE_MS = 2_000
const SETTLED_MS = 20_000
const IDLE_MS = 5_000
const MAX_IDLE_MIB = 250
const MAX_LOADED_MIB = 300

export async function benchMemory(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-memory-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger })
  const rows: string[][] = []
  try {
    for (const checkout of await startCheckouts({ folder, databaseUrl: postgres.url, env: NOTHING_AFTER })) {
      const found = await measure(checkout, await makeVideo(join(folder, 'video.mp4')))
      await checkout.node.stop()
      rows.push([checkout.name, ...found.map((mib) => mib.toFixed(0))])
      if (checkout.name !== 'now') continue
      const [idle = 0, , loaded = 0] = found
      verdict('idle memory', idle, MAX_IDLE_MIB, ' MiB')
      verdict('memory after uploads and a load', loaded, MAX_LOADED_MIB, ' MiB')
    }
    printTable(['resident MiB', 'idle', `${UPLOADS} uploads`, 'after a load', `${SETTLED_MS / 1000} s later`], rows)
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(checkout: Checkout, video: Buffer): Promise<number[]> {
  const { node } = checkout
  const memory = () => residentMemory(node.child.pid ?? 0)
  const side = await sideOf(checkout)
  await pause(IDLE_MS)
  const found = [memory()]
  let uuid = ''
  for (let n = 0; n < UPLOADS; n += 1) uuid = await upload(side, video)
  found.push(memory())
  const load = makeLoadGenerator({ origin: node.base, connections: CONNECTIONS })
  const token = await tokenOf(node)
  for (const route of routesOf(uuid)) await load.run(targetOf(route, token), ROUTE_MS)
  await load.close()
  found.push(memory())
  await pause(SETTLED_MS)
  found.push(memory())
  return found
}
