// BullMQ on one of its two back ends. Only this folder knows BullMQ, and only this file knows which back end runs.

import { setTimeout as wait } from 'node:timers/promises'
import type { Job, JobsOptions, JobType, PostgresConnection, PostgresConnectionOptions, PostgresQueueBackend, WorkerOptions } from 'bullmq'
import { isRetryable } from '../database/errors.ts'
import type { Logger } from '../logger.ts'
import { makeQuietLog } from '../quiet-log.ts'
import { connectRedis, type RedisAddress } from '../redis.ts'

const WIPE_TRIES = 10

/** The content of a job: ids only. */
export interface Payload {
  id: string
  data: Record<string, string | number>
}

export type HintJob = Job<Payload>

/** The used part of BullMQ's `Queue`. */
export interface Producer {
  add(name: string, data: Payload, options: JobsOptions): Promise<unknown>
  getJobCounts(...types: JobType[]): Promise<Record<string, number>>
  on(event: 'error', listener: (error: Error) => void): unknown
  close(): Promise<void>
}

/** The used part of BullMQ's `Worker`. */
export interface Consumer {
  concurrency: number
  waitUntilReady(): Promise<void>
  pause(doNotWaitActive: boolean): Promise<void>
  resume(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
  close(force: boolean): Promise<void>
}

export type Process = (job: HintJob, token?: string) => Promise<void>

export interface BackEnd {
  producer(name: string): Producer
  consumer(name: string, process: Process, options: Partial<WorkerOptions>): Promise<Consumer>
  /** False during a known outage of the back end, so that callers do not wait. */
  isUp(): boolean
  wipe(): Promise<void>
  close(): Promise<void>
}

/** `poolMax`: connections that all queues and workers of a process share, besides one that listens. */
export type QueueBackEnd =
  | { kind: 'redis'; redis: RedisAddress }
  | { kind: 'postgres'; connectionString: string; schema: string; poolMax: number }

/** BullMQ's events are not used here; they cannot be disabled, only limited. */
const STREAMS = { events: { maxLen: 100 } }
const POSTGRES_RETRY_MS = 500
const SCAN_COUNT = 1_000

export function openBackEnd(backend: QueueBackEnd, prefix: string, logger: Logger): Promise<BackEnd> {
  return backend.kind === 'redis' ? openRedis(backend.redis, `${prefix}:queue`, logger) : openPostgres(backend, prefix, logger)
}

async function openRedis(address: RedisAddress, prefix: string, logger: Logger): Promise<BackEnd> {
  const { Queue, Worker } = await import('bullmq')
  const producing = await connectRedis({ address, logger })
  let consuming: Awaited<ReturnType<typeof connectRedis>> | undefined
  return {
    producer: (name) => new Queue<Payload>(name, { connection: producing, prefix, streams: STREAMS }),
    async consumer(name, process, options) {
      consuming ??= await connectRedis({ address, logger, mode: 'patient' })
      return new Worker<Payload>(name, process, { ...options, connection: consuming, prefix })
    },
    isUp: () => producing.status === 'ready',
    async wipe() {
      const found = producing.scanStream({ match: `${prefix}:*`, count: SCAN_COUNT })
      for await (const keys of found) if (keys.length > 0) await producing.unlink(...keys)
    },
    async close() {
      for (const client of [producing, consuming]) client?.disconnect()
    },
  }
}

async function openPostgres(backend: QueueBackEnd & { kind: 'postgres' }, prefix: string, logger: Logger): Promise<BackEnd> {
  const bullmq = await import('bullmq')
  const { connectionString, schema, poolMax } = backend
  const connection = new bullmq.PostgresConnection({
    connectionString,
    schema,
    migrate: true,
    max: poolMax,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: 'vireo-queue',
  })
  const quiet = makeQuietLog(logger)
  let closing = false
  connection.setMaxListeners(0)
  connection.on('error', (error: Error) => {
    if (!closing) quiet('the queue lost a connection to PostgreSQL', error)
  })
  // A connection may end between two statements of BullMQ, which listens only to those that nobody uses.
  connection.pool.on('connect', (client) => client.on('error', () => undefined))
  listenOneAtATime(connection)
  try {
    await connection.waitUntilReady()
  } catch (error) {
    await connection.close()
    throw error
  }
  const { Queue, Worker } = bullmq.withBackend<PostgresQueueBackend, PostgresConnectionOptions>((name, options) => {
    const part = new bullmq.PostgresQueueBackend(connection, name, options, true)
    // The connection is shared: closing a queue only ends its blocking wait.
    part.close = () => part.disconnectBlocking()
    // BullMQ retries at once after any error other than "connection refused".
    const moveToActive = part.moveToActive.bind(part)
    part.moveToActive = async (...args) => {
      try {
        return await moveToActive(...args)
      } catch (error) {
        await wait(POSTGRES_RETRY_MS)
        throw error
      }
    }
    return part
  })
  const named = (name: string) => `${prefix}.${name}`
  return {
    producer: (name) => new Queue<Payload>(named(name), { connection: connection.pool, streams: STREAMS }),
    consumer: async (name, process, options) => new Worker<Payload>(named(name), process, { ...options, connection: connection.pool }),
    isUp: () => true,
    async wipe() {
      const { rows } = await connection.pool.query<{ table: string }>(
        `select format('%I.%I', schemaname, tablename) as table from pg_tables
         where schemaname = $1 and tablename <> 'migration'`,
        [schema],
      )
      const truncate = `truncate ${rows.map(({ table }) => table).join(', ')}`
      for (let attempt = 1; ; attempt += 1) {
        try {
          return void (await connection.pool.query(truncate))
        } catch (error) {
          // It locks all tables, while workers lock them in another order.
          if (attempt === WIPE_TRIES || !isRetryable(error)) throw error
        }
      }
    },
    async close() {
      closing = true
      await connection.close()
    },
  }
}

/** Six workers send their LISTEN through one client, which pg will soon refuse while another statement runs. */
function listenOneAtATime(connection: PostgresConnection): void {
  const getListenClient = connection.getListenClient.bind(connection)
  const known = new WeakSet<object>()
  connection.getListenClient = async () => {
    const client = await getListenClient()
    if (known.has(client)) return client
    known.add(client)
    const query: typeof client.query = client.query.bind(client)
    let last: Promise<unknown> = Promise.resolve()
    client.query = (text, params) => {
      const answer = last.then(() => query(text, params))
      last = answer.catch(() => {})
      return answer
    }
    return client
  }
}
