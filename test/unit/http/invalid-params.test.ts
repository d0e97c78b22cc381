import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { invalidParamsOf } from '../../../src/http/plugins/invalid-params.ts'
import { problemBody } from '../../../src/http/plugins/problem.ts'
import { coercedInteger, integerText, oneOrMore } from '../../../src/http/plugins/schemas.ts'
import { AT_MOST_MS, startCpuTime } from '../../support/cpu-time.ts'

const names = (schema: z.ZodType, data: unknown) => invalidParamsOf(schema, 'body', data).map(({ name }) => name)

describe('a body of half a megabyte', () => {
  const LONG = 230_000
  // Twice the size of the longest list of a route.
  const ROOMY = 2_000
  const shapes: [string, z.ZodType, unknown][] = [
    ['bad items beyond the maximum', z.object({ tags: z.array(z.string()).max(5) }), Array(LONG).fill(1)],
    ['bad items of a list that has room for them', z.object({ tags: z.array(z.string()).max(ROOMY) }), Array(ROOMY).fill(1)],
    ['bad items in a query', z.object({ tags: oneOrMore(z.string(), { max: ROOMY }) }), Array(ROOMY).fill(1)],
    ['missing objects', z.object({ tags: z.array(z.object({ id: z.int() })).max(5) }), Array(LONG).fill({})],
    ['texts that cannot be stored', z.object({ tags: z.array(z.unknown()).max(LONG) }), Array(LONG).fill('\0')],
  ]
  it.each(shapes)('is refused quickly: %s', (_shape, schema, tags) => {
    const elapsed = startCpuTime()
    const refused = invalidParamsOf(schema, 'body', { tags })
    const took = elapsed()
    expect(refused).toMatchObject([{ name: 'tags', value: tags }])
    expect(took).toBeLessThan(10 * AT_MOST_MS)
  })

  it('with deep nesting is refused without an echo', () => {
    const nested: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
    const [refused] = invalidParamsOf(z.object({ name: z.string() }), 'body', { name: nested })
    const problem = problemBody({ status: 400, detail: '', invalidParams: refused ? [refused] : [] })
    expect(problem).toMatchObject({ 'invalid-params': { name: { path: 'name' } } })
    expect(JSON.stringify(problem).length).toBeLessThan(1000)
  })
})

describe('invalid fields', () => {
  const video = z.object({
    name: z.string().min(3),
    channelId: z.int(),
    video: z.object({ startAt: z.int(), endAt: z.int() }).optional(),
    tags: z.array(z.string().min(2)).max(5).optional(),
  })

  it('are all listed, in the order of the schema', () => {
    expect(names(video, { channelId: 'x', name: 'a', video: { startAt: 1 }, tags: ['a', 'b'] })).toEqual([
      'name',
      'channelId',
      'video.endAt',
      'tags',
    ])
  })

  it('are listed when nothing was sent', () => {
    for (const nothing of [undefined, null, [], 'text', 5]) expect(names(video, nothing)).toEqual(['name', 'channelId'])
  })

  it('have their value, location and reason', () => {
    expect(invalidParamsOf(z.object({ count: z.string().regex(/^\d+$/, 'a count') }), 'querystring', { count: '-1' })).toEqual([
      { name: 'count', location: 'query', msg: 'a count', value: '-1' },
    ])
  })

  it('of headers are in the header', () => {
    expect(invalidParamsOf(z.object({ 'x-length': z.string() }), 'headers', {})).toMatchObject([{ name: 'x-length', location: 'header' }])
  })

  it('of a missing object are its required members', () => {
    const config = z.object({
      instance: z.object({ name: z.string(), css: z.object({ text: z.string() }) }),
      user: z.object({ quota: z.int() }),
      note: z.object({ text: z.string().optional() }),
    })
    expect(names(config, {})).toEqual(['note', 'instance.name', 'instance.css.text', 'user.quota'])
    expect(names(config, { instance: { name: 'x' }, user: 5, note: {} })).toEqual(['instance.css.text', 'user'])
  })

  it('of the most likely branch of a union are listed', () => {
    const either = z.union([z.object({ hosts: z.array(z.string()) }), z.object({ a: z.string(), b: z.string() })])
    expect(names(either, {})).toEqual(['hosts'])
    expect(names(either, { a: 'x' })).toContain('hosts')
  })

  it('that a strict object does not know are listed', () => {
    expect(names(z.strictObject({ a: z.string() }), { a: 'x', b: 1, c: 2 })).toEqual(['b', 'c'])
  })

  it('that cannot be stored are listed beside the invalid ones, unless they are unknown', () => {
    const schema = z.object({ a: z.int(), b: z.string() })
    expect(names(schema, { a: 'x', b: 'nothing\0here', c: 'nor\0here' })).toEqual(['a', 'b'])
  })

  it('are the whole body if none of them is required', () => {
    const schema = z.object({ a: z.string().optional() }).nullish()
    expect(names(schema, 'a text')).toEqual(['body'])
    expect(names(schema, 5)).toEqual(['body'])
    expect(names(schema, {})).toEqual([])
  })

  it('with the name of a prototype have no effect', () => {
    expect(names(z.object({ a: z.string() }), JSON.parse('{"__proto__": {"a": "x"}}'))).toEqual(['a'])
  })
})

describe('the value of an invalid field', () => {
  const echoOf = (schema: z.ZodType, value: unknown) => invalidParamsOf(z.object({ f: schema }), 'body', { f: value })[0]?.value

  it('is the string for a string that is not converted', () => {
    expect(echoOf(integerText({ max: 100 }), 'x')).toBe('x')
  })

  it('is the number for a converted string', () => {
    expect(echoOf(coercedInteger({ max: 40 }), '42')).toBe(42)
    expect(echoOf(coercedInteger(), 'abc')).toBeNull()
  })

  it('is the whole list for an item of it, also for a single item', () => {
    expect(echoOf(z.array(z.string().min(2)), ['ab', 'c'])).toEqual(['ab', 'c'])
    expect(echoOf(oneOrMore(integerText()), 'hello')).toEqual(['hello'])
    expect(echoOf(oneOrMore(coercedInteger()), 'toto')).toEqual([null])
  })
})
