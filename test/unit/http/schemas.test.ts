import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import * as s from '../../../src/http/plugins/schemas.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { testConfig } from '../../support/config.ts'

const UUID = '9c9de5e8-0a1e-484a-b099-e80766180a6d'
const read = <T extends z.ZodType>(schema: T, value: unknown): z.output<T> | 'refused' => {
  const result = schema.safeParse(value)
  return result.success ? result.data : 'refused'
}

describe('an id or UUID', () => {
  const id = s.idOrUuid('video')
  it.each([
    ['42', { id: 42 }],
    [UUID, { uuid: UUID }],
    [UUID.toUpperCase(), { uuid: UUID }],
    [toShortUuid(UUID), { uuid: UUID }],
    ['', 'refused'],
    ['-1', 'refused'],
    ['99999999999', 'refused'],
    ['2147483648', 'refused'],
    ['x', 'refused'],
    [`${UUID}x`, 'refused'],
    ['%E0%A4%A', 'refused'],
    ['1e3', 'refused'],
  ])('%s is %j', (text, expected) => {
    expect(read(id, text)).toEqual(expected)
  })

  it('has an error that names valid forms', () => {
    expect(id.safeParse('x').error?.issues[0]?.message).toBe('Should have a valid video id (id, short UUID or UUID)')
  })
})

describe('paging', () => {
  const page = z.object(s.paging(testConfig()))
  it('has the configured sizes', () => {
    expect(page.parse({})).toEqual({ start: 0, count: 15 })
    const small = z.object(s.paging(testConfig({ vireo: { pagination: { default_count: 3, max_count: 5 } } })))
    expect(small.parse({})).toEqual({ start: 0, count: 3 })
    expect(read(small, { count: '6' })).toBe('refused')
  })
  it.each([
    ['0', 0],
    ['100', 100],
    ['101', 'refused'],
    ['-5', 'refused'],
    ['1.5', 'refused'],
    ['', 'refused'],
    [' 1', 'refused'],
    ['0x10', 'refused'],
    [['1', '2'], 'refused'],
  ])('count %j is %j', (count, expected) => {
    const got = read(page, { count })
    expect(got === 'refused' ? got : got.count).toEqual(expected)
  })
})

it('a list is sorted by one of its fields, ascending or descending', () => {
  const sort = s.sorting(['name', 'createdAt'], '-createdAt')
  expect(sort.parse(undefined)).toEqual({ by: 'createdAt', descending: true })
  expect(sort.parse('name')).toEqual({ by: 'name', descending: false })
  for (const bad of ['x', '', 'name desc', '--name', ['name']]) expect(read(sort, bad)).toBe('refused')
})

it('booleans in queries are strings', () => {
  expect(['true', 'false', '1', '0', 'yes', '', true].map((text) => read(s.booleanText, text))).toEqual([
    true,
    false,
    true,
    false,
    'refused',
    'refused',
    'refused',
  ])
  expect(['both', 'true', 'x'].map((text) => read(s.booleanOrBoth, text))).toEqual(['both', true, 'refused'])
})

it('one value or several are a list', () => {
  const ids = s.oneOrMore(s.integerText(), { max: 3 })
  expect(ids.parse('1')).toEqual([1])
  expect(ids.parse(['1', '2'])).toEqual([1, 2])
  expect(read(ids, ['1', '2', '3', '4'])).toBe('refused')
  expect(read(ids, 'x')).toBe('refused')
  expect(z.object({ ids: ids.optional() }).parse({})).toEqual({})
})

it('timestamps are ISO 8601, in UTC by default', () => {
  const times = ['2026-01-02', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05+02:00', '2026-01-02T03:04:05.123']
  expect(times.map((text) => s.moment.parse(text).toISOString())).toEqual([
    '2026-01-02T00:00:00.000Z',
    '2026-01-02T03:04:05.000Z',
    '2026-01-02T01:04:05.000Z',
    '2026-01-02T03:04:05.123Z',
  ])
  for (const bad of ['toto', '2026-13-01', '2026-02-30', '', '5']) expect(read(s.moment, bad)).toBe('refused')
})
