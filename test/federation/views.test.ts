// Views, viewers and watched segments between servers: what is sent, what is accepted from which server, and two real nodes.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { oracleProblems } from '../support/peertube-oracle.ts'
import { until } from '../support/until.ts'
import { follow } from './nodes.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

/** Intervals of minutes take moments here. */
const QUICK = {
  // Nobody follows anybody here: visitors open remote videos by their URL.
  search: { remote_uri: { users: true, anonymous: true } },
  views: { videos: { count_view_after: '1 second' } },
  vireo: {
    caching: { routes: { videos: 0 } },
    runtime: { counters_interval: '50 ms' },
    views: { buffer_sync_interval: '100 ms', max_remote_viewers: 20, max_remote_views: 20 },
    lifetimes: { viewer_counter: '10 seconds', viewer_stats: '3 seconds' },
    schedulers: { video_views_buffer_update: '100 ms' },
  },
}

/** With host names as the reference requires them: with a top-level domain. */
const onTheNet = (activity: JsonObject): JsonObject => JSON.parse(JSON.stringify(activity).replace(/127\.0\.0\.1:(\d+)/g, 'node$1.example'))

interface Watched {
  base: string
  uuid: string
}

let bytes: Buffer
beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
})

async function watch({ base, uuid }: Watched, session: string, from = 0, to = 2): Promise<void> {
  for (const currentTime of [from, to]) {
    const { status } = await fetch(`${base}/api/v1/videos/${uuid}/views`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ currentTime, sessionId: session, ...(currentTime === from ? { viewEvent: 'seek' } : {}) }),
    })
    expect(status).toBe(204)
  }
}
const shown = async ({ base, uuid }: Watched) => {
  const answer = await fetch(`${base}/api/v1/videos/${uuid}`)
  const { views, viewers } = (await answer.json()) as { views: number; viewers: number }
  return { views, viewers }
}
const becomes = (video: Watched, expected: { views?: number; viewers?: number }) =>
  until(
    async () => {
      const now = await shown(video)
      return Object.entries(expected).every(([name, value]) => now[name as keyof typeof now] === value)
    },
    { what: `${JSON.stringify(expected)} of ${video.uuid}` },
  )

