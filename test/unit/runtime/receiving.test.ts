// Simultaneous parts from a runner: a few are received, others wait, and those of a lost lease are refused.

import { beforeEach, expect, it } from '@jest/globals'
import { makeReceiving, type Receiving } from '../../../src/actors/runner/receiving.ts'
import { DomainError } from '../../../src/actors/runtime/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'

let isLeased: boolean
let receiving: Receiving
const part = { jobId: 1, tokenHash: Buffer.from('a'), id: undefined }

beforeEach(() => {
  isLeased = true
  receiving = makeReceiving({
    db: { query: async <T>() => [{ state: 'processing', tokenHash: part.tokenHash, receives: null }] as T[] },
    logger: silentLogger,
    refusal: () => (isLeased ? undefined : new DomainError('not_found', 'It is lost.')),
  })
})

it('have four slots per job', async () => {
  const begun: { end(): void }[] = []
  const requested = Array.from({ length: 6 }, () => receiving.begin(part).then((turn) => void begun.push(turn)))
  await Promise.all(requested.slice(0, 4))
  const other = await receiving.begin({ ...part, jobId: 2 })
  other.end()
  expect(begun).toHaveLength(4)
  begun[0]?.end()
  await requested[4]
  expect(begun).toHaveLength(5)
  begun[1]?.end()
  await requested[5]
  for (const turn of begun.slice(2)) turn.end()
})

it('are refused after their wait if the lease is lost meanwhile, and the next one gets the slot', async () => {
  const turns = await Promise.all(Array.from({ length: 4 }, () => receiving.begin(part)))
  const waiting = [receiving.begin(part), receiving.begin(part)]
  isLeased = false
  turns[0]?.end()
  for (const one of waiting) await expect(one).rejects.toThrow('It is lost.')
  isLeased = true
  const again = await receiving.begin(part)
  for (const turn of [again, ...turns.slice(1)]) turn.end()
})

it('are refused if a hundred are waiting', async () => {
  const turns = await Promise.all(Array.from({ length: 4 }, () => receiving.begin(part)))
  const waiting = Array.from({ length: 100 }, () => receiving.begin(part))
  await expect(receiving.begin(part)).rejects.toThrow('Too many parts of this result are sent at once.')
  for (const turn of turns) turn.end()
  for (const one of waiting) (await one).end()
})
