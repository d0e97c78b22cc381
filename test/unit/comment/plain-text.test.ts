import { describe, expect, it } from '@jest/globals'
import { toPlainText } from '../../../src/actors/comment/index.ts'
import { AT_MOST_MS, startCpuTime } from '../../support/cpu-time.ts'

describe('the text of a remote comment', () => {
  it.each([
    ['as long as ours may be, of characters of two units each', 10_000, 10_000],
    ['longer than that', 10_001, 10_000],
  ])('%s, is truncated to the limit of local comments', (_what, sent, kept) => {
    expect(toPlainText('😀'.repeat(sent), 'text/markdown', 10_000)).toBe('😀'.repeat(kept))
  })

  it('is not truncated within a character', () => {
    expect(toPlainText(`a${'😀'.repeat(4)}`, 'text/markdown', 3)).toBe('a😀😀')
  })
})

describe('endless markup', () => {
  it.each([
    ['nested tags', '<a><b>'.repeat(20_000)],
    ['links', '<a href="https://peer.example/">z</a>'.repeat(4_000)],
    ['openings', '<'.repeat(100_000)],
    ['ends of paragraphs', '</p >'.repeat(20_000)],
    ['entities', '&amp;'.repeat(20_000)],
    ['attributes', `<a ${'x="1" '.repeat(16_000)}>`],
    ['an open tag of white space', `</p${' '.repeat(100_000)}`],
    ['comments', '<!--'.repeat(25_000)],
  ])('of %s is cheap', (_what, html) => {
    const costs = Array.from({ length: 4 }, () => {
      const spent = startCpuTime()
      toPlainText(html, 'text/html', 10_000)
      return spent()
    })
    expect(Math.min(...costs)).toBeLessThan(AT_MOST_MS)
  })

  it('counts as text, without what looks like tags', () => {
    const html = `<p>${'<b>bold</b> &amp; '.repeat(800)}</p>`
    expect(toPlainText(html, 'text/html', 10_000)).toBe('bold & '.repeat(800).trim())
  })
})
