// What is kept for a moment, and what is not stored because something changed meanwhile.

import { expect, it } from '@jest/globals'
import { makeTtlCache } from '../../../src/platform/ttl-cache.ts'

const TTL = 1000

function stage(max = 10, sizeOf?: (value: string) => number) {
  let time = 5_000
  let loads = 0
  const cache = makeTtlCache<string, string>({
    clock: { now: () => new Date(time) },
    max,
    ...(sizeOf && { sizeOf }),
    endsAt: (value) => (value === 'brief' ? 5_001 : undefined),
  })
  return {
    cache,
    loads: () => loads,
    pass: (ms: number) => {
      time += ms
    },
    get: (key: string, value: string | Promise<string>) =>
      cache.get(key, TTL, async () => {
        loads += 1
        return await value
      }),
  }
}

it('loads a value once for all callers, and again when it has expired', async () => {
  const { cache, get, loads, pass } = stage()
  const late = Promise.withResolvers<string>()
  const answers = [get('a', late.promise), get('a', 'unused')]
  expect(loads()).toBe(1)
  // The lifetime counts from the start of the load.
  pass(TTL - 1)
  late.resolve('one')
  expect(await Promise.all(answers)).toEqual(['one', 'one'])
  expect([cache.find('a'), cache.endOf('a')]).toEqual(['one', 5_000 + TTL])
  pass(1)
  expect(cache.find('a')).toBeUndefined()
  expect(await get('a', 'two')).toBe('two')
})

it('ends earlier with the value', async () => {
  const { cache, get, pass } = stage()
  await get('a', 'brief')
  expect(cache.endOf('a')).toBe(5_001)
  pass(1)
  expect(cache.find('a')).toBeUndefined()
})

it('does not keep a failure', async () => {
  const { get, loads } = stage()
  await expect(get('a', Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await get('a', 'one')).toBe('one')
  expect(loads()).toBe(2)
})

it('does not store what began before its key was dropped, nor lets later callers wait for it', async () => {
  const { cache, get, loads } = stage()
  const old = Promise.withResolvers<string>()
  const other = Promise.withResolvers<string>()
  const answers = [get('a', old.promise), get('b', other.promise)]
  const seen: [string, string | undefined][] = []
  cache.drop((key, value) => {
    seen.push([key, value])
    return key === 'a'
  })
  expect(seen).toEqual([
    ['a', undefined],
    ['b', undefined],
  ])
  expect(await get('a', 'new')).toBe('new')
  old.resolve('old')
  other.resolve('other')
  expect(await Promise.all(answers)).toEqual(['old', 'other'])
  expect([cache.find('a'), cache.find('b'), loads()]).toEqual(['new', 'other', 3])
})

it('does not store values of a read that began before anything was dropped', () => {
  const { cache } = stage()
  const before = cache.reading(TTL)
  cache.drop(() => false)
  before('a', 'old')
  expect(cache.find('a')).toBeUndefined()
  const after = cache.reading(TTL)
  after('a', 'new')
  after('b', 'other')
  expect([cache.find('a'), cache.find('b')]).toEqual(['new', 'other'])
  cache.drop((_key, value) => value === 'new')
  expect([cache.find('a'), cache.find('b')]).toEqual([undefined, 'other'])
  cache.clear()
  expect(cache.find('b')).toBeUndefined()
})

it('keeps the most recently used values up to its limit', async () => {
  const { cache, get } = stage(10, (value) => value.length)
  for (const key of ['a', 'b']) await get(key, '12345')
  expect(cache.find('a')).toBe('12345')
  await get('c', '123')
  expect([cache.find('a'), cache.find('b'), cache.find('c')]).toEqual(['12345', undefined, '123'])
  expect(await get('d', 'longer than all')).toBe('longer than all')
  expect([cache.find('d'), cache.find('a')]).toEqual([undefined, '12345'])
})
