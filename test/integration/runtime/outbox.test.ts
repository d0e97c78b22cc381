import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { DomainError, type Unit } from '../../../src/actors/runtime/index.ts'
import { fakeClock } from '../../support/clock.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

const clock = fakeClock()
let t: TestRuntime
beforeEach(async () => {
  t = await makeTestRuntime({ clock })
})
afterEach(() => t.stop())

const outbox = async () => (await t.db.query<{ n: number }>('select count(*) as n from outbox'))[0]?.n

describe('a command', () => {
  it('stores its state and its events together, or neither', async () => {
    await expect(
      t.runtime.tell.create(async (unit) => {
        await unit.query("insert into setting (key, value) values ('half', '1')")
        unit.emit({ aggregate: 'video', id: 1 }, 'VideoPublished', { videoId: 1 })
        throw new DomainError('conflict', 'changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    expect(await outbox()).toBe(0)
    expect(await t.db.query('select * from setting')).toEqual([])
  })

  it('on a missing aggregate is refused', async () => {
    await expect(t.runtime.tell({ aggregate: 'video', id: 404 }, async () => 1)).rejects.toMatchObject({
      kind: 'not_found',
    })
  })

  it('on an aggregate waits for the previous one, in any process', async () => {
    const [row] = await insertActor()
    const order: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = t.runtime.tell({ aggregate: 'actor', id: row?.id ?? 0 }, async () => {
      order.push('first begins')
      await held
      order.push('first ends')
    })
    await until(() => order.length === 1)
    const second = t.runtime.tell({ aggregate: 'actor', id: row?.id ?? 0 }, async () => order.push('second'))
    release()
    await Promise.all([first, second])
    expect(order).toEqual(['first begins', 'first ends', 'second'])
  })

  it('that waits too long for its row fails as busy', async () => {
    await t.stop()
    t = await makeTestRuntime({ clock, settings: { lockTimeoutMs: 50 } })
    const [row] = await insertActor()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun = false
    const first = t.runtime.tell({ aggregate: 'actor', id: row?.id ?? 0 }, async () => {
      begun = true
      await held
    })
    await until(() => begun)
    await expect(t.runtime.tell({ aggregate: 'actor', id: row?.id ?? 0 }, async () => 1)).rejects.toMatchObject({
      kind: 'busy',
    })
    release()
    await first
  })
})

describe('the relay', () => {
  it('runs every reaction to an event in the transaction that removes the event', async () => {
    t.runtime.registry.on('VideoPublished', 'first', async (payload, unit) => {
      await unit.query("insert into setting (key, value) values ('first', $1)", [JSON.stringify(payload)])
    })
    t.runtime.registry.on('VideoPublished', 'second', async (_payload, unit) => {
      await unit.query("insert into setting (key, value) values ('second', '2')")
    })
    await t.runtime.tell.create(async (unit) => unit.emit({ aggregate: 'video', id: 7 }, 'VideoPublished', { videoId: 7 }))
    await t.runtime.relay.drain()
    expect(await t.db.query('select key, value from setting order by key')).toEqual([
      { key: 'first', value: { videoId: 7 } },
      { key: 'second', value: 2 },
    ])
    expect(await outbox()).toBe(0)
  })

  it('keeps an event whose reaction fails, retries it later, and holds back later events of its aggregate', async () => {
    await t.db.query('create table seen (id bigint generated always as identity, what text)')
    const see = (unit: Unit, what: string) => unit.query('insert into seen (what) values ($1)', [what])
    const seen = async () => (await t.db.query<{ what: string }>('select what from seen order by id')).map(({ what }) => what)
    let broken = true
    t.runtime.registry.on('VideoPublished', 'test', async ({ videoId }, unit) => {
      await see(unit, `published ${videoId}`)
      if (broken && videoId === 1) throw new Error('not today')
    })
    t.runtime.registry.on('VideoUpdated', 'test', async ({ videoId }, unit) => {
      await see(unit, `updated ${videoId}`)
    })
    await t.runtime.tell.create(async (unit) => {
      unit.emit({ aggregate: 'video', id: 1 }, 'VideoPublished', { videoId: 1 })
      unit.emit({ aggregate: 'video', id: 1 }, 'VideoUpdated', { videoId: 1 })
      unit.emit({ aggregate: 'video', id: 2 }, 'VideoUpdated', { videoId: 2 })
    })
    await t.runtime.relay.drain()
    expect(await seen()).toEqual(['updated 2'])
    broken = false
    await t.runtime.relay.drain()
    expect(await seen()).toEqual(['updated 2'])
    clock.pass(2000)
    await t.runtime.relay.drain()
    expect(await seen()).toEqual(['updated 2', 'published 1', 'updated 1'])
    expect(await outbox()).toBe(0)
  })

  it('passes consecutive events of one name to a batch reaction, and keeps the order with others in between', async () => {
    const seen: string[] = []
    t.runtime.registry.onSeveral('VideoPublished', 'test', async (payloads) => {
      seen.push(`published ${payloads.map(({ videoId }) => videoId)}`)
    })
    t.runtime.registry.on('VideoUpdated', 'test', async ({ videoId }) => {
      seen.push(`updated ${videoId}`)
    })
    await t.runtime.tell.create(async (unit) => {
      for (const id of [1, 2]) unit.emit({ aggregate: 'video', id }, 'VideoPublished', { videoId: id })
      for (const id of [3, 4]) unit.emit({ aggregate: 'video', id }, 'VideoUpdated', { videoId: id })
      for (const id of [5, 1]) unit.emit({ aggregate: 'video', id }, 'VideoPublished', { videoId: id })
    })
    await t.runtime.relay.drain()
    expect(seen).toEqual(['published 1,2', 'updated 3', 'updated 4', 'published 5', 'published 1'])
    expect(await outbox()).toBe(0)
  })

  it('passes each event of a batch alone when one of them fails, so that the others succeed', async () => {
    await t.db.query('create table seen (id bigint generated always as identity, what text)')
    let broken = true
    t.runtime.registry.onSeveral('VideoPublished', 'test', async (payloads, unit) => {
      for (const { videoId } of payloads) await unit.query('insert into seen (what) values ($1)', [String(videoId)])
      if (broken && payloads.some(({ videoId }) => videoId === 2)) throw new Error('not today')
    })
    const seen = async () => (await t.db.query<{ what: string }>('select what from seen order by id')).map(({ what }) => what)
    await t.runtime.tell.create(async (unit) => {
      for (const id of [1, 2, 3]) unit.emit({ aggregate: 'video', id }, 'VideoPublished', { videoId: id })
    })
    await t.runtime.relay.drain()
    expect(await seen()).toEqual(['1', '3'])
    broken = false
    clock.pass(2000)
    await t.runtime.relay.drain()
    expect(await seen()).toEqual(['1', '3', '2'])
    expect(await outbox()).toBe(0)
  })

  it('leaves an event of a newer version to a process of that version', async () => {
    t.runtime.registry.on('VideoPublished', 'test', async () => {})
    t.runtime.registry.seal({ events: ['VideoPublished'], jobs: [], lanes: [] })
    await t.runtime.tell.create(async (unit) => {
      unit.emit({ aggregate: 'video', id: 1 }, 'VideoPublished', { videoId: 1 })
      unit.emit({ aggregate: 'video', id: 2 }, 'VideoUpdated', { videoId: 2 })
    })
    await t.runtime.relay.drain()
    expect(await outbox()).toBe(1)

    const newer = await makeTestRuntime({ url: t.url, clock })
    const seen: number[] = []
    newer.runtime.registry.on('VideoUpdated', 'test', async ({ videoId }) => {
      seen.push(videoId)
    })
    clock.pass(2000)
    await newer.runtime.relay.drain()
    expect(seen).toEqual([2])
    expect(await outbox()).toBe(0)
    await newer.stop()
  })

  it('skips many events that wait for a failed one of their aggregate', async () => {
    const seen: string[] = []
    t.runtime.registry.on('VideoPublished', 'test', async ({ videoId }) => {
      if (videoId === 1) throw new Error('not today')
      seen.push(`published ${videoId}`)
    })
    t.runtime.registry.on('VideoUpdated', 'test', async ({ videoId }) => {
      seen.push(`updated ${videoId}`)
    })
    await t.runtime.tell.create(async (unit) => {
      unit.emit({ aggregate: 'video', id: 1 }, 'VideoPublished', { videoId: 1 })
      for (let n = 0; n < 100; n += 1) unit.emit({ aggregate: 'video', id: 1 }, 'VideoUpdated', { videoId: 1 })
      unit.emit({ aggregate: 'video', id: 2 }, 'VideoPublished', { videoId: 2 })
    })
    await t.runtime.relay.drain()
    expect(seen).toEqual(['published 2'])
    expect(await outbox()).toBe(101)
  })

  it('parks an event that never succeeds, with its reason, so that later ones continue', async () => {
    const seen: string[] = []
    t.runtime.registry.on('VideoPublished', 'test', async () => {
      throw new Error('poison')
    })
    t.runtime.registry.on('VideoUpdated', 'test', async () => {
      seen.push('updated')
    })
    await t.runtime.tell.create(async (unit) => {
      unit.emit({ aggregate: 'video', id: 1 }, 'VideoPublished', { videoId: 1 })
      unit.emit({ aggregate: 'video', id: 1 }, 'VideoUpdated', { videoId: 1 })
    })
    for (let attempt = 0; attempt < 25; attempt += 1) {
      await t.runtime.relay.drain()
      clock.pass(600_000)
    }
    expect(seen).toEqual(['updated'])
    expect(await t.db.query('select event, failures, error, parked_at is not null as parked from outbox')).toEqual([
      { event: 'VideoPublished', failures: 20, error: 'Error: poison', parked: true },
    ])
  })

  it('handles each event once when several relays run, in the order of each aggregate', async () => {
    const seen: Record<number, number[]> = {}
    const others = await Promise.all([1, 2].map(() => makeTestRuntime({ url: t.url, clock })))
    for (const { runtime } of [t, ...others]) {
      runtime.registry.on('RatingSet', 'test', async ({ ratingId, videoId }) => {
        seen[videoId] = [...(seen[videoId] ?? []), ratingId]
      })
    }
    for (let n = 0; n < 60; n += 1) {
      const videoId = n % 3
      await t.runtime.tell.create(async (unit) => unit.emit({ aggregate: 'rating', id: videoId }, 'RatingSet', { ratingId: n, videoId }))
    }
    await Promise.all([t, ...others].map(({ runtime }) => runtime.relay.drain()))
    await until(async () => (await outbox()) === 0 || (await t.runtime.relay.drain().then(() => false)))
    const inOrder = (videoId: number) => Array.from({ length: 20 }, (_, n) => n * 3 + videoId)
    expect(seen).toEqual({ 0: inOrder(0), 1: inOrder(1), 2: inOrder(2) })
    await Promise.all(others.map((other) => other.stop()))
  })
})

const insertActor = () =>
  t.db.query<{ id: number }>(
    "insert into actor (type, preferred_username, url, inbox_url) values ('Person', 'alice', 'https://a.example/alice', 'https://a.example/inbox') returning id",
  )
