// A runtime with its own database and a queue that loses every hint: the worst possible back end.

import { EventEmitter } from 'node:events'
import { migrations } from '../../migrations/index.ts'
import { makeRuntime, type Runtime, type RuntimeSettings } from '../../src/actors/runtime/index.ts'
import { entities } from '../../src/entities.ts'
import type { Bus } from '../../src/platform/bus/index.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type Database, makeDatabase } from '../../src/platform/database/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Hint, Queue, QueueName } from '../../src/platform/queue/index.ts'
import { freshDatabase } from './postgres.ts'

export interface TestRuntime {
  runtime: Runtime
  db: Database
  url: string
  queue: MemoryQueue
  bus: Bus
  stop(): Promise<void>
}

export type TestSettings = Partial<Omit<RuntimeSettings, 'jobs'> & { jobs: Partial<RuntimeSettings['jobs']> }>

const settings: RuntimeSettings = {
  relayIntervalMs: 20,
  sweepIntervalMs: 20,
  laneLeaseMs: 3000,
  lockTimeoutMs: 2000,
  jobs: {
    leaseMs: 3000,
    ttlMs: () => null,
    concurrency: () => 2,
    maxLostLeases: 2,
    attempts: () => 3,
    priority: () => 0,
    ownWorkers: () => 0,
    backOff: { initial_backoff: 5000, max_backoff: 600_000 },
  },
  queueConcurrency: { delivery: 4, inbox: 4, media: 2, mail: 1, io: 2, cron: 1 },
}

export async function makeTestRuntime(
  options: {
    url?: string
    clock?: Clock
    queue?: MemoryQueue
    bus?: Bus
    settings?: TestSettings
    wrapDatabase?: (db: Database) => Database
  } = {},
): Promise<TestRuntime> {
  const owned = options.url === undefined ? await freshDatabase() : undefined
  const url = options.url ?? owned?.url ?? ''
  const own = await makeDatabase({ url, poolMax: 5, entities, migrations, logger: silentLogger })
  const db = options.wrapDatabase?.(own) ?? own
  const queue = options.queue ?? memoryQueue()
  const bus = options.bus ?? localBus()
  const runtime = makeRuntime({
    db,
    queue,
    bus,
    clock: options.clock ?? systemClock,
    logger: silentLogger,
    settings: () => ({ ...settings, ...options.settings, jobs: { ...settings.jobs, ...options.settings?.jobs } }),
  })
  return {
    runtime,
    db,
    url,
    queue,
    bus,
    async stop() {
      await runtime.stop(1000)
      await own.close()
      await owned?.drop()
    },
  }
}

export interface MemoryQueue extends Queue {
  /** While deaf, the queue drops hints, as if its back end was wiped continuously. */
  deaf: boolean
}

function memoryQueue(): MemoryQueue {
  const handlers = new Map<QueueName, (hint: Hint) => Promise<void>>()
  const running = new Set<Promise<void>>()
  const queue: MemoryQueue = {
    deaf: false,
    async hint(name, hint) {
      if (queue.deaf) return
      const run = Promise.resolve(handlers.get(name)?.(hint)).finally(() => running.delete(run))
      running.add(run)
    },
    async work(name, _options, handler) {
      handlers.set(name, handler)
      return {
        async close() {
          handlers.delete(name)
          await Promise.allSettled([...running])
        },
        setConcurrency() {},
      }
    },
    async counts() {
      return { waiting: 0, active: running.size }
    },
    async wipe() {},
    async close() {},
  }
  return queue
}

function localBus(): Bus {
  const emitter = new EventEmitter()
  return {
    publish: async (topic, payload) => void emitter.emit(topic, payload),
    subscribe(topic, listener) {
      emitter.on(topic, listener)
      return () => emitter.off(topic, listener)
    },
    close: async () => {},
  }
}
