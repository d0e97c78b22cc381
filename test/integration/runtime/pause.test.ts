// Two processes on one database, without a bus between them: a queue paused in one is paused in the other.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type JobQueue, makeJobQueue } from '../../../src/actors/job-queue/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

let one: TestRuntime
let two: TestRuntime
let queue: JobQueue
let ran: string[]
let drained: string[]
let gate: PromiseWithResolvers<void>

beforeEach(async () => {
  one = await makeTestRuntime()
  two = await makeTestRuntime({ url: one.url })
  ran = []
  drained = []
  gate = Promise.withResolvers()
  const { db, runtime } = one
  queue = makeJobQueue({
    db,
    tell: runtime.tell,
    logger: silentLogger,
    registry: runtime.registry,
    config: () => testConfig(),
    incoming: { retryParked: async () => undefined },
    runnerJobs: { cancel: async () => undefined },
  })
  for (const [name, { runtime: each }] of Object.entries({ one, two })) {
    each.registry.job('email', {
      queue: 'mail',
      async run({ data }) {
        ran.push(`${name} ${data.n}`)
        if (data.n === 0) await gate.promise
      },
    })
    each.registry.lane('box', {
      queue: 'inbox',
      nextDueSql: "select now() where lane.key = 'long'",
      async drain(key, { isPaused }) {
        drained.push(key)
        if (key !== 'long') return null
        await until(isPaused, { what: 'the pause' })
        return null
      },
    })
  }
})
afterEach(async () => {
  await two.stop()
  await one.stop()
})

const enqueue = (n: number) => one.runtime.tell.create(async (unit) => unit.enqueue({ type: 'email', data: { n } }))
const wake = (key: string) => one.runtime.tell.create(async (unit) => unit.wake('box', key))
const states = async () => (await one.db.query<{ state: string }>('select state from job order by id')).map(({ state }) => state)

describe('a pause', () => {
  it('lets running jobs finish, starts no job and no lane, and ends in every process without a message', async () => {
    await one.runtime.start()
    await enqueue(0)
    await until(() => ran.length === 1)
    await wake('long')
    await until(() => drained.length === 1)
    await queue.pause()
    expect(await queue.state()).toBe('paused')
    await two.runtime.start()
    await enqueue(1)
    await wake('short')
    // The running lane starts nothing more, and its remaining work waits.
    await until(async () => (await one.db.query("select from lane where key = 'long' and lease_until is null")).length === 1)
    for (const { runtime } of [one, two]) await runtime.sweeper.sweep()
    expect([ran, drained]).toEqual([['one 0'], ['long']])
    gate.resolve()
    await until(async () => (await states())[0] === 'completed')
    expect(await states()).toEqual(['completed', 'waiting'])

    await one.db.query("delete from lane where key = 'long'")
    await queue.resume()
    await until(() => ran.length === 2)
    await until(() => drained.includes('short'))
    await until(async () => (await states())[1] === 'completed')
  })

  it('is known from the start of a process', async () => {
    await queue.pause()
    await enqueue(1)
    await one.runtime.start()
    await one.runtime.sweeper.sweep()
    expect([ran, await states()]).toEqual([[], ['waiting']])
  })

  it('applies even where it is not known yet, and failed claims do not spin', async () => {
    await one.runtime.start()
    await queue.pause()
    await enqueue(1)
    await wake('short')
    await one.runtime.sweeper.sweep()
    expect([ran, drained]).toEqual([[], []])
  })
})

describe('a cancelled job', () => {
  it('fails together with dependent jobs, whether it waits or runs', async () => {
    await one.runtime.start()
    const failures: string[] = []
    let interrupted = 0
    one.runtime.registry.job('video-transcoding', {
      queue: 'media',
      run: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            interrupted += 1
            reject(signal.reason)
          })
        }),
      failed: async (_job, error) => void failures.push(error),
    })
    const enqueue = (delayMs: number) =>
      one.runtime.tell.create(async (unit) => unit.enqueue({ type: 'video-transcoding', data: { n: delayMs }, delayMs }))
    await enqueue(0)
    await enqueue(600_000)
    await until(async () => (await states()).join() === 'active,delayed')
    const rows = await one.db.query<{ id: number }>('select id from job order by id')
    for (const { id } of rows) await queue.cancel(String(id))
    await one.runtime.sweeper.sweep()
    await until(async () => (await states()).join() === 'failed,failed')
    await until(() => interrupted === 1)
    expect(failures).toEqual(['An administrator cancelled it.', 'An administrator cancelled it.'])
    for (const { id } of rows) await expect(queue.cancel(String(id))).rejects.toMatchObject({ kind: 'conflict' })
    await expect(queue.cancel('999999')).rejects.toMatchObject({ kind: 'not_found' })
    await expect(queue.cancel('delivery-1')).rejects.toMatchObject({ kind: 'conflict' })
    expect(await one.db.query('select distinct error from job')).toEqual([{ error: 'An administrator cancelled it.' }])
  })
})

describe('a retry', () => {
  it('is possible for a failed job, once', async () => {
    await one.runtime.start()
    await queue.pause()
    const [row] = await one.db.query<{ id: number }>(
      `insert into job (type, queue, state, failures, error, dedupe_key, data)
       values ('email', 'mail', 'failed', 3, 'no', 'same', '{"n": 5}') returning id`,
    )
    const id = String(row?.id)
    await expect(queue.retry('999999')).rejects.toMatchObject({ kind: 'not_found' })
    await expect(queue.retry('nothing')).rejects.toMatchObject({ kind: 'not_found' })
    await queue.retry(id)
    await expect(queue.retry(id)).rejects.toMatchObject({ kind: 'conflict' })
    await queue.resume()
    await until(async () => (await states())[0] === 'completed')
    await one.db.query("update job set state = 'failed'")
    await one.runtime.tell.create(async (unit) => unit.enqueue({ type: 'email', data: { n: 6 }, dedupeKey: 'same', delayMs: 60_000 }))
    await expect(queue.retry(id)).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('is refused for a job whose dependents have failed: it would have nothing to do', async () => {
    const handler = { queue: 'media', run: async () => undefined, failed: async () => undefined } as const
    one.runtime.registry.job('video-transcoding', handler)
    one.runtime.registry.job('video-channel-import', { ...handler, standsAlone: ({ of }) => of === undefined })
    const rows = await one.db.query<{ id: number }>(
      `insert into job (type, queue, state, data) values ('video-transcoding', 'media', 'failed', '{}'),
         ('video-channel-import', 'io', 'failed', '{"of": 1}'), ('video-channel-import', 'io', 'failed', '{}') returning id`,
    )
    const tries = await Promise.allSettled(rows.map(({ id }) => queue.retry(String(id))))
    expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(await states()).toEqual(['failed', 'failed', 'waiting'])
  })
})
