// Periodic and batched work of notifications, with stubbed dependencies.

import { expect, it, jest } from '@jest/globals'
import { makeMailBatches, notifySubscribers } from '../../../src/actors/notification/index.ts'
import type { ActorDeps, NewJob } from '../../../src/actors/runtime/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'

type Run = (job: { data: Record<string, number>; signal: AbortSignal }) => Promise<void>

/** Enqueued messages are collected in `enqueued`. */
function deps(query: (sql: string, values: number[]) => object[], config: Values = {}) {
  const runs: Run[] = []
  const enqueued: NewJob[] = []
  const unit = { query: async () => [], enqueue: (job: NewJob) => void enqueued.push(job) }
  const registry = {
    on() {},
    job: (_type: string, { run }: { run: Run }) => void runs.push(run),
    periodic: (_name: string, { run }: { run: Run }) => void runs.push(run),
  }
  const tell = { create: async (handler: (of: typeof unit) => Promise<unknown>) => await handler(unit) }
  const db = { query: async (sql: string, values: number[] = []) => query(sql, values) }
  const made = { db, tell, registry, clock: fakeClock(), config: () => testConfig(config) } as unknown as ActorDeps
  const run = (data: Record<string, number> = {}) => runs[0]?.({ data, signal: new AbortController().signal })
  return { made, run, enqueued }
}

it('subscribers of a large channel are notified by consecutive jobs, each of them once', async () => {
  const last = 120
  const sent: unknown[] = []
  const { made, run, enqueued } = deps((_sql, [, after = 0]) => [{ last: after < last ? after + 1 : null }])
  const notify = jest.fn(async (_unit: unknown, _telling: unknown, [, after]: readonly unknown[]) => sent.push(after))
  notifySubscribers({ ...made, notify })
  await run({ videoId: 7 })
  const jobs = [...enqueued]
  for (const { data } of jobs) {
    expect(data.videoId).toBe(7)
    await run(data as Record<string, number>)
    jobs.push(...enqueued.slice(jobs.length))
  }
  expect(jobs.length).toBeGreaterThan(1)
  expect(sent).toEqual(Array.from({ length: last }, (_none, after) => after))
})

it('pending mails are requested again, but not while there is no mail server', async () => {
  const late = (sql: string) => (sql.startsWith('select') ? [{ userId: 1, type: 2 }] : [])
  for (const [hostname, count] of [
    ['127.0.0.1', 1],
    [null, 0],
  ] as const) {
    const { made, run, enqueued } = deps(late, { smtp: { hostname } })
    makeMailBatches(made)
    await run()
    expect({ hostname, count: enqueued.length }).toEqual({ hostname, count })
  }
})
