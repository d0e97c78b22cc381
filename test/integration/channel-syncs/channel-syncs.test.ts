// Synchronisation of channels with channels of other sites: permissions, imports of a round, and its end.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { DomainError } from '../../../src/actors/runtime/index.ts'
import { CHANNEL, type Harness, HOUR, makeHarness, remote } from './harness.ts'

let world: Harness
beforeAll(async () => {
  world = await makeHarness()
})
afterAll(() => world?.stop())
afterEach(() => world.clean())

const importAll = (id?: number, url = CHANNEL, by = world.users.owner) =>
  world.send(by, 'POST', `/video-channels/${world.users.owner.username}_channel/import-videos`, {
    externalChannelUrl: url,
    videoChannelSyncId: id,
  })

describe('a synchronisation', () => {
  it('is created, listed and removed by the owner of the channel', async () => {
    const { owner } = world.users
    const body = { externalChannelUrl: CHANNEL, videoChannelId: owner.channelId }
    const made = await world.send(owner, 'POST', '/video-channel-syncs', body)
    const view = {
      id: expect.any(Number),
      state: { id: 1, label: 'Waiting first run' },
      externalChannelUrl: CHANNEL,
      createdAt: world.clock.now().toISOString(),
      channel: {
        id: owner.channelId,
        name: `${owner.username}_channel`,
        host: 'localhost:9000',
        avatars: [],
        displayName: expect.any(String),
        url: expect.any(String),
      },
    }
    expect(made).toEqual({ status: 200, body: { videoChannelSync: view } })
    const list = `/accounts/${owner.username}/video-channel-syncs`
    expect(await world.send(owner, 'GET', list)).toEqual({ status: 200, body: { total: 1, data: [view] } })
    expect((await world.send(world.users.moderator, 'GET', list)).body.total).toBe(1)
    const { id } = made.body.videoChannelSync
    expect((await world.send(owner, 'DELETE', `/video-channel-syncs/${id}`)).status).toBe(204)
    expect((await world.send(owner, 'GET', list)).body).toEqual({ total: 0, data: [] })
    expect((await world.send(owner, 'DELETE', `/video-channel-syncs/${id}`)).status).toBe(404)
  })

  it('cannot be accessed by others', async () => {
    const { owner, other, moderator } = world.users
    const id = await world.make()
    const body = { externalChannelUrl: CHANNEL, videoChannelId: owner.channelId }
    for (const [by, status] of [
      [null, 401],
      [other, 403],
    ] as const) {
      expect((await world.send(by, 'POST', '/video-channel-syncs', body)).status).toBe(status)
      expect((await world.send(by, 'GET', `/accounts/${owner.username}/video-channel-syncs`)).status).toBe(status)
      expect((await world.send(by, 'POST', `/video-channel-syncs/${id}/sync`)).status).toBe(status)
      expect((await world.send(by, 'DELETE', `/video-channel-syncs/${id}`)).status).toBe(status)
    }
    expect((await importAll(id, CHANNEL, other)).status).toBe(403)
    expect(await world.stateOf(id)).toBe('waiting-first-run')
    expect((await world.send(moderator, 'DELETE', `/video-channel-syncs/${id}`)).status).toBe(204)
  })

  it('is refused with each bad field, for an unknown channel, and beyond the limit per user', async () => {
    const { owner, other } = world.users
    const post = (body: object) => world.send(owner, 'POST', '/video-channel-syncs', body)
    expect(Object.keys((await post({})).body['invalid-params'])).toEqual(['externalChannelUrl', 'videoChannelId'])
    for (const externalChannelUrl of ['x', 'ftp://a.example/', 'https://me:secret@a.example/', 'https://', 5]) {
      expect((await post({ externalChannelUrl, videoChannelId: owner.channelId })).status).toBe(400)
    }
    expect((await post({ externalChannelUrl: CHANNEL, videoChannelId: 424242 })).status).toBe(404)
    const ids = await Promise.allSettled([1, 2, 3, 4].map(() => world.make()))
    expect(ids.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(await world.make(other)).toEqual(expect.any(Number))
  })

  it('is refused while the feature is off', async () => {
    const { owner } = world.users
    const id = await world.make()
    world.switches.enabled = false
    const body = { externalChannelUrl: CHANNEL, videoChannelId: owner.channelId }
    expect((await world.send(owner, 'POST', '/video-channel-syncs', body)).status).toBe(403)
    expect((await importAll(id)).status).toBe(403)
    world.switches.http = false
    expect((await importAll()).status).toBe(403)
    // Existing ones can still be listed and removed.
    expect((await world.send(owner, 'DELETE', `/video-channel-syncs/${id}`)).status).toBe(204)
  })

  it('is listed in the requested order', async () => {
    const { owner } = world.users
    const first = await world.make(owner, 'https://a.example/b')
    world.clock.pass(1000)
    const second = await world.make(owner, 'https://a.example/a')
    await world.db.query("update channel_sync set state = 'failed', last_sync_at = now() where id = $1", [first])
    for (const [sort, ids] of [
      ['createdAt', [first, second]],
      ['-createdAt', [second, first]],
      ['externalChannelUrl', [second, first]],
      ['state', [second, first]],
      ['-lastSyncAt', [first, second]],
      ['videoChannel', [first, second]],
    ] as const) {
      const { body } = await world.send(owner, 'GET', `/accounts/${owner.username}/video-channel-syncs?sort=${sort}`)
      expect({ sort, ids: body.data.map(({ id }: { id: number }) => id) }).toEqual({ sort, ids })
    }
    const page = `/accounts/${owner.username}/video-channel-syncs?start=1&count=1`
    expect((await world.send(owner, 'GET', page)).body).toMatchObject({ total: 2, data: [{ id: first }] })
  })
})

describe('a round of a synchronisation', () => {
  it('starts after the check interval, and imports new videos', async () => {
    const id = await world.make()
    world.site.videos = [remote('later', 1), remote('today', 0), remote('before', -1)]
    await world.run()
    expect(world.site.asked).toEqual([])
    world.clock.pass(HOUR)
    await world.run()
    expect(world.site.asked).toEqual([{ url: CHANNEL, limit: 3 }])
    expect(await world.imports()).toEqual(['today', 'later'])
    expect(await world.stateOf(id)).toBe('processing')
    expect(await world.db.query('select fields, channel_sync_id from video_import limit 1')).toEqual([
      { fields: { privacy: 1 }, channel_sync_id: id },
    ])

    await world.importsEnd('success')
    world.clock.pass(15_000)
    await world.run()
    expect(await world.stateOf(id)).toBe('synced')
    const { body } = await world.send(world.users.owner, 'GET', `/accounts/${world.users.owner.username}/video-channel-syncs`)
    expect(body.data[0]).toMatchObject({ state: { id: 3, label: 'Synchronized' }, lastSyncAt: expect.any(String) })
  })

  it('imports nothing twice, and retries failures a limited number of times', async () => {
    const id = await world.make()
    const round = async (end: 'success' | 'failed' | 'cancelled') => {
      world.clock.pass(HOUR)
      await world.run()
      await world.importsEnd(end)
      world.clock.pass(15_000)
      await world.run()
      return await world.stateOf(id)
    }
    world.site.videos = [remote('b'), remote('a')]
    expect([await round('failed'), await world.imports()]).toEqual(['failed', ['a', 'b']])
    expect([await round('failed'), await world.imports()]).toEqual(['failed', ['a', 'b', 'a', 'b']])
    await world.db.query("update video_import set state = 'success' where target_url like '%/b'")
    expect([await round('failed'), await world.imports()]).toEqual(['failed', ['a', 'b', 'a', 'b', 'a']])
    world.site.videos = [remote('c'), remote('b'), remote('a')]
    // Failures of an earlier round do not count in this one.
    expect([await round('success'), await world.imports()]).toEqual(['synced', ['a', 'b', 'a', 'b', 'a', 'c']])
    world.site.videos = [remote('d')]
    expect([await round('cancelled'), (await world.imports()).at(-1)]).toEqual(['synced', 'd'])
    await round('success')
    expect((await world.imports()).filter((name) => name === 'd')).toHaveLength(1)
  })

  it('retries imports that were rejected while the user was blocked', async () => {
    const id = await world.make()
    world.site.videos = [remote('a', 0)]
    for (const [end, state] of [
      ['rejected', 'failed'],
      ['success', 'synced'],
    ] as const) {
      world.clock.pass(HOUR)
      await world.run()
      await world.importsEnd(end)
      world.clock.pass(15_000)
      await world.run()
      expect(await world.stateOf(id)).toBe(state)
      // The video is older than the last round then.
      world.clock.pass(24 * HOUR)
    }
    expect(await world.imports()).toEqual(['a', 'a'])
  })

  it('finds new videos even if the other site gives no dates', async () => {
    const id = await world.make()
    const site = (...names: string[]) => {
      world.site.videos = names.map((name) => remote(name, null))
    }
    const round = async () => {
      world.clock.pass(HOUR)
      await world.run()
      await world.importsEnd('success')
      world.clock.pass(15_000)
      await world.run()
      return await world.imports()
    }
    site('c', 'b', 'a')
    expect(await round()).toEqual([])
    site('d', 'c', 'b')
    expect(await round()).toEqual(['d'])
    site('e', 'c', 'a')
    expect(await round()).toEqual(['d', 'e'])
    expect(await world.stateOf(id)).toBe('synced')
    await importAll(id)
    await world.run()
    expect(await world.imports()).toEqual(['d', 'e', 'a', 'c'])
  })

  it("imports all videos on the owner's request, and once more when that is requested meanwhile", async () => {
    const id = await world.make()
    world.site.videos = ['f', 'e', 'd', 'c', 'b', 'a'].map((name) => remote(name, -100))
    expect((await importAll(id)).status).toBe(204)
    expect((await world.send(world.users.owner, 'POST', `/video-channel-syncs/${id}/sync`)).status).toBe(204)
    await world.run()
    expect(world.site.asked).toEqual([{ url: CHANNEL, limit: 5 }])
    expect(await world.imports()).toEqual(['b', 'c', 'd', 'e', 'f'])
    await world.importsEnd('success')
    world.clock.pass(15_000)
    await world.run()
    expect(world.site.asked).toHaveLength(2)
    expect(await world.stateOf(id)).toBe('synced')
    expect(await world.imports()).toHaveLength(5)
  })

  it('starts once when several processes look for it', async () => {
    await world.make()
    world.site.videos = [remote('a')]
    world.clock.pass(HOUR)
    await Promise.all([1, 2, 3].map(() => world.runtime.sweeper.sweep()))
    expect(await world.db.query('select type from job')).toEqual([{ type: 'video-channel-import' }])
    await world.run()
    expect(await world.imports()).toEqual(['a'])
  })

  it('resumes after an interruption', async () => {
    const id = await world.make()
    world.site.videos = [remote('c'), remote('b'), remote('a')]
    world.clock.pass(HOUR)
    await world.runtime.sweeper.sweep()
    let requests = 0
    world.before.request = async () => {
      requests += 1
      if (requests === 2) throw new DomainError('busy', 'Another request is changing this.')
    }
    await world.work('video-channel-import')
    expect(await world.imports()).toEqual(['a'])
    await world.db.query("update job set due_at = $1, state = 'waiting'", [world.clock.now()])
    await world.run()
    expect(await world.imports()).toEqual(['a', 'b', 'c'])
    expect(await world.stateOf(id)).toBe('processing')
  })

  it('fails when the other site is unreachable, and is retried', async () => {
    const id = await world.make()
    world.site.away = 'The site is away.'
    world.clock.pass(HOUR)
    await world.run()
    expect(await world.db.query("select state, context->>'error' as error from channel_sync")).toEqual([
      { state: 'failed', error: 'The site is away.' },
    ])
    world.site.away = null
    world.clock.pass(HOUR)
    await world.run()
    expect(await world.stateOf(id)).toBe('synced')
  })

  it('counts a refused video as missing, and imports the others', async () => {
    const id = await world.make()
    world.site.videos = [remote('b'), remote('a')]
    world.refusals.set(remote('a').url, new DomainError('forbidden', 'Not there.'))
    world.clock.pass(HOUR)
    await world.run()
    expect(await world.imports()).toEqual(['b'])
    await world.importsEnd('success')
    world.clock.pass(15_000)
    await world.run()
    expect(await world.stateOf(id)).toBe('failed')
  })

  it('ends at the quota of its user, even if nothing is left at the start', async () => {
    const id = await world.make()
    world.site.videos = [remote('b'), remote('a')]
    world.refusals.set(remote('b').url, new DomainError('too_large', 'Too much.', { code: 'quota_reached' }))
    world.clock.pass(HOUR)
    await world.run()
    expect([await world.stateOf(id), await world.imports()]).toEqual(['failed', ['a']])
    await world.db.query('update users set video_quota = 0')
    expect(await importAll(id)).toMatchObject({ status: 413, body: { code: 'quota_reached' } })
  })
})

describe('no round starts', () => {
  it('for a blocked user, or while the feature is off', async () => {
    const id = await world.make()
    await world.db.query("update users set state = 'blocked' where id = $1", [world.users.owner.id])
    world.clock.pass(HOUR)
    await world.run()
    await world.db.query("update users set state = 'active' where id = $1", [world.users.owner.id])
    world.switches.enabled = false
    world.clock.pass(HOUR)
    await world.run()
    expect([await world.stateOf(id), world.site.asked]).toEqual(['waiting-first-run', []])
    world.switches.enabled = true
    world.clock.pass(HOUR)
    await world.run()
    expect(await world.stateOf(id)).toBe('synced')
  })

  it('and a running one ends when its user is blocked', async () => {
    const id = await world.make()
    world.site.videos = [remote('b'), remote('a')]
    world.before.request = async () => {
      await world.db.query("update users set state = 'blocked' where id = $1", [world.users.owner.id])
    }
    world.clock.pass(HOUR)
    await world.run()
    expect([await world.stateOf(id), await world.imports()]).toEqual(['failed', ['a']])
  })

  it('for a removed synchronisation, whose imports remain', async () => {
    const id = await world.make()
    world.site.videos = [remote('b'), remote('a')]
    world.before.request = async () => {
      await world.db.query('delete from channel_sync where id = $1', [id])
      world.before.request = async () => {}
    }
    world.clock.pass(HOUR)
    // The row is removed between the query and the import request: that import belongs to the channel.
    await world.run().catch(() => undefined)
    expect(await world.stateOf(id)).toBeUndefined()
    expect((await world.imports()).length).toBeLessThan(2)
    const again = await world.make()
    await importAll(again)
    await world.run()
    await world.send(world.users.owner, 'DELETE', `/video-channel-syncs/${again}`)
    expect(await world.imports()).toEqual(expect.arrayContaining(['a', 'b']))
    expect(await world.db.query('select 1 from video_import where channel_sync_id is not null')).toEqual([])
  })

  it('for a removed channel', async () => {
    const id = await world.make()
    const { channelId } = world.users.owner
    await importAll(id)
    await world.db.query("update channel set state = 'removed' where id = $1", [channelId])
    await world.runtime.tell({ aggregate: 'actor', id: world.users.owner.channelActorId }, async (unit) =>
      unit.emit({ aggregate: 'actor', id: world.users.owner.channelActorId }, 'ChannelRemoved', {
        channelId,
        url: 'https://localhost/c',
      }),
    )
    await world.runtime.relay.drain()
    await world.run()
    expect([await world.stateOf(id), world.site.asked]).toEqual([undefined, []])
  })
})

describe('a channel is imported once', () => {
  it('as a whole, without a synchronisation', async () => {
    world.site.videos = [remote('b', -100), remote('a', -100)]
    expect((await importAll()).status).toBe(204)
    expect((await importAll()).status).toBe(204)
    await world.run()
    expect([await world.imports(), world.site.asked]).toEqual([['a', 'b'], [{ url: CHANNEL, limit: 5 }]])
  })

  it('but not for a synchronisation of another channel or URL', async () => {
    const id = await world.make()
    const others = await world.make(world.users.other)
    expect((await importAll(others)).status).toBe(403)
    expect((await importAll(424242)).status).toBe(404)
    expect((await importAll(424242, CHANNEL, world.users.other)).status).toBe(404)
    expect(await importAll(id, 'https://video.example.com/c/y')).toMatchObject({
      status: 400,
      body: { 'invalid-params': { externalChannelUrl: expect.anything() } },
    })
    expect((await importAll(undefined, 'x')).status).toBe(400)
    await world.run()
    expect(world.site.asked).toEqual([])
  })

  it('by one job at a time, without duplicate imports', async () => {
    world.site.videos = [remote('b'), remote('a')]
    await importAll(await world.make())
    await importAll()
    await Promise.all([1, 2].map(() => world.work('video-channel-import')))
    await world.db.query("update job set due_at = $1, state = 'waiting' where state = 'delayed'", [world.clock.now()])
    await world.run()
    expect(await world.imports()).toEqual(['a', 'b'])
  })
})
