// Timeouts and periodic tasks run by name.

import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { fakeClock } from '../../support/clock.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

let t: TestRuntime
beforeEach(async () => {
  t = await makeTestRuntime({ clock: fakeClock() })
})
afterEach(() => t.stop())

it('run at once, however recently they ran, and nothing else runs', async () => {
  const ran: string[] = []
  const everyMs = () => 3_600_000
  for (const name of ['one', 'two']) {
    t.runtime.registry.periodic(name, { everyMs, run: async () => void ran.push(name) })
  }
  t.runtime.registry.timeout('three', {
    of: { table: "(select 7 as id, timestamptz '-infinity' as due_at) as seven" },
    timedOut: async (id) => void ran.push(`three ${id}`),
  })
  await t.runtime.sweeper.run(['three', 'two'])
  await t.runtime.sweeper.run(['two'])
  expect(ran).toEqual(['three 7', 'two', 'two'])
  await expect(t.runtime.sweeper.run(['four'])).rejects.toThrow('four')
})