describe('with a peer', () => {
  let node: FederatedNode
  /** Follows the local server, and has a known video. */
  let home: FakePeer
  let away: FakePeer
  let alice: { account: PeerActor; channel: PeerActor }
  let video: { id: number; uuid: string; url: string } & Watched
  let remote: Watched & { url: string }

  beforeAll(async () => {
    ;[node, home, away] = await Promise.all([startFederatedNode(QUICK), startFakePeer(), startFakePeer()])
    alice = await introduce(node, home, 'alice')
    for (const peer of [home, away]) await node.deliver(peer.instance, peer.activity(peer.instance, 'Arrive', peer.base))
    await node.deliver(home.instance, home.activity(home.instance, 'Follow', node.instance))
    const document = home.video(alice)
    await node.deliver(alice.account, home.activity(alice.account, 'Create', document))
    remote = { base: node.base, uuid: String(document.uuid), url: document.id }
  })
  afterAll(async () => {
    await Promise.all([home?.close(), away?.close(), node?.stop()])
  })
  beforeEach(async () => {
    video = { base: node.base, ...(await node.upload(bytes)) }
    home.received.length = 0
  })

  const viewsOf = (url: string) => home.of('View').flatMap(({ activity }) => (activity.object === url ? [activity] : []))
  const view = (peer: FakePeer, by: PeerActor, url: string, more: JsonObject = {}) =>
    peer.activity(by, 'View', url, { id: peer.id('views'), ...more })
  const soon = () => new Date(Date.now() + 3000).toISOString()
  const counter = (count: number) => ({
    type: 'InteractionCounter',
    interactionType: 'WatchAction',
    userInteractionCount: count,
  })

  it('viewers of a local video are sent to followers as one count', async () => {
    await Promise.all(['anna', 'bert', 'carl'].map((session) => watch(video, session)))
    await becomes(video, { views: 3 })
    const { activity } = await home.awaited('the viewers', (one) => one.activity.type === 'View' && one.activity.object === video.url)
    expect(activity).toMatchObject({
      actor: node.instance,
      to: [
        'https://www.w3.org/ns/activitystreams#Public',
        `${node.base}/video-channels/root_channel/followers`,
        `${node.instance}/followers`,
      ],
      cc: [],
      expires: expect.stringMatching(/^20/),
      result: { type: 'InteractionCounter', interactionType: 'WatchAction' },
      signature: { type: 'RsaSignature2017' },
    })
    expect(oracleProblems(onTheNet(activity))).toEqual([])
    const update = await home.awaited(
      'the new number of views',
      ({ activity: { type, object } }) =>
        type === 'Update' && (object as JsonObject).id === video.url && (object as JsonObject).views === 3,
    )
    expect(update.activity).toMatchObject({ type: 'Update' })
    expect(viewsOf(video.url).length).toBeLessThanOrEqual(2)
    expect(await node.query("select 1 from document where type like '%WatchAction'")).toEqual([])
  })

  it.each(['3', '4', '5'])('viewers of a video with privacy %s are not sent', async (privacy) => {
    const hidden = { base: node.base, ...(await node.upload(bytes, { privacy, ...passwordsOf(privacy) })) }
    for (const currentTime of [0, 2]) {
      await node.client.send('POST', `/api/v1/videos/${hidden.uuid}/views`, { currentTime })
    }
    await until(async () => (await node.query('select 1 from video where id = $1 and views = 1', [hidden.id]))[0])
    await watch(video, 'after')
    await home.awaited('a later one', ({ activity }) => activity.type === 'View' && activity.object === video.url)
    await node.settled()
    expect(JSON.stringify(home.received)).not.toContain(hidden.uuid)
  })

  it('a view of a remote video is sent to its server, followed by its WatchAction', async () => {
    await watch(remote, 'anna')
    const isAnnounced = (fits: (activity: JsonObject) => boolean) =>
      home.awaited('it', ({ activity }) => activity.object === remote.url && fits(activity))
    const viewer = await isAnnounced(({ expires }) => expires !== undefined)
    expect(viewer.activity).toMatchObject({ type: 'View', actor: node.instance, to: [alice.account.url], cc: [] })
    expect(viewer.activity).not.toHaveProperty('result')
    const viewed = await isAnnounced(({ type, expires }) => type === 'View' && expires === undefined)
    expect(viewed.activity).not.toHaveProperty('result')
    const watched = await home.awaited('the watch action', ({ activity }) => activity.type === 'Create')
    const object = watched.activity.object as JsonObject
    expect(watched).toMatchObject({
      path: '/inbox',
      activity: {
        actor: node.instance,
        to: [alice.account.url],
        object: {
          type: 'WatchAction',
          duration: 'PT2S',
          object: remote.url,
          actionStatus: 'CompletedActionStatus',
          watchSections: [{ startTimestamp: 0, endTimestamp: 2 }],
        },
      },
    })
    for (const { activity } of [viewer, viewed, watched]) expect(oracleProblems(onTheNet(activity))).toEqual([])
    const served = await fetch(String(object.id), { headers: { accept: 'application/activity+json' } })
    expect([served.status, served.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/activity\+json/)])
    expect(await served.json()).toMatchObject({ ...object, '@context': expect.anything() })
    const creation = await fetch(String(watched.activity.id), { headers: { accept: 'application/activity+json' } })
    expect(await creation.json()).toMatchObject({ type: 'Create', id: watched.activity.id })
  })

  it('a server that does not accept them gets none', async () => {
    const refused = (types: string[]) => node.query('update remote_host set unsupported_types = $1 where host = $2', [types, home.host])
    await refused(['View:', 'Create:WatchAction'])
    const ended = async () =>
      (await node.query('select 1 from watch w join video v on v.id = w.video_id where v.uuid = $1', [remote.uuid])).length
    const before = await ended()
    await Promise.all([watch(video, 'dora'), watch(remote, 'dora')])
    await until(async () => (await ended()) > before)
    await node.settled()
    const last = await node.upload(bytes)
    await home.awaited('a later one', ({ activity }) => activity.type === 'Announce' && activity.object === last.url)
    expect(home.received.filter(({ activity }) => ['View', 'Create'].includes(String(activity.type)))).toEqual([])
    await refused([])
  })

  it('many viewers of a remote video are one message', async () => {
    const document = home.video(alice)
    await node.deliver(alice.account, home.activity(alice.account, 'Create', document))
    const crowded = { base: node.base, uuid: String(document.uuid) }
    const counted = 'select 1 from viewing w join video v on v.id = w.video_id where v.uuid = $1 and w.untold_views = 12'
    // No message is sent before all of them were there, even on a slow machine.
    await node.query("insert into viewing (video_id, told_at) select id, now() + interval '1 hour' from video where uuid = $1", [
      crowded.uuid,
    ])
    await Promise.all(Array.from({ length: 12 }, (_, index) => watch(crowded, `viewer ${index}`)))
    await until(async () => (await node.query(counted, [crowded.uuid])).length === 1, { what: 'twelve views' })
    await node.query('update viewing set told_at = null where untold_views = 12')
    const views = await home.awaited('the views', ({ activity }) => activity.object === document.id && activity.expires === undefined)
    expect(views.activity).toMatchObject({ result: counter(12) })
    expect(viewsOf(document.id).length).toBeLessThanOrEqual(3)
  })

  it('a plain view of another server counts, once for each activity', async () => {
    const one = view(away, away.instance, video.url)
    await node.deliver(away.instance, one)
    await node.deliver(away.instance, one)
    await node.deliver(away.instance, view(away, away.instance, video.url, { result: counter(4) }))
    expect(await shown(video)).toMatchObject({ views: 5 })
  })

  it('a remote viewer counts until it expires, once however often it is sent', async () => {
    const id = away.id('views')
    for (let index = 0; index < 3; index += 1) {
      await node.deliver(away.instance, view(away, away.instance, video.url, { id, expires: soon() }))
    }
    await node.deliver(home.instance, view(home, home.instance, video.url, { expires: soon(), result: counter(6) }))
    await becomes(video, { viewers: 7, views: 0 })
    await becomes(video, { viewers: 0 })
  })

  it('views by one server of a local video are limited', async () => {
    for (let index = 0; index < 25; index += 1) {
      await node.deliver(away.instance, view(away, away.instance, video.url, { expires: soon() }))
      await node.deliver(away.instance, view(away, away.instance, video.url))
    }
    await node.deliver(away.instance, view(away, away.instance, video.url, { result: counter(1_000_000_000) }))
    expect(await shown(video)).toMatchObject({ views: 20 })
    expect((await shown(video)).viewers).toBeLessThanOrEqual(20)
    const rows = await node.query('select 1 from remote_viewer where video_id = $1', [video.id])
    expect(rows.length).toBeLessThanOrEqual(20)
  })

  it('views of a remote video are accepted from its server only, and not forwarded', async () => {
    const document = home.video(alice)
    await node.deliver(alice.account, home.activity(alice.account, 'Create', document))
    const known = { base: node.base, uuid: String(document.uuid) }
    for (const more of [{}, { expires: soon() }, { expires: soon(), result: counter(9) }]) {
      await node.deliver(away.instance, view(away, away.instance, document.id, more))
    }
    expect(await shown(known)).toEqual({ views: 0, viewers: 0 })
    await node.deliver(home.instance, view(home, home.instance, document.id, { expires: soon(), result: counter(9) }))
    await node.deliver(home.instance, view(home, home.instance, document.id))
    await becomes(known, { views: 1, viewers: 9 })
    expect(viewsOf(document.id)).toEqual([])
  })

  it('a view with an id of another server has no effect', async () => {
    await node.deliver(away.instance, view(away, away.instance, video.url, { id: home.id('views') })).catch(() => undefined)
    expect(await shown(video)).toEqual({ views: 0, viewers: 0 })
  })

  it('a WatchAction of a local video is accepted from its own server, once, within bounds', async () => {
    const action = (peer: FakePeer, more: JsonObject = {}): JsonObject => ({
      id: peer.id('watches'),
      type: 'WatchAction',
      uuid: crypto.randomUUID(),
      object: video.url,
      duration: 'PT2S',
      actionStatus: 'CompletedActionStatus',
      startTime: '2026-11-20T12:00:00.000Z',
      endTime: '2026-11-20T12:01:00.000Z',
      watchSections: [{ startTimestamp: 0, endTimestamp: 2 }],
      ...more,
    })
    const sent = async (object: JsonObject) => await node.deliver(away.instance, away.activity(away.instance, 'Create', object))
    const stored = () =>
      node.query<{ url: string; seconds: number; sections: unknown }>(
        'select url, seconds, sections from watch where host_id is not null order by id',
      )
    const before = await stored()
    const good = action(away)
    await sent(good)
    await sent(good)
    expect((await stored()).slice(before.length)).toEqual([{ url: good.id, seconds: 2, sections: [[0, 2]] }])
    for (const bad of [
      action(home),
      action(away, { object: remote.url }),
      action(away, { object: `${node.base}/videos/watch/${crypto.randomUUID()}` }),
      action(away, { watchSections: [{ startTimestamp: 0, endTimestamp: 100_000 }] }),
      action(away, { watchSections: [{ startTimestamp: 2, endTimestamp: 0 }] }),
      action(away, { watchSections: 'all of it' }),
      action(away, { endTime: '2026-11-20T11:00:00.000Z' }),
      action(away, { actionStatus: 'ActiveActionStatus' }),
      action(away, { uuid: 'none' }),
    ]) {
      await sent(bad)
    }
    const long = Array.from({ length: 2000 }, () => ({ startTimestamp: 0, endTimestamp: 1 }))
    await sent(action(away, { watchSections: long }))
    const [, last, ...others] = (await stored()).slice(before.length)
    expect(last?.seconds).toBeLessThanOrEqual(100)
    expect(others).toEqual([])
  })
})

