import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { DomainError, NotNow, PermanentFailure } from '../../../src/actors/runtime/index.ts'
import { machineName } from '../../../src/actors/runtime/lease.ts'
import { makeOutageWaits } from '../../../src/actors/runtime/outage-waits.ts'
import { queueTranscoding } from '../../../src/actors/transcoding/transcoding.writes.ts'
import { MediaError, StorageOutage } from '../../../src/media/index.ts'
import { fakeClock } from '../../support/clock.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

let clock = fakeClock()
let t: TestRuntime
beforeEach(async () => {
  clock = fakeClock()
  t = await makeTestRuntime({ clock })
})
afterEach(() => t.stop())

const oneTry = { leaseMs: 3000, ttlMs: () => null, concurrency: () => 1, maxLostLeases: 2, attempts: () => 1 }
const enqueue = (data: Record<string, string | number>, more = {}) =>
  t.runtime.tell.create(async (unit) => unit.enqueue({ type: 'email', data, ...more }))
const jobs = () =>
  t.db.query<{ id: number; state: string; failures: number; error: string | null; lost_leases: number }>(
    'select id, state, failures, error, lost_leases from job order by id',
  )

describe('a job', () => {
  it('runs, reports progress and is kept as completed', async () => {
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run({ data, progress }) {
        progress(40)
        expect(data).toEqual({ userId: 3 })
      },
    })
    await t.runtime.start()
    await enqueue({ userId: 3 })
    await until(async () => (await jobs())[0]?.state === 'completed')
    expect(await jobs()).toMatchObject([{ state: 'completed', failures: 0, error: null }])
  })

  it('is found by the sweeper when the queue has lost it', async () => {
    const ran: number[] = []
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run({ data }) {
        ran.push(Number(data.userId))
      },
    })
    t.queue.deaf = true
    await t.runtime.start()
    await enqueue({ userId: 1 })
    t.queue.deaf = false
    await until(() => ran.length === 1)
  })

  it('with the key of a waiting one is not stored again', async () => {
    t.runtime.registry.job('email', { queue: 'mail', run: async () => {} })
    await enqueue({ n: 1 }, { dedupeKey: 'same' })
    await enqueue({ n: 2 }, { dedupeKey: 'same' })
    expect(await jobs()).toHaveLength(1)
  })

  it('is stored with all others of its transaction by one statement, in their order and each key once', async () => {
    t.runtime.registry.job('email', { queue: 'mail', run: async () => {} })
    await t.db.query('create table said (rows int)')
    await t.db.query(
      `create function note_said() returns trigger language plpgsql as
       $$ begin insert into said select count(*) from added; return null; end $$`,
    )
    await t.db.query(
      `create trigger note_said after insert on job referencing new table as added for each statement
       execute function note_said()`,
    )
    await t.runtime.tell.create(async (unit) => {
      for (let n = 1; n <= 300; n += 1) unit.enqueue({ type: 'email', data: { n }, priority: n % 2 })
      for (const n of [301, 302]) unit.enqueue({ type: 'email', data: { n }, dedupeKey: 'same', delayMs: 1000 })
    })
    expect(await t.db.query('select rows from said')).toEqual([{ rows: 301 }])
    const stored = await t.db.query<{ n: number; state: string; priority: number; dedupe_key: string | null }>(
      "select (data->>'n')::int as n, state, priority, dedupe_key from job order by id",
    )
    expect(stored.map(({ n }) => n)).toEqual(Array.from({ length: 301 }, (_, index) => index + 1))
    expect(stored[0]).toEqual({ n: 1, state: 'waiting', priority: 1, dedupe_key: null })
    expect(stored.at(-1)).toEqual({ n: 301, state: 'delayed', priority: 0, dedupe_key: 'same' })
  })

  it('of a transcoding runs before those with a higher number', async () => {
    t.runtime.registry.job('video-transcoding', { queue: 'media', run: async () => {} })
    await t.runtime.tell.create(async (unit) => {
      queueTranscoding(unit, 1, 200)
      queueTranscoding(unit, 2, 100)
    })
    expect(await t.db.query("select data->>'transcodingId' as id from job order by priority, id")).toEqual([{ id: '2' }, { id: '1' }])
  })

  it('that fails is retried after a pause, and reports its failure after the last attempt', async () => {
    const reported: string[] = []
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: async () => {
        throw new Error('mail server says no')
      },
      failed: async ({ data }, error) => {
        reported.push(`${data.userId}: ${error}`)
      },
    })
    await t.runtime.start()
    await enqueue({ userId: 5 })
    for (const failures of [1, 2]) {
      await until(async () => (await jobs())[0]?.failures === failures)
      expect(await jobs()).toMatchObject([{ state: 'delayed', error: 'mail server says no' }])
      clock.pass(20_000)
    }
    await until(async () => (await jobs())[0]?.state === 'failed')
    expect(reported).toEqual(['5: mail server says no'])
  })

  it('whose failure is permanent fails at once', async () => {
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: async () => {
        throw new PermanentFailure('no such address')
      },
    })
    await t.runtime.start()
    await enqueue({ userId: 5 })
    await until(async () => (await jobs())[0]?.state === 'failed')
    expect(await jobs()).toMatchObject([{ failures: 0, error: 'no such address' }])
  })

  it('of a killed process is continued at the next start, without a lost attempt', async () => {
    await enqueueWithoutHandler(`${machineName()}|999999999|1|dead`)
    let ran = 0
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: async () => {
        ran += 1
      },
    })
    await t.runtime.start()
    await until(() => ran === 1)
    await until(async () => (await jobs())[0]?.state === 'completed')
    expect(await jobs()).toMatchObject([{ failures: 0, lost_leases: 1 }])
  })

  it('leased by a live process of another machine is not touched until its lease expires', async () => {
    await enqueueWithoutHandler('another-machine|1|1|alive')
    t.runtime.registry.job('email', { queue: 'mail', run: async () => {} })
    await t.runtime.start()
    await t.runtime.sweeper.sweep()
    expect(await jobs()).toMatchObject([{ state: 'active' }])
    await t.db.query("update job set lease_until = now() - interval '1 second'")
    await until(async () => (await jobs())[0]?.state === 'completed')
  })

  it('that crashes its process repeatedly fails with that reason', async () => {
    const reported: string[] = []
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: async () => {},
      failed: async (_job, error) => {
        reported.push(error)
      },
    })
    await enqueueWithoutHandler(`${machineName()}|999999999|1|dead`)
    await t.db.query('update job set lost_leases = 2')
    await t.runtime.start()
    await until(async () => (await jobs())[0]?.state === 'failed')
    expect(reported).toEqual(['The processes that ran this job ended again and again.'])
  })

  it('that is cancelled while it runs is interrupted', async () => {
    let interrupted = false
    await t.stop()
    t = await makeTestRuntime({
      clock,
      settings: { jobs: { ...oneTry, leaseMs: 90 } },
    })
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            interrupted = true
            reject(signal.reason)
          })
        }),
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(async () => (await jobs())[0]?.state === 'active')
    await t.db.query("update job set state = 'cancelled'")
    await until(() => interrupted)
    expect(await jobs()).toMatchObject([{ state: 'cancelled' }])
  })

  it('with an expired lease is claimed again by the same process, and the first run is interrupted', async () => {
    const runs: string[] = []
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run({ signal }) {
        const run = runs.push('began')
        if (run > 1) return
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(() => runs.length === 1)
    const [first] = await t.db.query<{ lease_owner: string }>('select lease_owner from job')
    await t.db.query("update job set lease_until = '-infinity'")
    await until(() => runs.length === 2)
    await until(async () => (await jobs())[0]?.state === 'completed')
    const [ended] = await t.db.query<{ lease_owner: string | null }>('select lease_owner from job')
    expect(first?.lease_owner).toContain('#')
    expect(ended?.lease_owner).toBeNull()
    await t.runtime.stop(5000)
    expect(await jobs()).toMatchObject([{ state: 'completed', lost_leases: 1, failures: 0 }])
  })

  it('with a lost lease does not report its failure', async () => {
    const reported: string[] = []
    const runs: string[] = []
    const gate = Promise.withResolvers<void>()
    await t.stop()
    t = await makeTestRuntime({ clock, settings: { jobs: { ...oneTry, leaseMs: 90 } } })
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run({ signal }) {
        if (runs.push('began') > 1) return await gate.promise
        await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new PermanentFailure('the program was killed'))),
        )
      },
      failed: async (_job, error) => void reported.push(error),
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(() => runs.length === 1)
    await t.db.query("update job set lease_owner = 'another-machine|1|1|gone', lease_until = '-infinity'")
    await until(() => runs.length === 2)
    gate.resolve()
    await until(async () => (await jobs())[0]?.state === 'completed')
    await t.runtime.stop(5000)
    expect(reported).toEqual([])
  })

  it('that was taken over before its failure was recorded leaves it to the other one', async () => {
    const reported: string[] = []
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run() {
        await t.db.query("update job set lease_owner = 'another-machine|1|1|alive'")
        throw new PermanentFailure('no such address')
      },
      failed: async (_job, error) => void reported.push(error),
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(async () => (await jobs())[0]?.state === 'active')
    await t.runtime.stop(5000)
    expect(reported).toEqual([])
    expect(await jobs()).toMatchObject([{ state: 'active', error: null }])
  })

  it.each([
    ['the database', 5_000, () => t.db.query('select pg_terminate_backend(pg_backend_pid())')],
    ['object storage', 30_000, () => Promise.reject(new StorageOutage('out of reach'))],
    ['what its handler needs', 30_000, () => Promise.reject(new NotNow('no ffmpeg'))],
  ])('waits while %s is unreachable without losing an attempt, also when another error follows from it', async (_, first, meet) => {
    let runs = 0
    const reported: string[] = []
    await t.stop()
    t = await makeTestRuntime({ clock, settings: { jobs: oneTry } })
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run() {
        runs += 1
        if (runs === 1) await meet()
        if (runs === 2) await meet().catch((cause: unknown) => Promise.reject(new PermanentFailure('no', { cause })))
      },
      failed: async (_job, error) => void reported.push(error),
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    for (const run of [1, 2]) {
      await until(async () => runs === run && (await jobs())[0]?.state === 'delayed')
      const [row] = await t.db.query<{ due_at: Date }>('select due_at from job')
      expect(row?.due_at.getTime()).toBe(clock.now().getTime() + run * first)
      clock.pass(run * first)
    }
    await until(async () => (await jobs())[0]?.state === 'completed')
    expect([reported, await jobs()]).toMatchObject([[], [{ failures: 0, lost_leases: 0 }]])
  })

  it.each([
    ['a tool', new MediaError('disk-full', 'There is no space left on the disk.')],
    ['a write', new Error('failed', { cause: Object.assign(new Error('write'), { code: 'ENOSPC' }) })],
  ])('waits while the disk is full for %s, without losing an attempt', async (_, error) => {
    let runs = 0
    await t.stop()
    t = await makeTestRuntime({ clock, settings: { jobs: oneTry } })
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run() {
        runs += 1
        if (runs === 1) throw error
      },
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(async () => (await jobs())[0]?.state === 'delayed')
    clock.pass(30_000)
    await until(async () => (await jobs())[0]?.state === 'completed')
    expect([runs, await jobs()]).toMatchObject([2, [{ failures: 0 }]])
  })

  it('waits longer the longer an outage lasts, ten minutes at most, and independently of others', () => {
    const waits = makeOutageWaits(clock)
    const next = (id: number) => {
      const ms = waits.next(id, 30_000)
      clock.pass(ms)
      return ms / 1000
    }
    expect(Array.from({ length: 7 }, () => next(1))).toEqual([30, 60, 120, 240, 480, 600, 600])
    expect(next(2)).toBe(30)
    clock.pass(1_200_000)
    expect(next(1)).toBe(30)
  })

  it('that finds a row locked waits without losing an attempt', async () => {
    let runs = 0
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run() {
        runs += 1
        if (runs === 1) throw new DomainError('busy', 'another request is changing this')
      },
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(async () => (await jobs())[0]?.state === 'delayed')
    expect(await jobs()).toMatchObject([{ failures: 0 }])
    clock.pass(10_000)
    await until(async () => (await jobs())[0]?.state === 'completed')
  })

  it('that runs at shutdown is released without counting', async () => {
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: ({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    await t.runtime.start()
    await enqueue({ userId: 1 })
    await until(async () => (await jobs())[0]?.state === 'active')
    await t.runtime.stop(10)
    expect(await jobs()).toMatchObject([{ state: 'waiting', failures: 0, lost_leases: 0 }])
  })

  it('of one type never runs more often at once than configured', async () => {
    let atOnce = 0
    let most = 0
    let done = 0
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run() {
        atOnce += 1
        most = Math.max(most, atOnce)
        await t.db.query('select pg_sleep(0.01)')
        atOnce -= 1
        done += 1
      },
    })
    await t.runtime.start()
    for (let n = 0; n < 12; n += 1) await enqueue({ n })
    await until(() => done === 12)
    expect(most).toBe(2)
  })
})

const enqueueWithoutHandler = (owner: string) =>
  t.db.query(
    `insert into job (type, queue, state, data, max_attempts, lease_owner, lease_until, due_at)
     values ('email', 'mail', 'active', '{}', 1, $1, now() + interval '1 hour', $2)`,
    [owner, clock.now()],
  )
