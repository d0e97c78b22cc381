// Lists of accounts, one per line.

import { describe, expect, it } from '@jest/globals'
import { readAccountList } from '../../../src/actors/blocklist/index.ts'

const normal = (text: string) => (/^\S+@\S+$/.test(text) ? text.toLowerCase() : undefined)

describe('a list of accounts', () => {
  it('has a handle per line, without duplicates, with comments and empty lines between', () => {
    const text = '\uFEFF# our list\r\nBad@one.example\n\n  bad@ONE.example \rworse@two.example'
    expect(readAccountList(text, { ownHandle: 'me@here.example', normal })).toEqual({
      handles: ['bad@one.example', 'worse@two.example'],
      bad: [],
    })
  })

  it('reports the line of an error, and leaves out the own account', () => {
    const text = `bad@one.example\n${'x'.repeat(100)}\n# fine\nME@here.example`
    expect(readAccountList(text, { ownHandle: 'me@here.example', normal })).toEqual({
      handles: ['bad@one.example'],
      bad: [
        { line: 2, problem: `"${'x'.repeat(80)}" is not the handle of an account.` },
        { line: 4, problem: 'You cannot block yourself.' },
      ],
    })
  })
})
