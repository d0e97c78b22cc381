import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { describeConfig } from '../../../src/config/index.ts'
import { keys } from '../../../src/config/tree.ts'

describe('the configuration reference', () => {
  it('matches the schema (run npm run docs to update it)', () => {
    const file = new URL('../../../docs/configuration.md', import.meta.url)
    expect(readFileSync(file, 'utf8')).toBe(describeConfig())
  })

  it('names every key once', () => {
    const rows = describeConfig()
      .split('\n')
      .flatMap((line) => /^\| `([a-z][\w.-]*)` \|/.exec(line)?.[1] ?? [])
    expect(rows.toSorted()).toEqual(keys.map((key) => key.path).toSorted())
  })

  it('has no empty descriptions', () => {
    expect(keys.filter((key) => key.info.doc === '' || key.info.expects === '')).toEqual([])
  })
})
