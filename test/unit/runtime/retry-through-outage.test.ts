// What is noted of ended work while the database is restarted.

import { expect, it } from '@jest/globals'
import { retryThroughOutage } from '../../../src/actors/runtime/retry-through-outage.ts'
import { reportOutage } from '../../../src/platform/database/errors.ts'

/** Fails as often as said, then answers how often it was called. */
function failing(times: number, fail: () => never): () => Promise<number> {
  let calls = 0
  return async () => {
    calls += 1
    if (calls <= times) fail()
    return calls
  }
}

const restarted = (): never => reportOutage(Object.assign(new Error('the database system is starting up'), { code: '57P03' }))

it('is repeated until the database is back', async () => {
  expect(await retryThroughOutage(failing(2, restarted))).toBe(3)
})

it('is not repeated when the database refused it', async () => {
  const refuse = (): never => {
    throw new Error('duplicate key value')
  }
  await expect(retryThroughOutage(failing(1, refuse))).rejects.toThrow('duplicate key value')
})
