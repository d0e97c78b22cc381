import { expect, it } from '@jest/globals'
import { makeAllowance } from '../../../src/federation/inbound/allowance.ts'
import { fakeClock } from '../../support/clock.ts'

it('a sender is limited per minute; an IPv6 network is one sender', () => {
  const clock = fakeClock()
  const allowance = makeAllowance({ clock, perMinute: () => 2 })
  const admitted = (...senders: string[]) => senders.map(allowance.admits)
  expect(admitted('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2')).toEqual([true, true, false, true])
  expect(admitted('2001:db8::1', '2001:db8:0:0:5::2', '2001:db8::3', '2001:db8:0:1::1')).toEqual([true, true, false, true])
  clock.pass(60_000)
  expect(admitted('192.0.2.1', '2001:db8::4')).toEqual([true, true])
})

it('a hundred thousand senders take as much memory as ten thousand', () => {
  const allowance = makeAllowance({ clock: fakeClock(), perMinute: () => 1 })
  expect(allowance.admits('first.example')).toBe(true)
  for (let n = 0; n < 100_000; n += 1) allowance.admits(`${n}.example`)
  // Evicted long ago.
  expect(allowance.admits('first.example')).toBe(true)
})
