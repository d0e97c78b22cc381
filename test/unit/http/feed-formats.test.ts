// Content negotiation of feeds, and texts in XML.

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
  it('contain no characters that XML forbids', () => {
    expect(legal('a\0\u0008\u001b\t\n\ufffe\ud83d b \u{1f426}')).toBe('a\t\n\ufffd b \u{1f426}')
  })

  it('are escaped for the writer, which escapes the rest', () => {
    expect(element('a & b &amp; <c>')).toBe('a &amp; b &amp;amp; <c>')
    expect(attribute('a & <b>\n"c"')).toBe('a &amp; &lt;b> "c"')
  })

  it('are the same for readers of text and of HTML', () => {
    for (const text of ['Tom & Jerry, 1 < 2 > 0', 'AT&T', 'a ]]> b']) expect(eitherWay(text)).toBe(text)
    expect(eitherWay('<b>& "x"</b>')).toBe('<\u200bb>& "x"<\u200b/b>')
    expect(eitherWay('&copy 2020 &ltb&gt')).toBe('&\u200bcopy 2020 &\u200bltb&\u200bgt')
    expect(eitherWay('<\u0001b>')).toBe('<\u200bb>')
    expect(eitherWay('&lt; &#60;<!-- <?x')).toBe('&\u200blt; &\u200b#60;<\u200b!-- <\u200b?x')
  })
})
