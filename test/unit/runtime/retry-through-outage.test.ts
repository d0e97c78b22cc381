// Recording the result of work while the database restarts.

import { expect, it } from '@jest/globals'
import { retryThroughOutage } from '../../../src/actors/runtime/retry-through-outage.ts'
import { reportOutage } from '../../../src/platform/database/errors.ts'

/** Fails this many times, then returns the number of calls. */
function failing(times: number, fail: () => never): () => Promise<number> {
  let calls = 0
  return async () => {
    calls += 1
    if (calls <= times) fail()
    return calls
  }
}

const restarted = (): never => reportOutage(Object.assign(new Error('the database system is starting up'), { code: '57P03' }))

it('is retried until the database is back', async () => {
  expect(await retryThroughOutage(failing(2, restarted))).toBe(3)
})

it('is not retried after an error of the statement', async () => {
  const refuse = (): never => {
    throw new Error('duplicate key value')
  }
  await expect(retryThroughOutage(failing(1, refuse))).rejects.toThrow('duplicate key value')
})
