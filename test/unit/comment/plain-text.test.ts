import { describe, expect, it } from '@jest/globals'
import { toPlainText } from '../../../src/actors/comment/index.ts'

describe('the text of a comment of another server', () => {
  it.each([
    ['as long as ours may be, of characters of two units each', 10_000, 10_000],
    ['longer than that', 10_001, 10_000],
  ])('%s, is kept up to the bound that holds for ours', (_what, sent, kept) => {
    expect(toPlainText('😀'.repeat(sent), 'text/markdown', 10_000)).toBe('😀'.repeat(kept))
  })

  it('loses no part of a character where it ends', () => {
    expect(toPlainText(`a${'😀'.repeat(4)}`, 'text/markdown', 3)).toBe('a😀😀')
  })
})
