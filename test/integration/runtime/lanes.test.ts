import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { machineName } from '../../../src/actors/runtime/lease.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

let t: TestRuntime
beforeEach(async () => {
  t = await makeTestRuntime()
})
afterEach(() => t.stop())

const wake = (runtime = t.runtime) => runtime.tell.create(async (unit) => unit.wake('delivery', 'b.example'))
const lane = async () => (await t.db.query<{ due_at: Date | null; lease_owner: string | null; dirty: boolean }>('select * from lane'))[0]

describe('a lane', () => {
  it('is drained by one worker at a time in all processes, and no wake-up is lost', async () => {
    const other = await makeTestRuntime({ url: t.url })
    let atOnce = 0
    let most = 0
    let looks = 0
    for (const { runtime } of [t, other]) {
      runtime.registry.lane('delivery', {
        queue: 'delivery',
        nextDueSql: 'select null::timestamptz',
        async drain() {
          atOnce += 1
          most = Math.max(most, atOnce)
          await t.db.query('select pg_sleep(0.002)')
          looks += 1
          atOnce -= 1
          return null
        },
      })
      await runtime.start()
    }
    const work = new Set<number>()
    for (let n = 0; n < 40; n += 1) {
      work.add(n)
      await Promise.all([wake(t.runtime), wake(other.runtime)])
    }
    await until(async () => (await lane())?.due_at === null && (await lane())?.lease_owner === null)
    expect(most).toBe(1)
    expect(looks).toBeGreaterThan(0)
    const before = looks
    await wake()
    await until(() => looks > before)
    await other.stop()
  })

  it('that was woken while it was drained is drained again', async () => {
    let looks = 0
    t.runtime.registry.lane('delivery', {
      queue: 'delivery',
      nextDueSql: 'select null::timestamptz',
      async drain() {
        looks += 1
        if (looks === 1) await wake()
        return null
      },
    })
    await t.runtime.start()
    await wake()
    await until(async () => looks >= 2 && (await lane())?.due_at === null)
  })

  it('with a killed worker continues after the next start', async () => {
    await t.db.query(
      `insert into lane (kind, key, due_at, lease_owner, lease_until) values ('delivery', 'b.example', null, $1, now() + interval '1 hour')`,
      [`${machineName()}|999999999|1|dead`],
    )
    let looks = 0
    t.runtime.registry.lane('delivery', {
      queue: 'delivery',
      nextDueSql: 'select null::timestamptz',
      async drain() {
        looks += 1
        return null
      },
    })
    await t.runtime.start()
    await until(() => looks >= 1)
  })

  it('that fails is retried later, and released meanwhile', async () => {
    t.runtime.registry.lane('delivery', {
      queue: 'delivery',
      nextDueSql: 'select null::timestamptz',
      drain: async () => {
        throw new Error('the host is on fire')
      },
    })
    await t.runtime.start()
    await wake()
    await until(async () => {
      const now = await lane()
      return now?.lease_owner === null && now.due_at !== null && now.due_at.getTime() > Date.now() + 5000
    })
  })
})

describe('a lane whose lease expired while it was drained', () => {
  it('is not released by its first worker under the second', async () => {
    let drains = 0
    const ends: (() => void)[] = []
    let isOver = false
    const other = await makeTestRuntime({ url: t.url })
    for (const { runtime } of [t, other]) {
      runtime.registry.lane('delivery', {
        queue: 'delivery',
        nextDueSql: 'select null::timestamptz',
        async drain() {
          drains += 1
          if (!isOver) await new Promise<void>((resolve) => ends.push(resolve))
          return null
        },
      })
    }
    await t.runtime.start()
    await wake()
    await until(() => drains === 1)
    await other.runtime.start()
    const first = (await lane())?.lease_owner
    // Repeatedly, since the first worker renews it meanwhile.
    await until(async () => {
      await t.db.query("update lane set lease_until = '-infinity', due_at = now() where lease_owner = $1", [first])
      return drains === 2
    })
    const second = (await lane())?.lease_owner
    ends[0]?.()
    await wake()
    await until(async () => (await lane())?.dirty === true)
    expect((await lane())?.lease_owner).toBe(second)
    expect(drains).toBe(2)
    isOver = true
    for (const end of ends) end()
    await until(() => drains >= 3)
    await other.stop()
  })
})

describe('the registry', () => {
  it('refuses to start when a job or event has no handler, or two', () => {
    const { registry } = t.runtime
    expect(() => registry.seal({ events: ['VideoPublished'], jobs: ['email'], lanes: ['inbox'] })).toThrow(
      'Nothing handles: event VideoPublished, job email, lane inbox.',
    )
    registry.job('email', { queue: 'mail', run: async () => {} })
    expect(() => registry.job('email', { queue: 'mail', run: async () => {} })).toThrow('two of this handler of job: email')
  })
})
