// Loads of a cache: what is shared, what is kept, and what callers get whose entry went meanwhile.

import { expect, it } from '@jest/globals'
import { makeLru } from '../../../src/platform/lru.ts'

function stage(max = 10) {
  const loads: { key: string; settle: PromiseWithResolvers<string> }[] = []
  const cache = makeLru<string, string>(max, {
    fetchMethod(key) {
      const settle = Promise.withResolvers<string>()
      loads.push({ key, settle })
      return settle.promise
    },
  })
  return { cache, loads }
}

it('loads a value once for all callers, and keeps it', async () => {
  const { cache, loads } = stage()
  const answers = [cache.forceFetch('a'), cache.forceFetch('a')]
  loads[0]?.settle.resolve('one')
  expect(await Promise.all(answers)).toEqual(['one', 'one'])
  expect(await cache.forceFetch('a')).toBe('one')
  expect(loads).toHaveLength(1)
})

it('passes a failure to all callers, and loads again', async () => {
  const { cache, loads } = stage()
  const answers = [cache.forceFetch('a'), cache.forceFetch('a')]
  loads[0]?.settle.reject(new Error('away'))
  for (const { status } of await Promise.allSettled(answers)) expect(status).toBe('rejected')
  const again = cache.forceFetch('a')
  loads[1]?.settle.resolve('two')
  expect(await again).toBe('two')
})

it.each([
  ['deleted', (cache: ReturnType<typeof stage>['cache']) => cache.delete('a')],
  ['cleared', (cache: ReturnType<typeof stage>['cache']) => cache.clear()],
])('answers callers whose entry is %s meanwhile, but stores nothing older than that', async (_how, invalidate) => {
  const { cache, loads } = stage()
  const before = cache.forceFetch('a')
  invalidate(cache)
  const after = cache.forceFetch('a')
  expect(loads).toHaveLength(2)
  loads[1]?.settle.resolve('new')
  expect(await after).toBe('new')
  loads[0]?.settle.resolve('old')
  expect(await before).toBe('old')
  expect(cache.get('a')).toBe('new')
})

it('answers callers whose entry is evicted by others', async () => {
  const { cache, loads } = stage(2)
  const answers = ['a', 'b', 'c'].map((key) => cache.forceFetch(key))
  for (const { key, settle } of loads) settle.resolve(key)
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'])
  expect(cache.get('a')).toBeUndefined()
  expect(cache.size).toBe(2)
})
