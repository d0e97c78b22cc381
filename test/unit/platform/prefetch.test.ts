// A value that is computed before it is requested.

import { expect, it } from '@jest/globals'
import { prefetch } from '../../../src/platform/prefetch.ts'

const EVERY_MS = 5
const WANTED_MS = 100

function stage(make: (turn: number) => number | Promise<number>) {
  let time = 0
  let made = 0
  let round: (() => void) | undefined
  const ahead = prefetch({
    make: async () => {
      made += 1
      return await make(made)
    },
    everyMs: EVERY_MS,
    wantedMs: WANTED_MS,
    now: () => time,
    repeat(run) {
      round = run
      return () => {
        round = undefined
      }
    },
  })
  return {
    ahead,
    made: () => made,
    isRepeated: () => round !== undefined,
    async pass(ms: number) {
      time += ms
      round?.()
      // The round's work is done.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

it('is computed on the first request, and again before the next ones', async () => {
  const { ahead, pass, made } = stage((turn) => turn)
  expect(made()).toBe(0)
  expect(await ahead.get()).toBe(1)
  await pass(EVERY_MS)
  await pass(EVERY_MS)
  expect(made()).toBe(3)
  expect(await ahead.get()).toBe(3)
  expect(made()).toBe(3)
})

it('is no longer computed after a while without requests, and again on the next one', async () => {
  const { ahead, pass, made, isRepeated } = stage((turn) => turn)
  await ahead.get()
  await pass(WANTED_MS)
  expect([made(), isRepeated()]).toEqual([1, false])
  expect(await ahead.get()).toBe(2)
  expect(isRepeated()).toBe(true)
})

it('is computed once for simultaneous requests', async () => {
  const late = Promise.withResolvers<number>()
  const { ahead, made } = stage(() => late.promise)
  const answers = [ahead.get(), ahead.get()]
  late.resolve(7)
  expect(await Promise.all(answers)).toEqual([7, 7])
  expect(made()).toBe(1)
})

it('is unchanged for two rounds when it fails, then reports the error', async () => {
  const { ahead, pass, made } = stage((turn) => (turn === 1 ? 1 : Promise.reject(new Error('not now'))))
  await ahead.get()
  await pass(EVERY_MS)
  expect(made()).toBe(2)
  expect(await ahead.get()).toBe(1)
  await pass(EVERY_MS)
  await expect(ahead.get()).rejects.toThrow('not now')
})

it('can be stopped', async () => {
  const { ahead, pass, made } = stage((turn) => turn)
  await ahead.get()
  ahead.stop()
  await pass(EVERY_MS)
  expect(made()).toBe(1)
})
