import { describe, expect, it } from '@jest/globals'
import { outcomeOf, outcomeOfError, readRetryAfter } from '../../../src/federation/delivery/answers.ts'
import { FetchError } from '../../../src/platform/fetch/index.ts'

const now = new Date('2026-11-20T12:00:00Z')

describe('the response of an inbox', () => {
  it.each([
    [200, 'sent'],
    [202, 'sent'],
    [204, 'sent'],
    [301, 'unsupported'],
    [400, 'unsupported'],
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [404, 'not-found'],
    [408, 'busy'],
    [410, 'gone'],
    [413, 'unsupported'],
    [425, 'busy'],
    [429, 'busy'],
    [500, 'failed'],
    [503, 'failed'],
  ])('%i means %s', (status, answer) => {
    expect(outcomeOf({ status, headers: {} }, now).answer).toBe(answer)
  })

  it('may have a Retry-After, in seconds or as a date', () => {
    expect(outcomeOf({ status: 429, headers: { 'retry-after': '120' } }, now).retryAfter).toBe(120_000)
    expect(outcomeOf({ status: 503, headers: { 'retry-after': 'Fri, 20 Nov 2026 12:05:00 GMT' } }, now).retryAfter).toBe(300_000)
  })

  it.each([
    ['soon', undefined],
    ['-5', undefined],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ])('with the invalid value "%s" has the pause %s', (value, expected) => {
    const read = readRetryAfter(value, now)
    if (value === '-5') expect(read === undefined || read === 0).toBe(true)
    else expect(read).toBe(expected)
  })
})

describe('a failed request', () => {
  it.each(['dns', 'refused', 'reset', 'tls', 'timeout', 'protocol'] as const)('because of %s is retried', (reason) => {
    expect(outcomeOfError(new FetchError(reason, 'https://b.example/inbox')).answer).toBe('failed')
  })

  it.each(['refused-address', 'refused-url'] as const)('because of %s is not retried', (reason) => {
    expect(outcomeOfError(new FetchError(reason, 'https://b.example/inbox')).answer).toBe('unsupported')
  })
})
