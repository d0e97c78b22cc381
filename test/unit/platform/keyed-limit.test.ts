import { expect, it } from '@jest/globals'
import { makeKeyedLimit } from '../../../src/platform/keyed-limit.ts'

it('lets so many of a key run at once, whatever others do, and forgets a key without work', async () => {
  const limit = makeKeyedLimit<string>(2)
  const ends = [Promise.withResolvers<number>(), Promise.withResolvers<number>(), Promise.withResolvers<number>()]
  const begun: number[] = []
  const results = ends.map(({ promise }, n) =>
    limit.run('a', () => {
      begun.push(n)
      return promise
    }),
  )
  expect([limit.size('a'), limit.waiting('a'), limit.size('b')]).toEqual([3, 1, 0])
  expect(await limit.run('b', async () => 'other')).toBe('other')
  expect(begun).toEqual([0, 1])
  ends[1]?.resolve(1)
  expect(await results[1]).toBe(1)
  await limit.run('b', async () => 0)
  expect(begun).toEqual([0, 1, 2])
  for (const [n, { resolve }] of ends.entries()) resolve(n)
  expect(await Promise.all(results)).toEqual([0, 1, 2])
  expect([limit.size('a'), limit.size('b')]).toEqual([0, 0])
})

it('passes on an error, and lets the next one run', async () => {
  const limit = makeKeyedLimit<number>(1)
  const failed = limit.run(1, () => Promise.reject(new Error('broken')))
  const next = limit.run(1, async () => 'done')
  await expect(failed).rejects.toThrow('broken')
  expect(await next).toBe('done')
  expect(limit.size(1)).toBe(0)
})

it('counts work that ends elsewhere until it reports its end, once', async () => {
  const limit = makeKeyedLimit<string>(1)
  const end = await limit.enter('a')
  let isSecond = false
  const second = limit.enter('a').then((endSecond) => {
    isSecond = true
    return endSecond
  })
  await limit.run('b', async () => 0)
  expect([isSecond, limit.waiting('a')]).toEqual([false, 1])
  end()
  end()
  const endSecond = await second
  expect([limit.size('a'), limit.waiting('a')]).toEqual([1, 0])
  endSecond()
  await limit.run('a', async () => 0)
  expect(limit.size('a')).toBe(0)
})
