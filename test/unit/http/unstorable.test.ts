import { describe, expect, it } from '@jest/globals'
import { unstorableIssues } from '../../../src/http/plugins/unstorable.ts'

describe('text that cannot be stored', () => {
  it.each([
    ['U+0000', 'a\0b'],
    ['half of a pair, the first', 'a\ud83d'],
    ['half of a pair, the second', '\ude00b'],
  ])('with %s is reported with its location', (_what, text) => {
    expect(unstorableIssues({ name: 'good', tags: ['good', text] })).toMatchObject([{ path: ['tags', 1], input: text }])
  })

  it('is only searched to the depth of schemas, and anything deeper is an issue', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}"a"${']'.repeat(5000)}`)
    expect(unstorableIssues({ tags: deep })).toMatchObject([{ message: 'Should not be nested so deeply' }])
  })

  it.each([['plain'], ['emoji 😀'], ['\u202eturned'], [new Date()], [null], [7], [Buffer.from([0])]])('is not %p', (value) => {
    expect(unstorableIssues({ value })).toEqual([])
  })
})
