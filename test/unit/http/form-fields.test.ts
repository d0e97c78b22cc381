import { describe, expect, it } from '@jest/globals'
import { foldFields, parseQuery } from '../../../src/http/plugins/form-fields.ts'

describe('a query string', () => {
  it.each([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a', { a: '' }],
    ['a=1&a=2', { a: ['1', '2'] }],
    ['a[]=1', { a: ['1'] }],
    ['a%5B%5D=1&a%5B%5D=2', { a: ['1', '2'] }],
    ['a[0]=x&a[1]=y', { a: ['x', 'y'] }],
    ['a=0&a[]=1', { a: ['0', '1'] }],
    ['s[privacy]=1&s[updateAt]=x', { s: { privacy: '1', updateAt: 'x' } }],
    ['p[list][]=1&p[list][]=2', { p: { list: ['1', '2'] } }],
    ['sp=a+b%20c', { sp: 'a b c' }],
    ['bad=%E0%A4%A', { bad: '\ufffd%A' }],
    ['a]b=1', { 'a]b': '1' }],
    ['[a]=1', { '[a]': '1' }],
    ['a[b=1', { 'a[b': '1' }],
  ])('%s is read as %j', (text, fields) => {
    expect(parseQuery(text)).toEqual(fields)
  })

  it.each(['__proto__=1', '__proto__[x]=1', 'a[__proto__][x]=1', 'constructor[prototype][x]=1', 'a[constructor]=1'])(
    '%s does not reach a prototype',
    (text) => {
      const fields = parseQuery(text)
      expect(Object.getPrototypeOf(fields)).toBe(Object.prototype)
      expect(Reflect.get({}, 'x')).toBeUndefined()
      expect(JSON.stringify(fields)).not.toContain('1')
    },
  )

  it('with too much nesting keeps its name', () => {
    expect(parseQuery('a[b][c][d][e][f]=1')).toEqual({ 'a[b][c][d][e][f]': '1' })
  })

  it('with an index of a billion is a list of one item', () => {
    expect(parseQuery('a[999999999]=1')).toEqual({ a: ['1'] })
  })
})

it.each([
  ['t[0][n]=a&t[0][o][s]=1&t[1][n]=b', [{ n: 'a', o: { s: '1' } }, { n: 'b' }]],
  ['t[1][n]=b&t[0][n]=a&t[1][o][s]=1', [{ n: 'a' }, { n: 'b', o: { s: '1' } }]],
  ['t[7][n]=b&t[3][n]=a&t[7][m]=c', [{ n: 'a' }, { n: 'b', m: 'c' }]],
])('items of a list keep their fields and their order, in any notation: %s', (text, t) => {
  expect(parseQuery(text)).toEqual({ t })
})

it('a repeated field of a form is a list', () => {
  const entries = [
    ['tags', 'a'],
    ['tags', 'b'],
    ['name', 'n'],
  ] as const
  expect(foldFields(entries)).toEqual({ tags: ['a', 'b'], name: 'n' })
})
