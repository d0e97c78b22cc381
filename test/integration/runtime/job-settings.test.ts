// Each key of `vireo.jobs`, from the configuration to running jobs.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pruneJobHistory } from '../../../src/actors/runtime/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { runtimeSettings } from '../../../src/runtime-settings.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
let clock = fakeClock()
let config = testConfig()
let t: TestRuntime
const settingsOf = (values: Values) => runtimeSettings(testConfig(values), ['web', 'federation', 'media'])

async function start(jobs: Values): Promise<void> {
  config = testConfig({ vireo: { jobs } })
  const { jobs: settings } = settingsOf({ vireo: { jobs } })
  t = await makeTestRuntime({ clock, settings: { jobs: { ...settings, leaseMs: 3000 } } })
}
beforeEach(() => {
  clock = fakeClock()
})
afterEach(() => t.stop())

const enqueue = (type: string, data: Record<string, number> = {}) => t.runtime.tell.create(async (unit) => unit.enqueue({ type, data }))
const job = async () => {
  const [row] = await t.db.query<{ state: string; failures: number; due_at: Date; error: string | null }>(
    'select state, failures, due_at, error from job',
  )
  return row
}

describe('job settings', () => {
  it('control the pauses between attempts, and their number', async () => {
    await start({ initial_backoff: '1 minute', max_backoff: '3 minutes', types: { email: { attempts: 4 } } })
    t.runtime.registry.job('email', { queue: 'mail', run: () => Promise.reject(new Error('no')) })
    await t.runtime.start()
    await enqueue('email')
    for (const [failures, wait] of [
      [1, MINUTE],
      [2, 2 * MINUTE],
      [3, 3 * MINUTE],
    ] as const) {
      await until(async () => (await job())?.failures === failures && (await job())?.state === 'delayed')
      expect((await job())?.due_at.getTime()).toBe(clock.now().getTime() + wait)
      clock.pass(wait)
    }
    await until(async () => (await job())?.state === 'failed')
  })

  it('control how long a job may run', async () => {
    await start({ types: { email: { attempts: 1, ttl: '100 ms' } } })
    t.runtime.registry.job('email', {
      queue: 'mail',
      run: ({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    await t.runtime.start()
    await enqueue('email')
    await until(async () => (await job())?.state === 'failed')
    expect((await job())?.error).toMatch(/timeout/i)
  })

  it('control which types run first, without an explicit priority', async () => {
    await start({ priorities: { transcoding: 7, video_studio: 8, transcription: 9 } })
    for (const type of ['video-transcription', 'video-studio-edition', 'video-transcoding', 'email']) {
      t.runtime.registry.job(type, { queue: 'media', run: async () => {} })
      await enqueue(type)
    }
    expect(await t.db.query('select type, priority from job order by priority')).toEqual([
      { type: 'email', priority: 0 },
      { type: 'video-transcoding', priority: 7 },
      { type: 'video-studio-edition', priority: 8 },
      { type: 'video-transcription', priority: 9 },
    ])
  })

  it('control how many run at once, and no type waits for another one', async () => {
    await start({ types: { email: { concurrency: 3 } } })
    const { jobs } = settingsOf({
      vireo: { jobs: { types: { 'video-redundancy': { concurrency: null } } } },
      transcoding: { concurrency: 4 },
      import: { videos: { concurrency: 5 } },
    })
    const types = ['video-transcoding', 'video-import', 'video-redundancy', 'video-removal']
    expect(types.map(jobs.concurrency)).toEqual([4, 5, 1, 2])
    expect(types.map(jobs.ownWorkers)).toEqual([4, 5, 1, 0])

    const gate = Promise.withResolvers<void>()
    let atOnce = 0
    t.runtime.registry.job('email', {
      queue: 'mail',
      async run() {
        atOnce += 1
        await gate.promise
      },
    })
    let others = 0
    t.runtime.registry.job('video-removal', {
      queue: 'mail',
      async run() {
        others += 1
      },
    })
    await t.runtime.start()
    for (let n = 0; n < 5; n += 1) await enqueue('email')
    await until(() => atOnce === 3)
    await enqueue('video-removal')
    await until(() => others === 1)
    expect(atOnce).toBe(3)
    gate.resolve()
    await until(() => atOnce === 5)
  })

  it('control how long ended jobs are listed, and how many of a type', async () => {
    await start({
      keep: { completed: '1 day', failed: '2 days', max_jobs: 2 },
      types: { email: { keep_completed: '3 days', keep_failed: '4 days' } },
    })
    pruneJobHistory({ db: t.db, registry: t.runtime.registry, clock, config: () => config })
    const ended = (type: string, state: string, days: number) =>
      t.db.query('insert into job (type, queue, state, finished_at) values ($1, $2, $3, $4)', [
        type,
        'io',
        state,
        new Date(clock.now().getTime() - days * DAY),
      ])
    const left = async () =>
      (await t.db.query<{ kept: string }>("select type || ' ' || state as kept from job order by id")).map(({ kept }) => kept)
    await ended('email', 'completed', 2.9)
    await ended('email', 'completed', 3.1)
    await ended('email', 'failed', 4.1)
    await ended('federate-video', 'completed', 0.9)
    await ended('federate-video', 'completed', 1.1)
    await ended('federate-video', 'failed', 1.9)
    await ended('federate-video', 'failed', 2.1)
    await t.runtime.sweeper.run(['old-jobs'])
    expect(await left()).toEqual(['email completed', 'federate-video completed', 'federate-video failed'])
    for (const state of ['completed', 'failed', 'cancelled']) await ended('email', state, 0)
    await t.runtime.sweeper.run(['old-jobs'])
    expect(await left()).toEqual(['federate-video completed', 'federate-video failed', 'email failed', 'email cancelled'])
  })
})
