// Outages of the back end of queue and bus: lost connections, restarts, and lost data.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import pg from 'pg'
import { makeBus } from '../../../src/platform/bus/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeQueue, type Queue, queueNames } from '../../../src/platform/queue/index.ts'
import { connectRedis } from '../../../src/platform/redis.ts'
import { slowness } from '../../support/cpu-time.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { canStartRedis, startOwnRedis } from '../../support/redis.ts'
import { eventually, latch } from '../../support/until.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Sends hints until one arrives: an outage may lose some. */
async function expectToArrive(queue: Queue, got: string[], name: string): Promise<void> {
  let n = 0
  await eventually(async () => {
    n += 1
    await queue.hint('inbox', { name: 'n', id: `${name} ${n}`, data: {} })
    expect(got.some((id) => id.startsWith(name))).toBe(true)
  })
}

describe('PostgreSQL behind the queue and the bus', () => {
  let url: string
  beforeEach(async () => {
    const database = await freshDatabase({ empty: true })
    url = database.url
    closers.push(database.drop)
  })

  const query = async (statement: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows
    } finally {
      await client.end()
    }
  }
  const endAll = (name: string) =>
    query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = '${name}'`)
  const open = async (): Promise<Queue> => {
    const backend = { kind: 'postgres', connectionString: url, schema: 'bullmq', poolMax: 2 } as const
    const queue = await makeQueue({ backend, prefix: 'vireo', logger: silentLogger })
    closers.push(() => queue.close())
    return queue
  }

  it('may end every connection of the queue: workers and hints recover', async () => {
    const queue = await open()
    const got: string[] = []
    await queue.work('inbox', { concurrency: 2 }, async ({ id }) => {
      got.push(id)
    })
    await expectToArrive(queue, got, 'before')
    expect((await endAll('vireo-queue')).length).toBeGreaterThan(0)
    await expectToArrive(queue, got, 'after')
  })

  it('may end connections while a handler runs: the handler finishes once', async () => {
    const queue = await open()
    const begun = latch()
    const release = latch()
    const got: string[] = []
    await queue.work('inbox', { concurrency: 1 }, async ({ id }) => {
      got.push(id)
      begun.open()
      await release.opened
    })
    await queue.hint('inbox', { name: 'n', id: 'slow', data: {} })
    await begun.opened
    await endAll('vireo-queue')
    release.open()
    await expectToArrive(queue, got, 'after')
    expect(got.filter((id) => id === 'slow')).toHaveLength(1)
  })

  it('holds at most eight connections for six queues with their workers', async () => {
    const queue = await open()
    const got: string[] = []
    for (const name of queueNames) {
      await queue.work(name, { concurrency: 5 }, async ({ id }) => {
        got.push(id)
      })
    }
    for (const name of queueNames) {
      for (let n = 0; n < 20; n += 1) await queue.hint(name, { name: 'n', id: `${name} ${n}`, data: {} })
    }
    await eventually(() => expect(got).toHaveLength(120))
    const [row] = await query(`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    expect(row?.n).toBeLessThanOrEqual(8)
  })

  it('may have its tables truncated', async () => {
    const queue = await open()
    const got: string[] = []
    await queue.work('inbox', { concurrency: 1 }, async ({ id }) => {
      got.push(id)
    })
    await expectToArrive(queue, got, 'before')
    // The queue runs meanwhile, so that the two may deadlock.
    await eventually(async () => void (await query('truncate bullmq.job, bullmq.dedup, bullmq.meta, bullmq.event cascade')))
    await expectToArrive(queue, got, 'after')
  })

  it('may end the connection of the bus: it listens again', async () => {
    const make = () => makeBus({ backend: { kind: 'postgres', connectionString: url }, prefix: 'vireo', logger: silentLogger })
    const [here, there] = [await make(), await make()]
    closers.push(
      () => here.close(),
      () => there.close(),
    )
    const got: unknown[] = []
    there.subscribe('token', (payload) => got.push(payload))
    await endAll('vireo-bus')
    await here.publish('token', 'perhaps lost')
    await eventually(async () => {
      await here.publish('token', 'after')
      expect(got).toContain('after')
    })
  })

  it('is named in one line when it is unavailable at the start', async () => {
    const wrong = url.replace(/@.*\//, '@127.0.0.1:1/')
    const backend = { kind: 'postgres', connectionString: wrong, schema: 'bullmq', poolMax: 2 } as const
    await expect(makeQueue({ backend, prefix: 'vireo', logger: silentLogger })).rejects.toThrow('ECONNREFUSED 127.0.0.1:1')
    const bus = makeBus({
      backend: { kind: 'postgres', connectionString: wrong },
      prefix: 'vireo',
      logger: silentLogger,
    })
    await expect(bus).rejects.toThrow('ECONNREFUSED 127.0.0.1:1')
  })
})

