import { describe, expect, it } from '@jest/globals'
import { limitsOf } from '../../../src/http/plugins/rate-limit-groups.ts'
import { makeMemoryLimitStore, makeRedisLimitStore } from '../../../src/platform/limit-stores.ts'

describe('counting in memory', () => {
  it('restarts after the window', () => {
    let time = 0
    const store = makeMemoryLimitStore({ now: () => time })
    expect(store.add('a', 1000)).toEqual({ current: 1, ttl: 1000 })
    time = 400
    expect(store.add('a', 1000)).toEqual({ current: 2, ttl: 600 })
    expect(store.add('b', 1000)).toEqual({ current: 1, ttl: 1000 })
    time = 1000
    expect(store.add('a', 1000)).toEqual({ current: 1, ttl: 1000 })
  })

  it('returns an attempt in the current window only', () => {
    let time = 0
    const store = makeMemoryLimitStore({ now: () => time })
    store.giveBack('a')
    expect(store.add('a', 1000)).toMatchObject({ current: 1 })
    store.giveBack('a')
    store.giveBack('a')
    expect(store.add('a', 1000)).toMatchObject({ current: 1 })
    time = 1000
    store.giveBack('a')
    expect(store.add('a', 1000)).toMatchObject({ current: 1 })
  })

  it('stores a limited number of addresses, and evicts the oldest first', () => {
    const store = makeMemoryLimitStore({ now: () => 0, mostWindows: 2 })
    for (const key of ['a', 'b', 'c']) store.add(key, 1000)
    expect(store.add('c', 1000)).toMatchObject({ current: 2 })
    expect(store.add('a', 1000)).toMatchObject({ current: 1 })
  })
})

describe('counting in Redis', () => {
  it('falls back to memory when Redis fails, and retries Redis after a while', async () => {
    let time = 0
    let requested = 0
    let answers = false
    const redis = {
      status: 'ready' as const,
      async eval() {
        requested += 1
        if (!answers) throw new Error('Command timed out')
        return [7, 500]
      },
    }
    const now = () => time
    const store = makeRedisLimitStore({ redis, prefix: 'p:', fallback: makeMemoryLimitStore({ now }), now })
    expect(await store.add('a', 1000)).toEqual({ current: 1, ttl: 1000 })
    expect(await store.add('a', 1000)).toEqual({ current: 2, ttl: 1000 })
    await store.giveBack('a')
    expect(await store.add('a', 1000)).toEqual({ current: 2, ttl: 1000 })
    expect(requested).toBe(1)
    time = 5_000
    answers = true
    expect(await store.add('a', 1000)).toEqual({ current: 7, ttl: 500 })
    expect(requested).toBe(2)
  })
})

it.each([
  ['/api/v1/videos', undefined, ['api']],
  ['/api/v1/users/token', ['login'], ['api', 'login']],
  ['/api/v1/ping', false, []],
  ['/feeds/videos.xml', undefined, ['feeds']],
  ['/nodeinfo/2.0.json', undefined, ['api']],
  ['/.well-known/webfinger', undefined, ['well_known']],
  ['/download/videos/generate/:id', undefined, ['download_generate_video']],
  ['/accounts/:name', ['activity_pub'], ['activity_pub']],
  ['/w/:id', undefined, []],
] as const)('%s with %j is limited by %j', (url, own, groups) => {
  expect(limitsOf(url, own)).toEqual(groups)
})
