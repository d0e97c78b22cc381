// Readiness: its conditions, and responses without delay.

import { expect, it } from '@jest/globals'
import { makeHealth } from '../../../src/platform/health.ts'
import { slowness } from '../../support/cpu-time.ts'

function stage() {
  let time = 0
  const health = makeHealth({ now: () => time })
  return {
    health,
    pass: (ms: number) => {
      time += ms
    },
    serving() {
      health.migrated()
      health.started()
      return health
    },
  }
}

it('requires a complete start', async () => {
  const { health } = stage()
  expect(await health.readiness()).toEqual({ ready: false, status: 'starting', migrations: 'pending', parts: {} })
  health.add('database', { look: async () => 1 })
  health.migrated()
  expect(await health.readiness()).toMatchObject({ status: 'starting', migrations: 'done', parts: { database: 'up' } })
  health.started()
  expect(await health.readiness()).toMatchObject({ ready: true, status: 'ready' })
})

it('ends with the drain, permanently', async () => {
  const health = stage().serving()
  health.drain()
  health.started()
  expect(health.isDraining()).toBe(true)
  expect(await health.readiness()).toMatchObject({ ready: false, status: 'draining' })
})

it('checks a dependency once a second at most', async () => {
  const { serving, pass } = stage()
  const health = serving()
  let looks = 0
  health.add('database', {
    look: async () => {
      looks += 1
      if (looks === 2) throw new Error('gone')
    },
  })
  const states: string[] = []
  for (const ms of [0, 999, 1, 999, 1]) {
    pass(ms)
    const { status, parts } = await health.readiness()
    states.push(`${status} ${parts.database} ${looks}`)
  }
  expect(states).toEqual(['ready up 1', 'ready up 1', 'unavailable down 2', 'unavailable down 2', 'ready up 3'])
})

it('reports an optional dependency, without requiring it', async () => {
  const health = stage().serving()
  health.add('database', { look: async () => 1 })
  health.add('redis', { look: () => Promise.reject(new Error('gone')), isDispensable: true })
  expect(await health.readiness()).toMatchObject({ status: 'ready', parts: { database: 'up', redis: 'down' } })
  health.add('database', { look: () => Promise.reject(new Error('gone')) })
  expect(await health.readiness()).toMatchObject({ status: 'unavailable' })
})

it('does not check a dependency that reported by itself', async () => {
  const { serving, pass } = stage()
  const health = serving()
  let looks = 0
  let seenAt = 0
  health.add('database', {
    look: async () => {
      looks += 1
    },
    seenAt: () => seenAt,
  })
  pass(900)
  await health.readiness()
  seenAt = 5000
  pass(5000)
  expect(await health.readiness()).toMatchObject({ ready: true })
  expect(looks).toBe(0)
})

it('uses the last result of a hanging dependency for some seconds, and checks it only once', async () => {
  const { serving, pass } = stage()
  const health = serving()
  let looks = 0
  const hangs = new Promise<void>(() => {})
  health.add('database', {
    look: () => {
      looks += 1
      return looks === 1 ? Promise.resolve() : hangs
    },
  })
  expect(await health.readiness()).toMatchObject({ ready: true })
  pass(1500)
  expect(await health.readiness()).toMatchObject({ ready: true })
  pass(1500)
  const begun = performance.now()
  expect(await health.readiness()).toMatchObject({ ready: false, parts: { database: 'down' } })
  expect(performance.now() - begun).toBeLessThan(2_000 * slowness())
  pass(60_000)
  expect(await health.readiness()).toMatchObject({ ready: false })
  expect(looks).toBe(2)
})
