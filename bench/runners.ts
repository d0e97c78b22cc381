// A thousand pending jobs of remote runners, and fifty runners that each request a job per second and accept it: no job may be given
// twice, and offers must be fast.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { login } from '../scripts/demo/client.ts'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { isFinal, makeProtocol } from '../src/remote-runner/protocol.ts'
import { percentile } from './processes.ts'
import { verdict } from './table.ts'

const JOBS = 1_000
const RUNNERS = 50
const SECONDS = 20
const MAX_P95_MS = 50
const TYPES = ['vod-hls-transcoding']

export async function benchRunners(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-runners-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger, fsync: false })
  try {
    const env = { DATABASE_URL: postgres.url }
    const node = await startNode({ dataDir: join(folder, 'node'), port: await freePort(), env })
    try {
      await seed(postgres.url)
      await measure(node)
    } finally {
      await node.stop()
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `insert into job (type, queue, state, data, uuid, updated_at)
     select $1, 'runner', 'pending', jsonb_build_object('transcodingId', n, 'videoId', n, 'video', gen_random_uuid(),
       'resolution', 720, 'fps', 25, 'seconds', 60, 'sound', 1), gen_random_uuid(), now() from generate_series(1, $2::int) n`,
    [TYPES[0], JOBS],
  )
  await client.end()
}

async function measure(node: NodeProcess): Promise<void> {
  const admin = await login(node.base, node.username, node.password)
  const protocol = makeProtocol({ server: node.base, version: 'bench' })
  await admin.send('POST', '/api/v1/runners/registration-tokens/generate')
  const { data } = await admin.get<{ data: { registrationToken: string }[] }>('/api/v1/runners/registration-tokens')
  const tokens: string[] = []
  for (let number = 1; number <= RUNNERS; number += 1) {
    // Registrations are rate-limited by address.
    if (number % 40 === 0) await wait(11_000)
    tokens.push(await protocol.register(data[0]?.registrationToken ?? '', { name: `runner ${number}`, description: 'bench' }))
  }
  const times: number[] = []
  const accepted: string[] = []
  await Promise.all(
    tokens.map(async (token, place) => {
      await wait((place * 1_000) / RUNNERS)
      for (let second = 0; second < SECONDS; second += 1) {
        const begun = performance.now()
        const offers = await protocol.request(token, TYPES)
        times.push(performance.now() - begun)
        // Not all the same one: otherwise losers would try each of the ten.
        const first = place % Math.max(1, offers.length)
        for (const { uuid } of [...offers.slice(first), ...offers.slice(0, first)]) {
          const job = await protocol.accept(token, uuid).catch((error: unknown) => {
            if (!isFinal(error)) throw error
          })
          if (!job) continue
          accepted.push(job.uuid)
          break
        }
        await wait(Math.max(0, 1_000 - (performance.now() - begun)))
      }
    }),
  )
  console.log(`p50 of jobs/request: ${percentile(times, 0.5).toFixed(1)} ms`)
  console.log(`${times.length} requests of ${RUNNERS} runners, ${accepted.length} of ${JOBS} jobs accepted`)
  verdict('p95 of jobs/request', percentile(times, 0.95), MAX_P95_MS, ' ms')
  verdict('jobs given twice', accepted.length - new Set(accepted).size, 0)
}
