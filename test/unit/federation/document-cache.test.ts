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

describe('the cache of serialised documents', () => {
  it('builds a document once', async () => {
    const { get, fills } = makeCache()
    expect(await get('/a')).toBe(await get('/a'))
    expect(fills()).toBe(1)
  })

  it('shares one build between simultaneous requests', async () => {
    const { get, fills } = makeCache()
    const answers = await Promise.all([get('/a'), get('/a'), get('/a')])
    expect(new Set(answers).size).toBe(1)
    expect(fills()).toBe(1)
  })

  it('builds everything again after it was cleared, also what was being built', async () => {
    const { cache, get, fills } = makeCache()
    await get('/a')
    const making = get('/b')
    cache.clear()
    await making
    await Promise.all([get('/a'), get('/b')])
    expect(fills()).toBe(4)
  })

  it('builds a document again when it expires', async () => {
    const { get, fills, pass } = makeCache()
    await get('/a')
    pass(4999)
    await get('/a')
    expect(fills()).toBe(1)
    pass(1)
    await get('/a')
    expect(fills()).toBe(2)
  })

  it('invalidates a changed document, its pages and its sub-documents, and nothing else', async () => {
    const { get, fills, tell } = makeCache()
    for (const key of ['/v/1', '/v/1/likes', '/v/1/likes?page=1', '/v/12']) await get(key)
    tell({ url: `${ORIGIN}/v/1` })
    await get('/v/12')
    expect(fills()).toBe(4)
    for (const key of ['/v/1', '/v/1/likes', '/v/1/likes?page=1']) await get(key)
    expect(fills()).toBe(7)
  })

  it('invalidates a document for every form of its URL, with its outboxes and rates', async () => {
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

  it('ignores changes on other servers, and invalid messages', async () => {
    const { get, fills, tell } = makeCache()
    await get('/v/1')
    const payloads: JsonValue[] = [{ url: 'https://other.example/v/1' }, { url: 7 }, {}, null, [], 'x']
    for (const payload of payloads) tell(payload)
    await get('/v/1')
    expect(fills()).toBe(1)
  })

  it('does not store a document that changed while it was built', async () => {
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

  it('stores no failure', async () => {
    const { cache } = makeCache()
    await expect(cache.get('/v/1', 5000, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect((await cache.get('/v/1', 5000, async () => answerOf('back'))).body.toString()).toBe('back')
  })

  it('has a size limit', async () => {
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
