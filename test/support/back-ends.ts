// The back ends of contract tests: always PostgreSQL, and Redis if the test run has one.

import { randomBytes } from 'node:crypto'
import type { BusBackEnd } from '../../src/platform/bus/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { QueueBackEnd } from '../../src/platform/queue/index.ts'
import { connectRedis } from '../../src/platform/redis.ts'
import { freshDatabase, run } from './postgres.ts'
import { testRedisUrl } from './redis.ts'

export interface TestBackEnd {
  queue: QueueBackEnd
  bus: BusBackEnd
  /** Used by this test only. */
  prefix: string
  /** Sends any text on the channel of the bus, as another program could. */
  say(text: string): Promise<void>
  drop(): Promise<void>
}

export const backEnds: { kind: string; open(): Promise<TestBackEnd> }[] = [
  { kind: 'postgres', open: openPostgres },
  ...(testRedisUrl() === undefined ? [] : [{ kind: 'redis', open: openRedis }]),
]

async function openPostgres(): Promise<TestBackEnd> {
  const { url, drop } = await freshDatabase({ empty: true })
  return {
    queue: { kind: 'postgres', connectionString: url, schema: 'bullmq', poolMax: 2 },
    bus: { kind: 'postgres', connectionString: url },
    prefix: 'vireo',
    say: async (text) => void (await run(url, `select pg_notify('vireo_bus', '${text}')`)),
    drop,
  }
}

async function openRedis(): Promise<TestBackEnd> {
  const redis = { url: testRedisUrl() ?? '' }
  const prefix = `vireo-${randomBytes(4).toString('hex')}`
  const say = async (text: string): Promise<void> => {
    const connection = await connectRedis({ address: redis, logger: silentLogger })
    await connection.publish(`${prefix}:bus`, text)
    connection.disconnect()
  }
  return { queue: { kind: 'redis', redis }, bus: { kind: 'redis', redis }, prefix, say, drop: async () => {} }
}