describe('an unavailable Redis', () => {
  it('is named in one line', async () => {
    const connecting = connectRedis({ address: { url: 'redis://127.0.0.1:1' }, logger: silentLogger })
    await expect(connecting).rejects.toThrow(/^Redis refused at 127\.0\.0\.1:1: is it running\? Otherwise check the `redis:`/)
  })

  it('is refused as an address when its URL is malformed', async () => {
    await expect(connectRedis({ address: { url: 'nonsense' }, logger: silentLogger })).rejects.toThrow('URL of Redis is malformed')
  })
})

if (canStartRedis()) {
  describe('Redis behind the queue and the bus', () => {
    const open = async (url: string): Promise<Queue> => {
      const queue = await makeQueue({
        backend: { kind: 'redis', redis: { url } },
        prefix: 'vireo',
        logger: silentLogger,
      })
      closers.push(() => queue.close())
      return queue
    }
    const command = async (url: string, ...words: [string, ...string[]]): Promise<void> => {
      const client = new Redis(url)
      await client.call(...words)
      client.disconnect()
    }

    it('may be flushed: running workers continue with new hints', async () => {
      const redis = await startOwnRedis()
      closers.push(redis.stop)
      const queue = await open(redis.url)
      const got: string[] = []
      await queue.work('inbox', { concurrency: 2 }, async ({ id }) => {
        got.push(id)
      })
      await expectToArrive(queue, got, 'before')
      await command(redis.url, 'FLUSHALL')
      await expectToArrive(queue, got, 'after')
    })

    it('may die and restart empty: hints are dropped fast meanwhile, then everything recovers', async () => {
      const first = await startOwnRedis()
      const queue = await open(first.url)
      const make = () => makeBus({ backend: { kind: 'redis', redis: { url: first.url } }, prefix: 'vireo', logger: silentLogger })
      const [here, there] = [await make(), await make()]
      closers.push(
        () => here.close(),
        () => there.close(),
      )
      const reported: unknown[] = []
      there.subscribe('token', (payload) => reported.push(payload))
      const got: string[] = []
      await queue.work('inbox', { concurrency: 2 }, async ({ id }) => {
        got.push(id)
      })
      await expectToArrive(queue, got, 'before')

      await first.stop()
      const start = performance.now()
      await queue.hint('inbox', { name: 'n', id: 'lost', data: {} })
      await here.publish('token', 'lost')
      expect(performance.now() - start).toBeLessThan(2_500 * slowness())
      const again = performance.now()
      for (let n = 0; n < 50; n += 1) await queue.hint('inbox', { name: 'n', id: `lost ${n}`, data: {} })
      expect(performance.now() - again).toBeLessThan(2_000 * slowness())

      const second = await startOwnRedis({ port: first.port })
      closers.unshift(second.stop)
      await expectToArrive(queue, got, 'after')
      await eventually(async () => {
        await here.publish('token', 'after')
        expect(reported).toContain('after')
      })
      expect(got.some((id) => id.startsWith('lost'))).toBe(false)
    })

    it('is named in one line when the password is wrong', async () => {
      const redis = await startOwnRedis()
      closers.push(redis.stop)
      await command(redis.url, 'CONFIG', 'SET', 'requirepass', 'right')
      const connect = (url: string) => connectRedis({ address: { url }, logger: silentLogger })
      await expect(connect(redis.url)).rejects.toThrow(/^Redis at 127\.0\.0\.1:\d+ does not accept the password/)
      await expect(connect(redis.url.replace('//', '//:wrong@'))).rejects.toThrow('does not accept the password')
      const client = await connect(redis.url.replace('//', '//:right@'))
      expect(await client.ping()).toBe('PONG')
      client.disconnect()
    })
  })
}