const passwordsOf = (privacy: string): Record<string, string> => (privacy === '5' ? { 'videoPasswords[]': 'a password' } : {})

describe('with another node', () => {
  let a: FederatedNode
  let b: FederatedNode
  beforeAll(async () => {
    ;[a, b] = await Promise.all([startFederatedNode(QUICK), startFederatedNode(QUICK)])
    await follow(b, { hosts: [a.host] })
    await follow(a, { hosts: [b.host] })
  })
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()])
  })

  it('a view on one node of a video of the other counts on both, viewers are shown, and watched segments arrive', async () => {
    const [owner, other] = [a, b]
    const { uuid, id } = await owner.upload(bytes)
    const [onOwner, onOther] = [
      { base: owner.base, uuid },
      { base: other.base, uuid },
    ]
    await until(async () => (await other.query('select 1 from video where uuid = $1', [uuid]))[0])
    await watch(onOther, 'a viewer of the other')
    await becomes(onOther, { viewers: 1 })
    await becomes(onOwner, { viewers: 1 })
    await becomes(onOwner, { views: 1 })
    await becomes(onOther, { views: 1 })
    await watch(onOwner, 'a viewer of the owner')
    await becomes(onOwner, { views: 2 })
    await becomes(onOther, { views: 2 })
    await until(async () => {
      const rows = await owner.query<{ host_id: number | null; seconds: number }>(
        'select host_id, seconds from watch where video_id = $1',
        [id],
      )
      return rows.length === 2 && rows.every(({ seconds }) => seconds === 2) && rows.some(({ host_id }) => host_id)
    })
    await becomes(onOwner, { viewers: 0 })
    await becomes(onOther, { viewers: 0 })
  })
})
