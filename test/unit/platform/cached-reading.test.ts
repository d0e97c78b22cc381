// A cached value that callers get without waiting.

import { expect, it } from '@jest/globals'
import { makeCachedReading } from '../../../src/platform/cached-reading.ts'
import { until } from '../../support/until.ts'

function stage(answers: (number | Error | Promise<number>)[]) {
  let time = 0
  let requested = 0
  const failures: unknown[] = []
  const read = makeCachedReading({
    read: async () => {
      const answer = answers[requested]
      requested += 1
      if (answer === undefined || answer instanceof Error) throw answer
      return await answer
    },
    freshMs: 5000,
    keptMs: 60_000,
    now: () => time,
    failed: (error) => failures.push(error),
  })
  return {
    read,
    failures,
    requested: () => requested,
    pass: (ms: number) => {
      time += ms
    },
  }
}

it('is refreshed when it is old, and has its age', async () => {
  const { read, pass, requested } = stage([1, 2])
  expect(await read()).toEqual({ value: 1, ageMs: 0 })
  pass(4999)
  expect(await read()).toEqual({ value: 1, ageMs: 4999 })
  pass(1)
  expect(await read()).toEqual({ value: 2, ageMs: 0 })
  expect(requested()).toBe(2)
})

it('is unchanged while a refresh fails, until it is too old', async () => {
  const { read, pass, failures } = stage([1, new Error('away'), new Error('away')])
  await read()
  pass(10_000)
  expect(await read()).toEqual({ value: 1, ageMs: 10_000 })
  pass(50_000)
  expect(await read()).toBeUndefined()
  expect(failures).toHaveLength(2)
})

it('is not awaited when its refresh hangs, nor requested twice', async () => {
  const late = Promise.withResolvers<number>()
  const { read, pass, requested } = stage([late.promise, 2])
  expect(await read()).toBeUndefined()
  pass(30_000)
  expect(await read()).toBeUndefined()
  expect(requested()).toBe(1)
  late.resolve(7)
  // Its age counts from the request.
  expect(await until(read)).toEqual({ value: 7, ageMs: 30_000 })
})
