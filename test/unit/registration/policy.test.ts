// Registration by network.

import { expect, it } from '@jest/globals'
import { isNetworkAllowed } from '../../../src/actors/registration/index.ts'

const allowed = (ip: string, whitelist: string[], blacklist: string[] = []) => isNetworkAllowed(ip, { whitelist, blacklist })

it('without lists everybody may register', () => {
  expect(allowed('203.0.113.5', [])).toBe(true)
  expect(allowed('2001:db8::1', [])).toBe(true)
})

it('a deny list blocks its networks, in every notation of their addresses', () => {
  const blacklist = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7']
  for (const ip of ['203.0.113.5', '::ffff:203.0.113.5', '2001:db8:1::9', '198.51.100.7']) {
    expect([ip, allowed(ip, [], blacklist)]).toEqual([ip, false])
  }
  expect(allowed('198.51.100.8', [], blacklist)).toBe(true)
})

it('an allow list admits nobody else, and the deny list takes precedence', () => {
  expect(allowed('10.1.2.3', ['10.0.0.0/8'])).toBe(true)
  expect(allowed('::ffff:10.1.2.3', ['10.0.0.0/8'])).toBe(true)
  expect(allowed('192.0.2.1', ['10.0.0.0/8'])).toBe(false)
  expect(allowed('10.1.2.3', ['10.1.2.3'])).toBe(true)
  expect(allowed('10.1.2.4', ['10.1.2.3'])).toBe(false)
  expect(allowed('10.1.2.3', ['10.0.0.0/8'], ['10.1.0.0/16'])).toBe(false)
  expect(allowed('10.2.2.3', ['10.0.0.0/8'], ['10.1.0.0/16'])).toBe(true)
})

it('an invalid entry or address admits nobody', () => {
  expect(allowed('10.1.2.3', ['10.0.0.0/99', 'everybody'])).toBe(false)
  expect(allowed('somebody', ['10.0.0.0/8'])).toBe(false)
  expect(allowed('somebody', [], ['10.0.0.0/8'])).toBe(false)
})
