import { describe, expect, it } from '@jest/globals'
import { prefersActivityPub } from '../../../src/http/activitypub/accept.ts'

describe('the choice between ActivityPub and HTML', () => {
  it.each([
    'application/activity+json',
    'application/ld+json',
    'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
    'application/activity+json, application/ld+json',
    'APPLICATION/Activity+JSON',
    'application/activity+json;q=0.9, */*;q=0.1',
    '*/*, application/activity+json',
    'application/activity+json, text/html',
    'text/html;q=0.5, application/ld+json',
    'application/activity+json, application/ld+json;profile="https://www.w3.org/ns/activitystreams", text/html;q=0.1',
  ])('is ActivityPub for %s', (accept) => {
    expect(prefersActivityPub(accept)).toBe(true)
  })

  it.each([
    undefined,
    '',
    '*/*',
    'text/html',
    'application/json',
    'application/*',
    'application/problem+json',
    'text/html, application/activity+json',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/activity+json;q=0',
    'application/activity+json;q=0.4, text/html;q=0.5',
    'application/activity+json;q=high, text/html',
    'application/activity+jsonp',
    `text/html, ${'x'.repeat(3000)}, application/activity+json`,
  ])('is HTML for %s', (accept) => {
    expect(prefersActivityPub(accept)).toBe(false)
  })
})
