// The weekly job that checks other servers: one in the cluster, on a randomly chosen day.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type InteractionCleaning, makeInteractionCleaning } from '../../../src/actors/interaction/index.ts'
import type { Config } from '../../../src/config/index.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

const DAY = 86_400_000
const LOOK = 600_000
const clock = fakeClock(new Date(2026, 4, 4, 12))
let config: Config
let one: TestRuntime
let two: TestRuntime
let cleaning: InteractionCleaning
let runs = 0
const run = async () => {
  runs += 1
}

const withSettings = (interval: number, hour: number, isWanted: boolean): Config => ({
  ...config,
  federation: { ...config.federation, videos: { ...config.federation.videos, cleanup_remote_interactions: isWanted } },
  vireo: {
    ...config.vireo,
    jobs: {
      ...config.vireo.jobs,
      repeating: { ...config.vireo.jobs.repeating, activitypub_cleaner: { interval, hour, minute: 30 } },
    },
  },
})

beforeAll(async () => {
  config = testConfig()
  one = await makeTestRuntime({ clock })
  two = await makeTestRuntime({ clock, url: one.url })
  for (const { runtime, db } of [one, two]) {
    const { tell, registry } = runtime
    cleaning = makeInteractionCleaning({ db, tell, registry, config: () => config })
    registry.job('activitypub-cleaner', { queue: 'io', run })
  }
  for (const { runtime } of [one, two]) await runtime.start()
})
afterAll(async () => {
  await two?.stop()
  await one?.stop()
})

const jobs = () => one.db.query<{ state: string; dueAt: Date }>('select state, due_at as "dueAt" from job where state <> \'completed\'')
/** Awaited jobs. */
const some = (fits: (job: { dueAt: Date }) => boolean) =>
  until(async () => {
    const found = await jobs()
    return found.some(fits) ? found : undefined
  })
const look = async () => {
  clock.pass(LOOK)
  await Promise.all([one, two].map(({ runtime }) => runtime.sweeper.sweep()))
}
/** The waiting job, of which there is only one. */
const planned = async (): Promise<Date> => {
  await look()
  const found = await some(() => true)
  expect(found).toMatchObject([{ state: 'delayed' }])
  return found[0]?.dueAt ?? new Date(Number.NaN)
}

it('waits for its day, runs once in the cluster, and again a week later', async () => {
  const due = await planned()
  expect([due.getHours(), due.getMinutes()]).toEqual([5, 30])
  expect(due > clock.now() && due.getTime() <= clock.now().getTime() + 7 * DAY).toBe(true)
  expect(await planned()).toEqual(due)
  clock.pass(due.getTime() - clock.now().getTime())
  // The job of the next week may exist as soon as this one has ended.
  await until(async () => runs > 0 && !(await jobs()).some(({ dueAt }) => dueAt.getTime() === due.getTime()))
  const next = await planned()
  expect(runs).toBe(1)
  expect(next).toEqual(new Date(due.getFullYear(), due.getMonth(), due.getDate() + 7, 5, 30))
})

it('gets a new day for other settings, and none when it is disabled', async () => {
  config = withSettings(DAY, 7, true)
  await look()
  const [job] = await some(({ dueAt }) => dueAt.getHours() === 7)
  expect((job?.dueAt.getTime() ?? 0) - clock.now().getTime()).toBeLessThanOrEqual(DAY)
  config = withSettings(DAY, 7, false)
  await look()
  await until(async () => (await jobs()).length === 0)
  config = withSettings(DAY, 7, true)
  await look()
  expect(await some(() => true)).toEqual([job])
})

it('resumes an interrupted round, and distinguishes rounds', async () => {
  const first = await cleaning.start()
  expect(first).toMatchObject({ kind: 'rating', afterId: 0 })
  expect(await cleaning.next(first)).toBeUndefined()
  expect([await cleaning.miss(first, 5), await cleaning.miss(first, 5), await cleaning.miss(first, 6)]).toEqual([1, 1, 1])
  const further = await cleaning.moveOn(first, 10)
  clock.pass(DAY)
  expect(await cleaning.start()).toEqual(further)
  await expect(cleaning.moveOn(first, 11)).rejects.toMatchObject({ kind: 'conflict' })
  await end()
  const second = await cleaning.start()
  expect(second).toMatchObject({ kind: 'rating', afterId: 0 })
  expect(second.roundAt > first.roundAt).toBe(true)
  expect(await cleaning.miss(second, 5)).toBe(2)
  await end()
  clock.pass(DAY)
  // 6 was not missing in the previous round, so its count restarts.
  const third = await cleaning.start()
  expect([await cleaning.miss(third, 5), await cleaning.miss(third, 6)]).toEqual([3, 1])
})

async function end(): Promise<void> {
  let place = await cleaning.start()
  for (let next: typeof place | undefined = place; next; next = await cleaning.moveOn(place, 'end')) place = next
}
