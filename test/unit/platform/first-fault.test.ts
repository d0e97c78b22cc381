// Validation of untrusted input: the same results as Zod, in little time and memory.

import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { fits, parseEarly } from '../../../src/platform/first-fault.ts'

interface Tree {
  name: string
  children: Tree[]
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }))
const schema = z.object({
  total: z.int().max(10),
  data: z.array(z.object({ name: z.string().nullable(), tags: z.array(z.string()).max(2).optional(), more: z.unknown() })),
  labels: z.record(z.string().max(3), z.number()).refine((labels) => Object.keys(labels).length < 3),
  either: z.union([z.string(), z.array(z.number())]),
  tree,
})
const good = {
  total: 1,
  data: [
    { name: 'a', tags: ['b'], more: { c: 1 } },
    { name: null, more: null },
  ],
  labels: { a: 1 },
  either: [1],
  tree: { name: 'x', children: [{ name: 'y', children: [] }] },
  unknown: true,
}

describe('a value', () => {
  it('is valid if Zod accepts it', () => {
    expect(schema.safeParse(good).success).toBe(true)
    expect(fits(schema, good)).toBe(true)
    const { unknown: _unknown, ...known } = good
    expect(parseEarly(schema, good)).toEqual(known)
  })

  it.each([
    ['a wrong field', { total: 11 }],
    ['a missing field', { tree: undefined }],
    ['a wrong item', { data: [{ name: 1, more: 1 }] }],
    ['no list', { data: {} }],
    ['a list that is too long', { data: [{ name: 'a', tags: ['b', 'c', 'd'], more: 1 }] }],
    ['a wrong key', { labels: { long: 1 } }],
    ['too many keys', { labels: { a: 1, b: 2, c: 3 } }],
    ['none of several forms', { either: ['a'] }],
    ['a wrong leaf', { tree: { name: 'x', children: [{ name: 1, children: [] }] } }],
  ])('is invalid with %s', (_what, wrong) => {
    expect(schema.safeParse({ ...good, ...wrong }).success).toBe(false)
    expect(fits(schema, { ...good, ...wrong })).toBe(false)
    expect(() => parseEarly(schema, { ...good, ...wrong })).toThrow('another form')
  })

  it('is checked up to the first error, and no list beyond its maximum', () => {
    let looks = 0
    const counting = z.string().refine(() => {
      looks += 1
      return false
    })
    expect(fits(z.array(counting), Array(300_000).fill('a'))).toBe(false)
    expect(looks).toBe(1)
    expect(fits(z.array(counting).max(100), Array(300_000).fill('a'))).toBe(false)
    expect(looks).toBe(1)
  })
})
