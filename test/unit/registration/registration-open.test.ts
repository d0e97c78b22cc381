// Whether registration is open, and for which addresses.

import { describe, expect, it } from '@jest/globals'
import { closedBy, isNetworkAllowed } from '../../../src/actors/registration/index.ts'
import { testConfig } from '../../support/config.ts'

describe('registration', () => {
  it.each([
    [{ enabled: false, limit: -1 }, 0, false],
    [{ enabled: true, limit: -1 }, 1_000_000, true],
    [{ enabled: true, limit: 10 }, 9, true],
    [{ enabled: true, limit: 10 }, 10, false],
    [{ enabled: true, limit: 0 }, 0, false],
  ])('with %j and %i users is open: %s', (signup, users, open) => {
    expect(closedBy(testConfig({ signup: { ...signup, requires_approval: false } }), users, 'direct') === undefined).toBe(open)
  })

  it.each([
    [[], [], '203.0.113.5', true],
    [['203.0.113.0/24'], [], '203.0.113.5', true],
    [['203.0.113.0/24'], [], '::ffff:203.0.113.5', true],
    [['203.0.113.0/24'], [], '198.51.100.1', false],
    [['203.0.113.0/24'], [], '2001:db8::1', false],
    [['203.0.113.0/24', '2001:db8::/32'], [], '2001:db8::1', true],
    [[], ['203.0.113.0/24'], '203.0.113.5', false],
    [['203.0.113.0/24'], ['203.0.113.5'], '203.0.113.5', false],
    [['203.0.113.0/24'], ['203.0.113.5'], '203.0.113.6', true],
    [['no subnet'], [], '203.0.113.5', false],
    [[], ['no subnet'], '203.0.113.5', true],
    [['203.0.113.0/24'], [], 'no address', false],
  ])('of subnets %j but not %j, %s may: %s', (whitelist, blacklist, ip, may) => {
    expect(isNetworkAllowed(ip, { whitelist, blacklist })).toBe(may)
  })
})
