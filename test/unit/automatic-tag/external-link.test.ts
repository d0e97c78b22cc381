import { expect, it } from '@jest/globals'
import { hasExternalLink } from '../../../src/actors/automatic-tag/external-link.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

const OURS = 'video.example:9000'

it.each([
  'see https://example.com/',
  'HTTP://EXAMPLE.COM',
  'www.example.com/x',
  '[here](https://example.com/a(b))',
  '<a href="https://example.com">video.example</a>',
  '<a href="//example.com/x">x</a>',
  'https://video.example:9000@example.com/',
  'https://video.example/ is on another port',
  'ours https://video.example:9000/ and theirs https://127.0.0.1/',
  'http://localhost/',
  'https://bücher.example',
  'see example.com for more',
  '(bücher.de)',
  'shop.example.co.uk/path?x=1',
  'at video.example.org.',
])('%s is an external link', (text) => {
  expect(hasExternalLink(text, OURS)).toBe(true)
})

it.each([
  '',
  'no link at all',
  'https://video.example:9000/w/abc',
  'HTTPS://VIDEO.EXAMPLE:9000',
  'and//or, // as in code',
  'https:// is how they begin',
  'www. too',
  'awww.cute',
  'name@example.com',
  '@name@example.com',
  'name@mail.example.com, other@example.org',
  'the end. It goes on, e.g. so',
  'version 1.2.3 of main.js and a.b',
  'https://video.example:9000/example.com',
])('%s is not', (text) => {
  expect(hasExternalLink(text, OURS)).toBe(false)
})

it('scans a long text quickly', () => {
  for (const part of ['https://', '//a.', 'www.', ' //', '//a b.', `https://${OURS}/ `, 'a.', 'a.com', 'a-', ' a.co']) {
    const cost = startCpuTime()
    hasExternalLink(part.repeat(20_000 / part.length), OURS)
    expect(cost()).toBeLessThan(200)
  }
})

it('recognises its own host with and without the default port', () => {
  expect(hasExternalLink('https://video.example:443/ https://video.example', 'video.example')).toBe(false)
})
