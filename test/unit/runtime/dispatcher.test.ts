import { describe, expect, it } from '@jest/globals'
import { makeDispatcher } from '../../../src/actors/runtime/dispatcher.ts'

const gate = () => Promise.withResolvers<void>()

describe('the lane dispatcher', () => {
  it('drains each lane once at a time, and again when it was hinted meanwhile', async () => {
    const first = gate()
    let works = 0
    let atOnce = 0
    let most = 0
    const dispatcher = makeDispatcher({
      concurrency: () => 4,
      patience: () => ({ ms: 1000, atMost: 0 }),
      async work() {
        works += 1
        atOnce += 1
        most = Math.max(most, atOnce)
        if (works === 1) await first.promise
        atOnce -= 1
      },
    })
    const running = dispatcher.run('a')
    await dispatcher.run('a')
    await dispatcher.run('a')
    expect(works).toBe(1)
    first.resolve()
    await running
    expect({ works, most }).toEqual({ works: 2, most: 1 })
  })

  it('reuses the slots of blocked lanes, up to a limit, and takes them back', async () => {
    const silent = gate()
    const worked: string[] = []
    const dispatcher = makeDispatcher({
      concurrency: () => 1,
      patience: () => ({ ms: 1, atMost: 1 }),
      async work(key, { patiently }) {
        if (key.startsWith('silent')) await patiently(() => silent.promise)
        worked.push(key)
      },
    })
    const first = dispatcher.run('silent')
    await dispatcher.run('healthy')
    expect(worked).toEqual(['healthy'])
    silent.resolve()
    await first
    expect(worked).toEqual(['healthy', 'silent'])
  })

  it('drops waiting lanes when it stops', async () => {
    const dispatcher = makeDispatcher({
      concurrency: () => 0,
      patience: () => ({ ms: 1, atMost: 1 }),
      work: async () => undefined,
    })
    const waiting = dispatcher.run('a')
    dispatcher.stop()
    await expect(waiting).resolves.toBeUndefined()
    await expect(dispatcher.run('b')).resolves.toBeUndefined()
  })
})
