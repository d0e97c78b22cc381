// Periodic tasks, on two processes of one server.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { fakeClock } from '../../support/clock.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

const HOUR = 3_600_000
let clock = fakeClock()
let one: TestRuntime
let two: TestRuntime
beforeEach(async () => {
  clock = fakeClock()
  one = await makeTestRuntime({ clock })
  two = await makeTestRuntime({ clock, url: one.url })
})
afterEach(async () => {
  await two.stop()
  await one.stop()
})

const both = () => [one.runtime, two.runtime]
const sweep = () => Promise.all(both().map(({ sweeper }) => sweeper.sweep()))

describe('a periodic task', () => {
  it('runs once each time it is due, in whichever process checks first, or in each process if configured', async () => {
    const ran = new Map<string, number>()
    const run = (name: string) => async () => void ran.set(name, (ran.get(name) ?? 0) + 1)
    for (const { registry } of both()) {
      registry.periodic('hourly', { everyMs: () => HOUR, run: run('hourly') })
      registry.periodic('each second', { everyMs: () => 1000, run: run('each second') })
      registry.periodic('here', { everyMs: () => 1000, everywhere: true, run: run('here') })
    }
    for (let n = 0; n < 10; n += 1) {
      await sweep()
      clock.pass(500)
    }
    expect(Object.fromEntries(ran)).toEqual({ hourly: 1, 'each second': 5, here: 10 })
    for (let n = 0; n < 5; n += 1) {
      clock.pass(HOUR)
      await sweep()
      await sweep()
    }
    expect(Object.fromEntries(ran)).toEqual({ hourly: 6, 'each second': 10, here: 20 })
  })

  it('is due after its interval also for a new process, and after its interval was shortened', async () => {
    let ran = 0
    let every = HOUR
    const run = async () => {
      ran += 1
    }
    for (const { registry } of both()) registry.periodic('task', { everyMs: () => every, run })
    await one.runtime.sweeper.sweep()
    clock.pass(HOUR / 2)
    await two.runtime.sweeper.sweep()
    expect(ran).toBe(1)
    every = HOUR / 4
    await sweep()
    expect(ran).toBe(2)
  })

  it('that takes long does not delay the start of a process', async () => {
    const work = Promise.withResolvers<void>()
    let isOver = false
    one.runtime.registry.periodic('long', {
      everyMs: () => HOUR,
      run: async () => {
        await work.promise
        isOver = true
      },
    })
    await one.runtime.start()
    expect(isOver).toBe(false)
    work.resolve()
    await until(() => isOver)
  })

  it('started by a clock that was ahead is due by the right clock', async () => {
    let ran = 0
    const run = async () => {
      ran += 1
    }
    one.runtime.registry.periodic('task', { everyMs: () => HOUR, run })
    clock.pass(24 * HOUR)
    await one.runtime.sweeper.sweep()
    clock.pass(-24 * HOUR)
    two.runtime.registry.periodic('task', { everyMs: () => HOUR, run })
    await two.runtime.sweeper.sweep()
    await two.runtime.sweeper.sweep()
    expect(ran).toBe(2)
  })

  it('continues after the clock was set back', async () => {
    const ran: string[] = []
    const { registry, sweeper } = one.runtime
    registry.periodic('here', { everyMs: () => 1000, everywhere: true, run: async () => void ran.push('here') })
    registry.periodic('hourly', { everyMs: () => HOUR, run: async () => void ran.push('hourly') })
    await sweeper.sweep()
    clock.pass(-2 * HOUR)
    await sweeper.sweep()
    expect(ran).toEqual(['here', 'hourly', 'here', 'hourly'])
  })

  it('that fails is retried when it is due', async () => {
    let ran = 0
    for (const { registry } of both()) {
      registry.periodic('task', {
        everyMs: () => HOUR,
        run: async () => {
          ran += 1
          throw new Error('no')
        },
      })
    }
    await sweep()
    await sweep()
    expect(ran).toBe(1)
    clock.pass(HOUR)
    await sweep()
    expect(ran).toBe(2)
  })

  it('that takes long delays neither the shutdown of a process nor the release of its jobs', async () => {
    const gate = Promise.withResolvers<void>()
    const { registry, sweeper, tell } = one.runtime
    const begun: string[] = []
    registry.job('email', {
      queue: 'mail',
      async run({ signal }) {
        begun.push('job')
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    await one.runtime.start()
    await tell.create(async (unit) => unit.enqueue({ type: 'email', data: {} }))
    const run = async () => {
      begun.push('task')
      await gate.promise
    }
    registry.periodic('long', { everyMs: () => HOUR, run })
    registry.periodic('next', { everyMs: () => HOUR, run: async () => void begun.push('next') })
    await until(() => begun.length === 2)
    await one.runtime.stop(50)
    expect(await one.db.query('select state, lost_leases, failures from job')).toEqual([{ state: 'waiting', lost_leases: 0, failures: 0 }])
    gate.resolve()
    await sweeper.stop(1000)
    expect(begun.toSorted()).toEqual(['job', 'task'])
  })

  it('of a dead process is taken over, that of a live one is not', async () => {
    const ran: string[] = []
    const gate = Promise.withResolvers<void>()
    one.runtime.registry.periodic('long', {
      everyMs: () => HOUR,
      run: async () => {
        ran.push('one')
        await gate.promise
      },
    })
    two.runtime.registry.periodic('long', { everyMs: () => HOUR, run: async () => void ran.push('two') })
    const first = one.runtime.sweeper.sweep()
    await until(() => ran.length === 1)
    await two.runtime.sweeper.sweep()
    expect(ran).toEqual(['one'])
    // The process is silent for longer than its lease.
    clock.pass(31_000)
    await two.runtime.sweeper.sweep()
    expect(ran).toEqual(['one', 'two'])
    gate.resolve()
    await first
    clock.pass(HOUR - 1)
    await sweep()
    expect(ran).toHaveLength(2)
    clock.pass(1)
    await sweep()
    expect(ran).toHaveLength(3)
  })
})
