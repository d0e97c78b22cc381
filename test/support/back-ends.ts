// The back ends of contract tests: always PostgreSQL, and Redis if the test run has one.

import { randomBytes } from 'node:crypto'
import type { BusBackEnd } from '../../src/platform/bus/index.ts'
import type { QueueBackEnd } from '../../src/platform/queue/index.ts'
import { freshDatabase } from './postgres.ts'
import { testRedisUrl } from './redis.ts'

export interface TestBackEnd {
  queue: QueueBackEnd
  bus: BusBackEnd
  /** Used by this test only. */
  prefix: string
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
    drop,
  }
}

async function openRedis(): Promise<TestBackEnd> {
  const redis = { url: testRedisUrl() ?? '' }
  const prefix = `vireo-${randomBytes(4).toString('hex')}`
  return { queue: { kind: 'redis', redis }, bus: { kind: 'redis', redis }, prefix, drop: async () => {} }
}
