// The contract of the queue, the same on both back ends.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { silentLogger } from '../../../src/platform/logger.ts'
import { openBackEnd } from '../../../src/platform/queue/back-end.ts'
import { type Hint, makeQueue, type Queue } from '../../../src/platform/queue/index.ts'
import { backEnds, type TestBackEnd } from '../../support/back-ends.ts'
import { slowness } from '../../support/cpu-time.ts'
import { eventually, latch } from '../../support/until.ts'

describe.each(backEnds)('the queue on $kind', ({ open }) => {
  let backEnd: TestBackEnd
  let queue: Queue
  const others: Queue[] = []

  const another = async (): Promise<Queue> => {
    const made = await makeQueue({ backend: backEnd.queue, prefix: backEnd.prefix, logger: silentLogger })
    others.push(made)
    return made
  }

  beforeEach(async () => {
    backEnd = await open()
    queue = await makeQueue({ backend: backEnd.queue, prefix: backEnd.prefix, logger: silentLogger })
  })

  afterEach(async () => {
    await Promise.all([queue, ...others.splice(0)].map((each) => each.close()))
    await backEnd.drop()
  })

  /** A worker that records its hints. */
  const record = async (on: Queue = queue): Promise<Hint[]> => {
    const got: Hint[] = []
    await on.work('inbox', { concurrency: 4 }, async (hint) => {
      got.push(hint)
    })
    return got
  }

  const hintAll = async (hints: Hint[]): Promise<void> => {
    for (const hint of hints) await queue.hint('inbox', hint)
  }

  it('passes a hint to the handler with its name, id and data', async () => {
    const got = await record()
    await queue.hint('inbox', { name: 'lane', id: 'a:1', data: { lane: 'https://host/actor', version: 3 } })
    await eventually(() => expect(got).toEqual([{ name: 'lane', id: 'a:1', data: { lane: 'https://host/actor', version: 3 } }]))
  })

  it('keeps hints that are added before their worker starts', async () => {
    await hintAll([1, 2, 3].map((n) => ({ name: 'n', id: `n${n}`, data: { n } })))
    expect(await queue.counts('inbox')).toEqual({ waiting: 3, active: 0 })
    const got = await record()
    await eventually(() => expect(got.map(({ data }) => data.n).sort()).toEqual([1, 2, 3]))
  })

  it('leaves nothing behind when hints are done', async () => {
    const got = await record()
    await queue.hint('inbox', { name: 'n', id: 'n', data: {} })
    await eventually(async () => {
      expect(got).toHaveLength(1)
      expect(await queue.counts('inbox')).toEqual({ waiting: 0, active: 0 })
    })
  })

  it('merges waiting hints with the same id', async () => {
    await queue.hint('inbox', { name: 'n', id: 'same', data: { n: 1 } })
    await queue.hint('inbox', { name: 'n', id: 'same', data: { n: 2 } })
    await hintAll([
      { name: 'n', id: 'same', data: { n: 3 } },
      { name: 'n', id: 'other', data: { n: 4 } },
      { name: 'n', id: 'other', data: { n: 5 } },
    ])
    expect((await queue.counts('inbox')).waiting).toBe(2)
    const got = await record()
    await eventually(() => expect(got.map(({ data }) => data.n).sort()).toEqual([1, 4]))
  })

  it('runs a hint again that is added while a handler of the same id runs', async () => {
    const begun = latch()
    const release = latch()
    let runs = 0
    await queue.work('inbox', { concurrency: 2 }, async () => {
      runs += 1
      if (runs > 1) return
      begun.open()
      await release.opened
    })
    await queue.hint('inbox', { name: 'n', id: 'lane', data: {} })
    await begun.opened
    await queue.hint('inbox', { name: 'n', id: 'lane', data: {} })
    await eventually(() => expect(runs).toBe(2))
    release.open()
  })

  it('does not retry a handler that threw, and continues with the next hint', async () => {
    const got: string[] = []
    await queue.work('inbox', { concurrency: 1 }, async ({ id }) => {
      got.push(id)
      throw new Error('no')
    })
    await queue.hint('inbox', { name: 'n', id: 'one', data: {} })
    await queue.hint('inbox', { name: 'n', id: 'two', data: {} })
    await eventually(async () => {
      expect(got).toEqual(['one', 'two'])
      expect(await queue.counts('inbox')).toEqual({ waiting: 0, active: 0 })
    })
  })

  it('accepts hints of an id again seconds after a process died with one of them', async () => {
    const dying = await openBackEnd(backEnd.queue, backEnd.prefix, silentLogger)
    const taken = latch()
    const takeForEver = (): Promise<never> => {
      taken.open()
      return new Promise(() => {})
    }
    const consumer = await dying.consumer('inbox', takeForEver, {})
    await queue.hint('inbox', { name: 'n', id: 'lane', data: {} })
    await taken.opened
    await consumer.close(true)
    await dying.close()
    const got = await record()
    await eventually(async () => {
      await queue.hint('inbox', { name: 'n', id: 'lane', data: {} })
      expect(got).not.toEqual([])
    })
  })

  it('runs at most the configured number of hints at once, and more as soon as it is raised', async () => {
    const release = latch()
    let active = 0
    let most = 0
    const work = await queue.work('inbox', { concurrency: 2 }, async () => {
      active += 1
      most = Math.max(most, active)
      await release.opened
      active -= 1
    })
    await hintAll([1, 2, 3, 4, 5].map((n) => ({ name: 'n', id: `n${n}`, data: {} })))
    await eventually(async () => expect(await queue.counts('inbox')).toEqual({ waiting: 3, active: 2 }))
    await eventually(() => expect(active).toBe(2))
    expect(most).toBe(2)
    work.setConcurrency(4)
    await eventually(() => expect(active).toBe(4))
    release.open()
    await eventually(() => expect(active).toBe(0))
    expect(most).toBe(4)
  })

  it('gives each hint to one of several processes', async () => {
    const other = await another()
    const [mine, remote] = [await record(), await record(other)]
    const ids = Array.from({ length: 60 }, (_, n) => `n${n}`)
    await hintAll(ids.map((id) => ({ name: 'n', id, data: {} })))
    await eventually(() => expect([...mine, ...remote].map(({ id }) => id).sort()).toEqual([...ids].sort()))
  })

  it('keeps servers with different prefixes apart', async () => {
    const foreign = await makeQueue({ backend: backEnd.queue, prefix: `${backEnd.prefix}-x`, logger: silentLogger })
    others.push(foreign)
    const got = await record(foreign)
    await queue.hint('inbox', { name: 'n', id: 'mine', data: {} })
    await foreign.hint('inbox', { name: 'n', id: 'theirs', data: {} })
    await eventually(() => expect(got.map(({ id }) => id)).toEqual(['theirs']))
    expect((await queue.counts('inbox')).waiting).toBe(1)
  })

  it('keeps working for new hints after a wipe, idle or during a hint', async () => {
    const begun = latch()
    const release = latch()
    const got: string[] = []
    await queue.work('inbox', { concurrency: 2 }, async ({ id }) => {
      got.push(id)
      if (id !== 'slow') return
      begun.open()
      await release.opened
    })
    await queue.hint('inbox', { name: 'n', id: 'slow', data: {} })
    await begun.opened
    await queue.wipe()
    expect(await queue.counts('inbox')).toEqual({ waiting: 0, active: 0 })
    await queue.hint('inbox', { name: 'n', id: 'slow-2', data: {} })
    await eventually(() => expect(got).toEqual(['slow', 'slow-2']))
    release.open()
    await queue.hint('inbox', { name: 'n', id: 'slow', data: {} })
    await queue.hint('inbox', { name: 'n', id: 'last', data: {} })
    await eventually(() => expect([...got].sort()).toEqual(['last', 'slow', 'slow', 'slow-2']))
    await eventually(async () => expect(await queue.counts('inbox')).toEqual({ waiting: 0, active: 0 }))
  })

  it('completes running hints when a worker closes, and leaves the rest to others', async () => {
    const begun = latch()
    const release = latch()
    let finished = 0
    const work = await queue.work('inbox', { concurrency: 1 }, async () => {
      begun.open()
      await release.opened
      finished += 1
    })
    await hintAll([1, 2].map((n) => ({ name: 'n', id: `n${n}`, data: {} })))
    await begun.opened
    const closed = work.close()
    release.open()
    await closed
    expect(finished).toBe(1)
    expect(await queue.counts('inbox')).toEqual({ waiting: 1, active: 0 })
    const got = await record()
    await eventually(() => expect(got.map(({ id }) => id)).toEqual(['n2']))
  })

  it('does not wait longer than the timeout for a handler that hangs', async () => {
    const begun = latch()
    const release = latch()
    const work = await queue.work('inbox', { concurrency: 1 }, async () => {
      begun.open()
      await release.opened
    })
    await queue.hint('inbox', { name: 'n', id: 'n', data: {} })
    await begun.opened
    const start = performance.now()
    await work.close({ drainMs: 50 })
    expect(performance.now() - start).toBeLessThan(2_000 * slowness())
    release.open()
  })

  it('ignores hints after it is closed', async () => {
    await queue.close()
    await queue.hint('inbox', { name: 'n', id: 'n', data: {} })
    const other = await another()
    expect((await other.counts('inbox')).waiting).toBe(0)
    await expect(queue.close()).resolves.toBeUndefined()
  })
})
