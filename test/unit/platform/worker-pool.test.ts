import { afterEach, expect, it } from '@jest/globals'
import { makeWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../../src/platform/worker-pool.ts'
import type { PoolTask } from '../../support/pool-thread.ts'

const pools: WorkerPool<PoolTask, string>[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

function makePool(options: Partial<WorkerPoolOptions> = {}): WorkerPool<PoolTask, string> {
  const module = new URL('../../support/pool-thread.ts', import.meta.url)
  const pool = makeWorkerPool<PoolTask, string>({
    module,
    threads: 1,
    deadlineMs: 30_000,
    maxWaiting: 2,
    maxHeapMiB: 64,
    ...options,
  })
  pools.push(pool)
  return pool
}

const answer = `good by ${process.pid}`

it('answers tasks, the failed ones too, with the same thread', async () => {
  const pool = makePool()
  expect(await pool.run({ answer: 'good' })).toBe(answer)
  await expect(pool.run({ fail: 'no luck' })).rejects.toMatchObject({ reason: 'failed', cause: 'Error: no luck' })
  expect(await pool.run({ answer: 'good' })).toBe(answer)
})

it('a task that exceeds its deadline is ended with its thread, and the next one gets a new thread', async () => {
  const pool = makePool({ deadlineMs: 200 })
  const late = pool.run({ computeForever: true })
  const next = pool.run({ answer: 'good' })
  await expect(late).rejects.toMatchObject({ reason: 'deadline' })
  expect(await next).toBe(answer)
})

it('a task that needs too much memory ends its thread alone', async () => {
  const pool = makePool()
  await expect(pool.run({ fillMemory: true })).rejects.toMatchObject({ reason: 'failed' })
  expect(await pool.run({ answer: 'good' })).toBe(answer)
})

it('no more tasks wait than may', async () => {
  const pool = makePool()
  const taken = Array.from({ length: 3 }, () => pool.run({ answer: 'good' }))
  await expect(pool.run({ answer: 'good' })).rejects.toMatchObject({ reason: 'busy' })
  expect(await Promise.all(taken)).toEqual([answer, answer, answer])
  expect(await pool.run({ answer: 'good' })).toBe(answer)
})

it('an end refuses what runs and what waits, and what comes later', async () => {
  const pool = makePool()
  await pool.warmUp()
  const ends = [pool.run({ computeForever: true }), pool.run({ answer: 'good' })].map((run) => run.catch((error: unknown) => error))
  await pool.close()
  expect(await Promise.all(ends)).toEqual([expect.objectContaining({ reason: 'busy' }), expect.objectContaining({ reason: 'busy' })])
  await expect(pool.run({ answer: 'good' })).rejects.toMatchObject({ reason: 'busy' })
})
