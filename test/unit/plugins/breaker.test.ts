// The circuit breaker of a plugin's process.

import { describe, expect, it } from '@jest/globals'
import { makeBreaker } from '../../../src/actors/plugin/host/breaker.ts'

describe('the breaker', () => {
  it('doubles the delay after each exit, and opens at the fifth within ten minutes', () => {
    const breaker = makeBreaker()
    const waits = [0, 1, 2, 3, 4].map((at) => breaker.ended(at))
    expect(waits).toEqual([500, 1001, 2002, 4003, undefined])
  })

  it('forgets older exits', () => {
    const breaker = makeBreaker()
    for (let at = 0; at < 4; at += 1) breaker.ended(at)
    expect(breaker.ended(600_010)).toBe(600_510)
  })

  it('opens at the tenth failure within a minute', () => {
    const breaker = makeBreaker()
    expect(Array.from({ length: 10 }, (_, at) => breaker.failed(at))).toEqual([...Array(9).fill(false), true])
    const slow = makeBreaker()
    expect(Array.from({ length: 20 }, (_, at) => slow.failed(at * 10_000)).some(Boolean)).toBe(false)
  })
})
