import { describe, expect, it } from '@jest/globals'
import { type CachedAnswer, type DocumentCache, makeDocumentCache } from '../../../src/federation/cache.ts'
import type { JsonValue } from '../../../src/platform/bus/index.ts'

const ORIGIN = 'https://video.example'
const answerOf = (text: string): CachedAnswer => ({ status: 200, headers: {}, body: Buffer.from(text) })

function makeCache() {
  let now = 0
  let listener: (payload: JsonValue) => void = () => {}
  let subscribed = false
  const cache: DocumentCache = makeDocumentCache({
    origin: ORIGIN,
    clock: { now: () => new Date(now) },
    bus: {
      subscribe(_topic, given) {
        listener = given
        subscribed = true
        return () => {
          subscribed = false
        }
      },
    },
  })
  let fills = 0
  return {
    cache,
    fills: () => fills,
    isSubscribed: () => subscribed,
    pass: (ms: number) => {
      now += ms
    },
    tell: (payload: JsonValue) => listener(payload),
    get: (key: string) =>
      cache.get(key, 5000, async () => {
        fills += 1
        return answerOf(`${key} ${fills}`)
      }),
  }
}

describe('the cache of serialised answers', () => {
  it('makes an answer once', async () => {
    const { get, fills } = makeCache()
    expect(await get('/a')).toBe(await get('/a'))
    expect(fills()).toBe(1)
  })

  it('lets requests at the same time wait for one fill', async () => {
    const { get, fills } = makeCache()
    const answers = await Promise.all([get('/a'), get('/a'), get('/a')])
    expect(new Set(answers).size).toBe(1)
    expect(fills()).toBe(1)
  })

  it('makes everything anew once it was cleared, also what was being made meanwhile', async () => {
    const { cache, get, fills } = makeCache()
    await get('/a')
    const making = get('/b')
    cache.clear()
    await making
    await Promise.all([get('/a'), get('/b')])
    expect(fills()).toBe(4)
  })

  it('makes it anew when its time is over', async () => {
    const { get, fills, pass } = makeCache()
    await get('/a')
    pass(4999)
    await get('/a')
    expect(fills()).toBe(1)
    pass(1)
    await get('/a')
    expect(fills()).toBe(2)
  })

  it('forgets a changed document, its pages and what is below it, and nothing else', async () => {
    const { get, fills, tell } = makeCache()
    for (const key of ['/v/1', '/v/1/likes', '/v/1/likes?page=1', '/v/12']) await get(key)
    tell({ url: `${ORIGIN}/v/1` })
    await get('/v/12')
    expect(fills()).toBe(4)
    for (const key of ['/v/1', '/v/1/likes', '/v/1/likes?page=1']) await get(key)
    expect(fills()).toBe(7)
  })

  it('forgets a document however its address is written, with what outboxes and rates say of a video', async () => {
    const { get, fills, tell } = makeCache()
    const meant = ['/v/AB', '/v/aB/likes', '/accounts/a/outbox', '/c/b/outbox?page=2', '/accounts/a/dislikes/7']
    const others = ['/accounts/a', '/accounts/a/likes/77', '/accounts/outboxes']
    for (const key of [...meant, ...others]) await get(key)
    tell({ url: `${ORIGIN}/v/ab`, video: 7 })
    for (const key of others) await get(key)
    expect(fills()).toBe(8)
    for (const key of meant) await get(key)
    expect(fills()).toBe(13)
    await get('/nodeinfo/2.0')
    tell({ all: true })
    await get('/accounts/a')
    await get('/nodeinfo/2.0')
    expect(fills()).toBe(15)
  })

  it('does not care for changes of other servers, nor for messages that it cannot read', async () => {
    const { get, fills, tell } = makeCache()
    await get('/v/1')
    const payloads: JsonValue[] = [{ url: 'https://other.example/v/1' }, { url: 7 }, {}, null, [], 'x']
    for (const payload of payloads) tell(payload)
    await get('/v/1')
    expect(fills()).toBe(1)
  })

  it('does not keep what was being made while it changed', async () => {
    const { cache, tell } = makeCache()
    let finish: (answer: CachedAnswer) => void = () => {}
    const first = cache.get(
      '/v/1',
      5000,
      () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    )
    tell({ url: `${ORIGIN}/v/1` })
    const second = cache.get('/v/1', 5000, async () => answerOf('new'))
    finish(answerOf('old'))
    expect((await first).body.toString()).toBe('old')
    expect((await second).body.toString()).toBe('new')
    expect((await cache.get('/v/1', 5000, async () => answerOf('newest'))).body.toString()).toBe('new')
  })

  it('keeps no failure', async () => {
    const { cache } = makeCache()
    await expect(cache.get('/v/1', 5000, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect((await cache.get('/v/1', 5000, async () => answerOf('back'))).body.toString()).toBe('back')
  })

  it('bounds what it holds', async () => {
    const { cache } = makeCache()
    let fills = 0
    const big = async () => {
      fills += 1
      return { status: 200, headers: {}, body: Buffer.alloc(1024 * 1024) }
    }
    for (let index = 0; index < 40; index += 1) await cache.get(`/v/${index}`, 5000, big)
    await cache.get('/v/0', 5000, big)
    expect(fills).toBe(41)
  })

  it('ends its subscription', () => {
    const { cache, isSubscribed } = makeCache()
    expect(isSubscribed()).toBe(true)
    cache.close()
    expect(isSubscribed()).toBe(false)
  })
})
