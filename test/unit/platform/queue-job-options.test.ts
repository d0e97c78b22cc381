// How hints become jobs.

import { describe, expect, it } from '@jest/globals'
import { jobOptions, slotOptions, untilNextSlot } from '../../../src/platform/queue/job-options.ts'

describe('a hint as a job', () => {
  const gone = { attempts: 1, removeOnComplete: true, removeOnFail: true }

  it('is tried once, leaves nothing and is merged by its id', () => {
    expect(jobOptions({ id: 'a' }, 1_000)).toEqual({ ...gone, deduplication: { id: 'a', ttl: 5_000 } })
    expect(jobOptions({ id: 'a', priority: 0, delayMs: 0 }, 1_000)).toEqual({
      ...gone,
      deduplication: { id: 'a', ttl: 5_000 },
    })
  })

  it('keeps its priority', () => {
    expect(jobOptions({ id: 'a', priority: 7 }, 1_000)).toEqual({
      ...gone,
      priority: 7,
      deduplication: { id: 'a', ttl: 5_000 },
    })
  })

  it('is merged with those due in the same tenth of a second when it is delayed, and never comes early', () => {
    const first = jobOptions({ id: 'a', delayMs: 200 }, 1_010)
    expect(first).toEqual({ ...gone, timestamp: 1_010, delay: 290, deduplication: { id: 'a@1300' } })
    expect(jobOptions({ id: 'a', delayMs: 250 }, 1_050).deduplication).toEqual(first.deduplication)
    expect(jobOptions({ id: 'a', delayMs: 251 }, 1_050).deduplication).toEqual({ id: 'a@1400' })
  })
})

describe('a repeated hint', () => {
  it('has the same key for all who ask in one interval, and another one in the next', () => {
    expect(slotOptions('sweep', 1_000, 5_000).deduplication).toEqual({ id: 'every sweep 1', ttl: 2_500 })
    expect(slotOptions('sweep', 1_000, 5_999).deduplication).toEqual({ id: 'every sweep 1', ttl: 2_500 })
    expect(slotOptions('sweep', 1_000, 6_000).deduplication).toEqual({ id: 'every sweep 2', ttl: 2_500 })
  })

  it('waits for the next interval to begin', () => {
    expect(untilNextSlot(1_000, 5_001)).toBe(999)
    expect(untilNextSlot(1_000, 6_000)).toBe(1_000)
  })
})
