import { expect, it } from '@jest/globals'
import { canonicalAddress, isMailAddress } from '../../../src/platform/mail-address.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

it.each([
  'ann@example.org',
  "a.b+c-d_e'f@sub.example.museum",
  'ann@bücher.example',
  'ann@xn--bcher-kva.example',
  'анна@пример.рф',
  'ann@xn--e1afmkfd.xn--p1ai',
  '用户@例子.中国',
  'jürgen@example.org',
  'jose\u0301@example.org',
  'ひらがな.2@example.org',
  '1@1.example',
])('%j is an email address', (text) => expect(isMailAddress(text)).toBe(true))

it.each([
  '',
  'ann',
  '@example.org',
  'ann@',
  'ann@localhost',
  'ann@127.0.0.1',
  'ann@example..org',
  'ann@-example.org',
  'ann@exa%41mple.org',
  'ann@example.org.',
  '.ann@example.org',
  'an..n@example.org',
  'ann.@example.org',
  'ann @example.org',
  'ann@exam ple.org',
  'ann@a@example.org',
  'ann\u200b@example.org',
  '\u3164@example.org',
  'ann@ex\u00adample.org',
  'ann\n@example.org',
  'ann@example.org\r\nBcc: x@example.org',
  '"ann"@example.org',
  '<ann@example.org>',
  `${'a'.repeat(243)}@example.org`,
])('%j is not an email address', (text) => expect(isMailAddress(text)).toBe(false))

it('is fast for long texts', () => {
  const spent = startCpuTime()
  for (const text of ['a'.repeat(254), 'a.'.repeat(127), `a@${'a-'.repeat(126)}`, `a@${'a.'.repeat(126)}`, 'x'.repeat(1e6)]) {
    isMailAddress(text)
  }
  expect(spent()).toBeLessThan(50)
})

it.each([
  ['ann@xn--bcher-kva.example', 'ann@bücher.example'],
  ['Ann@BÜCHER.example', 'Ann@bücher.example'],
  ['jose\u0301@sub.XN--bcher-kva.example', 'josé@sub.bücher.example'],
  ['Ann@Example.org', 'Ann@Example.org'],
  ['ann', 'ann'],
  ['ann@xn--.example', 'ann@xn--.example'],
])('%j is stored as %j', (text, kept) => expect(canonicalAddress(text)).toBe(kept))
