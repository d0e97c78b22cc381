import { describe, expect, it } from '@jest/globals'
import { ACTIVITY_BOUNDS, parseDocument } from '../../../src/federation/wire/index.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { allRecordedActivities } from './recordings.ts'

const parse = (text: string) => parseDocument(Buffer.from(text))
const problem = (text: string | Buffer) => {
  const read = parseDocument(Buffer.from(text))
  return read.ok ? undefined : read.problem
}

it('accepts honest documents', () => {
  for (const activity of allRecordedActivities()) expect(parse(JSON.stringify(activity, null, 2))).toEqual({ ok: true, value: activity })
  expect(parse('{"a":"{\\"b\\":[1,2]}","c\\"d":"\\\\","e":{"a":1},"f":[{"a":1},{"a":2}]}').ok).toBe(true)
})

it('removes NUL characters, which the database refuses', () => {
  const read = parse('{"a\\u0000b":"c\\u0000d","e":"\\\\u0000","f":["\\u0000","\\\\\\u0000g"]}')
  expect(read).toEqual({ ok: true, value: { ab: 'cd', e: '\\u0000', f: ['', '\\g'] } })
})

describe('hostile documents are refused quickly', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  it.each([
    ['50 levels of objects', nested(50), 'too deep'],
    ['100,000 levels of arrays', `{"a":${'['.repeat(100_000)}`, 'too deep'],
    ['100,000 keys', `{${Array.from({ length: 100_000 }, (_, index) => `"${index.toString(36)}":1`).join(',')}}`, 'too many parts'],
    ['100,000 items', `{"a":[${'1,'.repeat(100_000)}1]}`, 'too many parts'],
    ['duplicate keys', '{"actor":"a","actor":"b"}', 'a duplicate key'],
    ['duplicate keys in disguise', '{"actor":"a","\\u0061ctor":"b"}', 'a duplicate key'],
    ['duplicate keys inside', '{"a":[{"b":1,"c":{},"b":2}]}', 'a duplicate key'],
    ['__proto__', '{"__proto__":{"admin":true}}', 'a forbidden key'],
    ['__proto__ in disguise', '{"a":{"\\u005f_proto__":1}}', 'a forbidden key'],
    ['constructor', '{"constructor":{"prototype":{}}}', 'a forbidden key'],
    ['5 MB', `{"a":"${'a'.repeat(5 * 1024 * 1024)}"}`, 'too large'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'not UTF-8'],
    ['half a document', '{"a":', 'not JSON'],
    ['an open string', '{"a', 'not JSON'],
    ['nothing', '', 'not JSON'],
    ['a list', '[]', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['a text', '"text"', 'not a JSON object'],
  ])('%s', (_case, text, expected) => {
    // In CPU time; far above the 50 ms of an idle machine, far below a quadratic scan.
    const spent = startCpuTime()
    const found = problem(text)
    expect(spent()).toBeLessThan(500)
    expect(found).toBe(expected)
  })
})

it('a string of backslashes takes linear time', () => {
  const texts = ['\\"', '\\\\'].map((piece) => `{"a":"${piece.repeat(200_000)}"}`)
  const spent = startCpuTime()
  const problems = texts.map(problem)
  expect(spent()).toBeLessThan(500)
  expect(problems).toEqual([undefined, undefined])
})

it('the bounds are far above what the reference sends', () => {
  const largest = Math.max(...allRecordedActivities().map((activity) => JSON.stringify(activity).length))
  expect(largest * 10).toBeLessThan(ACTIVITY_BOUNDS.maxBytes)
})
