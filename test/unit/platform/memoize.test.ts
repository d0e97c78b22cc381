import { expect, it } from '@jest/globals'
import { memoize } from '../../../src/platform/memoize.ts'

it('computes a value once for all callers, and again after a failure', async () => {
  let tries = 0
  const thing = memoize(async () => {
    tries += 1
    if (tries === 1) throw new Error('not now')
    return { tries }
  })
  expect(await thing.made()).toBeUndefined()
  const first = [thing.get(), thing.get()]
  expect(await thing.made()).toBeUndefined()
  expect(await Promise.allSettled(first)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  expect(tries).toBe(1)
  const [one, other] = await Promise.all([thing.get(), thing.get()])
  expect(one).toBe(other)
  expect(await thing.made()).toEqual({ tries: 2 })
})
