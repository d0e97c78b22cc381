// Which clients take which format of a feed, and texts as XML takes them.

import { describe, expect, it } from '@jest/globals'
import { accepts, type FeedFormat } from '../../../src/http/feeds/formats.ts'
import { attribute, eitherWay, element, legal } from '../../../src/http/feeds/xml.ts'

describe('the Accept header', () => {
  it.each<[FeedFormat, string | undefined, boolean]>([
    ['xml', undefined, true],
    ['xml', '', true],
    ['xml', '*/*', true],
    ['xml', 'text/*;q=0.1', true],
    ['xml', 'application/rss+xml', false],
    ['rss2', 'application/rss+xml', true],
    ['atom1', 'APPLICATION/ATOM+XML', true],
    ['json', 'application/json; charset=utf-8', true],
    ['json', 'application/json;q=0', false],
    ['json', 'application/json;q=0, */*', false],
    ['json', 'text/html, */*;q=0', false],
    ['json1', 'image/png', false],
  ])('of %s %j: %s', (format, accept, isTaken) => expect(accepts(accept, format)).toBe(isTaken))
})

describe('texts in XML', () => {
  it('have no characters that XML does not have', () => {
    expect(legal('a\0\u0008\u001b\t\n\ufffe\ud83d b \u{1f426}')).toBe('a\t\n\ufffd b \u{1f426}')
  })

  it('are escaped for the writer, which escapes the rest', () => {
    expect(element('a & b &amp; <c>')).toBe('a &amp; b &amp;amp; <c>')
    expect(attribute('a & <b>\n"c"')).toBe('a &amp; &lt;b> "c"')
  })

  it('stay as they are in a title unless they look like HTML', () => {
    expect(eitherWay('Tom & Jerry, 1 < 2 > 0')).toBe('Tom & Jerry, 1 < 2 > 0')
    expect(eitherWay('<b>& "x"')).toBe('&lt;b&gt;&amp; &quot;x&quot;')
    expect(eitherWay('&lt;')).toBe('&amp;lt;')
    expect(eitherWay('a ]]> b')).toBe('a ]]&gt; b')
  })
})
