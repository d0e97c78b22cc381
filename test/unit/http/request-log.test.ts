import { expect, it } from '@jest/globals'
import { isFresh } from '../../../src/http/plugins/conditional.ts'
import { makeRequestIds } from '../../../src/http/plugins/request-id.ts'
import { anonymizeIp } from '../../../src/http/plugins/request-log.ts'
import { redactSecrets } from '../../../src/platform/redact.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

it.each([
  ['/feeds/subscriptions.xml?token=abc&accountId=1', '/feeds/subscriptions.xml?token=[hidden]&accountId=1'],
  ['/static/x.mp4?videoFileToken=abc', '/static/x.mp4?videoFileToken=[hidden]'],
  ['/x?a=1&access_token=abc&b=2', '/x?a=1&access_token=[hidden]&b=2'],
  ['/x?ACCESS_TOKEN=abc', '/x?ACCESS_TOKEN=[hidden]'],
  ['/upload?upload_id=abc', '/upload?upload_id=[hidden]'],
  ['/download/user-exports/x.zip?jwt=abc', '/download/user-exports/x.zip?jwt=[hidden]'],
  ['/reset-password?userId=1&verificationString=abc', '/reset-password?userId=1&verificationString=[hidden]'],
  [
    '/socket.io/?EIO=4&transport=polling&t=x&sid=abc&accessToken=abc',
    '/socket.io/?EIO=4&transport=polling&t=x&sid=[hidden]&accessToken=[hidden]',
  ],
  ['/mail-preferences/unsubscribe/5/newFollow/0123abcd', '/mail-preferences/unsubscribe/5/newFollow/[hidden]'],
  ['/x?token=a&token=b', '/x?token=[hidden]&token=[hidden]'],
  ['/api/v1/videos?search=cats', '/api/v1/videos?search=cats'],
  ['/api/v1/videos', '/api/v1/videos'],
])('%s is logged as %s', (url, logged) => {
  expect(redactSecrets(url)).toBe(logged)
})

it.each([
  ['GET http://s3.example/a?X-Amz-Signature=abc&x=1 failed', 'GET http://s3.example/a?X-Amz-Signature=[hidden]&x=1 failed'],
  ['{"url":"/x?token=abc","next":"?a=1"}', '{"url":"/x?token=[hidden]","next":"?a=1"}'],
  ['https://x.example/#access_token=abc', 'https://x.example/#access_token=[hidden]'],
  ['https://me:word@x.example/a?v=1#t', 'https://[hidden]@x.example/a?v=1#t'],
  ['redis://:word@[bad/0', 'redis://[hidden]@[bad/0'],
  ['https://x.example/@maria', 'https://x.example/@maria'],
  ['https://x.example/a?keyword=cats&key=abc', 'https://x.example/a?keyword=cats&key=[hidden]'],
  ['authorization: Bearer 0123456789abcdef01', 'authorization: Bearer [hidden]'],
  ['Bearer authentication is needed', 'Bearer authentication is needed'],
  ['answered 401 to Bearer abcdef', 'answered 401 to Bearer [hidden]'],
  ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [hidden]'],
  ['Basic authentication, and basic knitting', 'Basic authentication, and basic knitting'],
  ['https://t.example/announce?passkey=0123&n=1', 'https://t.example/announce?passkey=[hidden]&n=1'],
  ['https://s.example/?access_key=0123&session_id=4&keyword=x', 'https://s.example/?access_key=[hidden]&session_id=[hidden]&keyword=x'],
])('in a line, %s becomes %s', (line, logged) => {
  expect(redactSecrets(line)).toBe(logged)
})

it.each(['?token', '?', '&tokentoken', 'Bearer ', '?token=', '://', '://a', '/unsubscribe/1/'])(
  'a URL of repeated %s takes linear time',
  (part) => {
    const spent = startCpuTime()
    redactSecrets(`/${part.repeat(16_384 / part.length)}`)
    expect(spent()).toBeLessThan(1000)
  },
)

it.each([
  ['192.0.2.55', '192.0.2.0'],
  ['::ffff:192.0.2.55', '192.0.2.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['2001:db8::1', '2001:db8::'],
  ['::1', '::'],
])('the address %s is logged as %s', (ip, logged) => {
  expect(anonymizeIp(ip)).toBe(logged)
})

it.each([
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", "abc"', true],
  ['*', true],
  ['"ab"', false],
  ['abc', false],
  [undefined, false],
])('If-None-Match %s matches "abc": %s', (header, fresh) => {
  expect(isFresh(header, '"abc"')).toBe(fresh)
})

it('a given request id is kept when it is harmless, and replaced otherwise', () => {
  const idOf = makeRequestIds(() => 'new')
  const given = (id: string) => idOf(Object.assign(Object.create(null), { headers: { 'x-request-id': id } }))
  expect(given('abc-123:4_5.6')).toBe('abc-123:4_5.6')
  for (const bad of ['', 'a b', 'a\nlevel=50', '"', '{}', 'x'.repeat(129), 'é']) expect(given(bad)).toBe('new')
})
