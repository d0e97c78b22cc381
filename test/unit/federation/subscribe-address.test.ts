import { describe, expect, it } from '@jest/globals'
import { makeSubscribeAddress } from '../../../src/federation/fetch/subscribe-address.ts'
import { testConfig } from '../../support/config.ts'

const CHANNEL = 'https://here.example/video-channels/birds?a=b&c'

function addressWith(
  subscribeTemplate: string | null,
  more: { actor?: string; readAt?: string; allowHttp?: boolean } = {},
): Promise<string> {
  const { actor = 'https://their.example/users/me', readAt = 'https://their.example/.well-known/webfinger' } = more
  const config = testConfig({ vireo: { federation: { allow_http: more.allowHttp ?? false } } })
  const subject = 'acct:me@their.example'
  const discovery = { webFingerOf: async () => ({ subject, actor, subscribeTemplate, readAt }) }
  return makeSubscribeAddress({ config: () => config, discovery })('me@their.example', CHANNEL)
}

const FILLED = 'https://their.example/interact?uri=https%3A%2F%2Fhere.example%2Fvideo-channels%2Fbirds%3Fa%3Db%26c'

describe("the subscribe URL of a visitor's server", () => {
  it('is the template of that server with the URL filled in', async () => {
    expect(await addressWith('https://their.example/interact?uri={uri}')).toBe(FILLED)
  })

  it('may be on the host of a WebFinger redirect, or of the actor', async () => {
    const template = 'https://social.example/i?u={uri}'
    expect(await addressWith(template, { actor: 'https://social.example/users/me' })).toContain('https://social.example/')
    expect(await addressWith(template, { readAt: 'https://social.example/.well-known/webfinger' })).toContain('https://social.example/')
  })

  it.each([
    null,
    '',
    'javascript:alert(1)//{uri}',
    ' javascript:alert({uri})',
    'data:text/html,{uri}',
    'their.example/{uri}',
    '//their.example/{uri}',
    'https://their.example/',
    'https://{uri}/',
    'https://their.example{uri}/',
    'https://their.example@evil.example/{uri}',
    'https://me:secret@their.example/{uri}',
    'https://evil.example/?uri={uri}',
    'https://sub.their.example/?uri={uri}',
    'https://their.example:8443/?uri={uri}',
    'http://their.example/?uri={uri}',
    'ftp://their.example/{uri}',
  ])('does not exist for %j', async (template) => {
    await expect(addressWith(template)).rejects.toMatchObject({ kind: 'unprocessable' })
  })

  it('may be plain http where it is allowed', async () => {
    expect(await addressWith('http://their.example/?uri={uri}', { allowHttp: true })).toMatch(/^http:/)
  })
})
