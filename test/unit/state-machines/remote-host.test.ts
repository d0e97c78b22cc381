// The machine `remote-host`.

import { describe, expect, it } from '@jest/globals'
import { dueIn, initialRemoteHost, remoteHostMachine } from '../../../src/state-machines/remote-host.ts'
import { step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './remote-host.table.ts'

describeMachine(table)

type At = Parameters<typeof step<typeof remoteHostMachine>>[1]
const day = 86_400_000

/** The times at which a host without any response is tried, until it is given up or `until` has passed. */
function tries(until: number): { at: At; times: number[] } {
  let at: At = initialRemoteHost
  let now = 0
  const times: number[] = []
  while (at.state !== 'dormant' && now <= until) {
    times.push(now)
    at = step(remoteHostMachine, at, { type: 'FAILED', at: now, settings: table.settings })
    now += dueIn(at.state, at.context, table.settings) ?? 0
  }
  return { at, times }
}

describe('a remote host that does not respond', () => {
  it('is tried after 1, 2, 4 … minutes, then every 12 hours, the last time after exactly 7 days', () => {
    const { at, times } = tries(30 * day)
    const waits = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 60_000)
    expect(waits.slice(0, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 720])
    expect(times.at(-1)).toBe(7 * day)
    expect(at.state).toBe('dormant')
  })

  it('and comes back after 6 days is still tried', () => {
    const { at } = tries(6 * day)
    expect(at.state).toBe('failing')
    expect(step(remoteHostMachine, at, { type: 'SUCCEEDED' })).toMatchObject(initialRemoteHost)
  })

  it('and comes back after 8 days is woken by its next activity, with its whole retry time restored', () => {
    const woken = step(remoteHostMachine, tries(30 * day).at, { type: 'HEARD' })
    const failedAgain = step(remoteHostMachine, woken, { type: 'FAILED', at: 8 * day, settings: table.settings })
    expect(woken.state).toBe('healthy')
    expect(failedAgain).toMatchObject({ state: 'failing', context: { failures: 1, failingSince: 8 * day } })
  })
})
