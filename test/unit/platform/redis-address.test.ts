// The `redis:` section of the configuration as a URL.

import { describe, expect, it } from '@jest/globals'
import { redisAddress } from '../../../src/platform/redis.ts'

describe('the URL of Redis', () => {
  const sentinel = { enabled: false, enable_tls: false, master_name: '', sentinels: [{ hostname: '', port: 26_379 }] }
  const section = { hostname: '127.0.0.1', port: 6379, auth: null, db: 0, sentinel }

  it('is a URL for one server', () => {
    expect(redisAddress(section)).toEqual({ url: 'redis://127.0.0.1:6379/0' })
    expect(redisAddress({ ...section, hostname: '::1', port: 7000, db: 3 })).toEqual({ url: 'redis://[::1]:7000/3' })
  })

  it('supports any password', () => {
    const address = redisAddress({ ...section, auth: 'p@ss/w:rd %' })
    expect(address).toEqual({ url: 'redis://:p%40ss%2Fw%3Ard%20%25@127.0.0.1:6379/0' })
  })

  it('names the group if sentinels are used', () => {
    const enabled = {
      enabled: true,
      enable_tls: true,
      master_name: 'main',
      sentinels: [{ hostname: 's1', port: 26_379 }],
    }
    expect(redisAddress({ ...section, auth: 'x', db: 2, sentinel: enabled })).toEqual({
      sentinel: { masterName: 'main', sentinels: [{ host: 's1', port: 26_379 }], tls: true },
      password: 'x',
      db: 2,
    })
  })
})
