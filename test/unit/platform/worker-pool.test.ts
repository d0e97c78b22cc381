import { afterEach, expect, it } from '@jest/globals'
import { makeWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../../src/platform/worker-pool.ts'
import type { PoolTask } from '../../support/pool-worker.ts'
import { until } from '../../support/until.ts'

const pools: WorkerPool<PoolTask, string>[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

function makePool(options: Partial<WorkerPoolOptions> = {}): WorkerPool<PoolTask, string> {
  const module = new URL('../../support/pool-worker.ts', import.meta.url)
  const pool = makeWorkerPool<PoolTask, string>({
    module,
    threads: 1,
    deadlineMs: 30_000,
    maxWaiting: 2,
    idleMs: 30_000,
    maxHeapMiB: 64,
    ...options,
  })
  pools.push(pool)
  return pool
}

const answer = expect.stringMatching(/^good by \d+$/)

it('runs tasks, including failed ones, in the same thread', async () => {
  const pool = makePool()
  const first = await pool.run({ answer: 'good' })
  expect(first).toEqual(answer)
  await expect(pool.run({ fail: 'no luck' })).rejects.toMatchObject({ reason: 'failed', cause: 'Error: no luck' })
  expect(await pool.run({ answer: 'good' })).toBe(first)
})

it('an idle thread ends after a while, and the next task gets a new one', async () => {
  const pool = makePool({ idleMs: 1 })
  const first = await pool.run({ answer: 'good' })
  await until(async () => (await pool.run({ answer: 'good' })) !== first)
})

it('gives tasks to the thread that worked last, so that the others end', async () => {
  const pool = makePool({ threads: 2 })
  await Promise.all([pool.run({ answer: 'good' }), pool.run({ answer: 'good' })])
  const answers = []
  for (let n = 0; n < 3; n += 1) answers.push(await pool.run({ answer: 'good' }))
  expect(new Set(answers).size).toBe(1)
})

it('says that no thread starts', async () => {
  const pool = makePool({ module: new URL('./missing.ts', import.meta.url) })
  await expect(pool.run({ answer: 'good' })).rejects.toMatchObject({ reason: 'unavailable' })
})

it('a task that exceeds its deadline is ended with its thread, and the next one gets a new thread', async () => {
  const pool = makePool({ deadlineMs: 200 })
  const late = pool.run({ computeForever: true })
  const next = pool.run({ answer: 'good' })
  await expect(late).rejects.toMatchObject({ reason: 'deadline' })
  expect(await next).toEqual(answer)
})

it('a task that exceeds its memory limit ends its thread alone', async () => {
  const pool = makePool()
  await expect(pool.run({ fillMemory: true })).rejects.toMatchObject({ reason: 'failed' })
  expect(await pool.run({ answer: 'good' })).toEqual(answer)
})

it('the number of waiting tasks is limited', async () => {
  const pool = makePool()
  const taken = Array.from({ length: 3 }, () => pool.run({ answer: 'good' }))
  await expect(pool.run({ answer: 'good' })).rejects.toMatchObject({ reason: 'busy' })
  expect(await Promise.all(taken)).toEqual([answer, answer, answer])
  expect(await pool.run({ answer: 'good' })).toEqual(answer)
})

it('a closed pool refuses running, waiting and later tasks', async () => {
  const pool = makePool()
  await pool.run({ answer: 'good' })
  const ends = [pool.run({ computeForever: true }), pool.run({ answer: 'good' })].map((run) => run.catch((error: unknown) => error))
  await pool.close()
  expect(await Promise.all(ends)).toEqual([expect.objectContaining({ reason: 'busy' }), expect.objectContaining({ reason: 'busy' })])
  await expect(pool.run({ answer: 'good' })).rejects.toMatchObject({ reason: 'busy' })
})
