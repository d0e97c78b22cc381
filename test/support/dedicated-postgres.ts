// A PostgreSQL server for one test, which can be stopped and restarted on the same port and data.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareBinaries } from '../../src/platform/embedded-postgres-binaries.ts'
import { choosePlace } from '../../src/platform/embedded-postgres-place.ts'
import { isAlive, readPostmaster } from '../../src/platform/embedded-postgres-process.ts'
import { makeCluster, openDatabase, startServer, urlOf } from '../../src/platform/embedded-postgres-server.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { makeLoginCheap } from './postgres.ts'
import { until } from './until.ts'

export interface DedicatedPostgres {
  url: string
  /** `fast` closes all connections and flushes data; `immediate` is a crash, with recovery at the next start. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Starts it after a stop; resolves when it accepts connections. */
  start(): Promise<void>
  remove(): Promise<void>
}

export async function startDedicatedPostgres(): Promise<DedicatedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'vireo-postgres-'))
  chmodSync(folder, 0o711)
  const place = choosePlace(join(folder, 'postgres'))
  const binaries = prepareBinaries(place)
  const settings = { logger: silentLogger, fsync: false }
  await makeCluster(place, binaries, settings)
  const port = await startServer(place, binaries, settings)
  await openDatabase(place, port)
  const url = urlOf(place, port)
  await makeLoginCheap(url)

  async function stop(mode: 'fast' | 'immediate'): Promise<void> {
    const pid = readPostmaster(place.cluster)?.pid
    if (pid === undefined) return
    process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await until(() => !isAlive(pid), { what: 'the end of PostgreSQL' })
  }
  return {
    url,
    stop,
    async start() {
      await startServer(place, binaries, { ...settings, port })
    },
    async remove() {
      await stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
