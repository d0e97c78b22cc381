// Notifications about the server's work and remote activity, and the list of notifications.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { notificationDefaults } from '../../../src/actors/notification-setting/index.ts'
import { introduce } from '../../federation/support.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../../support/fake-peer.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'
import { startVideoOrigin, type VideoOrigin } from '../../support/video-origin.ts'
import { type NotificationServer, type Person, startNotificationServer, type Told } from './server.ts'

const NEW_VIDEO = 1
const NEW_COMMENT = 2
const PUBLISHED = 6
const IMPORTED = 7
const IMPORT_FAILED = 8
const FOLLOW = 10
const MENTION = 11
const EDITED = 19
const LADDER = {
  '0p': false,
  '144p': true,
  '240p': false,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}

let server: NotificationServer
let site: VideoOrigin
let peer: FakePeer
let alice: Person
let bob: Person
let mallory: { account: PeerActor; channel: PeerActor }

beforeAll(async () => {
  const transcoding = { enabled: true, resolutions: LADDER, always_transcode_original_resolution: false }
  ;[server, site, peer] = await Promise.all([
    startNotificationServer({
      transcoding,
      video_studio: { enabled: true },
      storyboards: { enabled: false },
      import: { videos: { http: { enabled: true } } },
      vireo: {
        federation: { allow_http: true, allow_private_addresses: true },
        imports: { silence_timeout: '30 seconds' },
      },
    }),
    startVideoOrigin('localhost'),
    startFakePeer(),
  ])
  alice = await server.person('alice')
  bob = await server.person('bob')
  mallory = await introduce(server, peer, 'mallory')
  const both = Object.fromEntries(Object.keys(notificationDefaults).map((name) => [name, 3]))
  for (const person of [alice, bob]) await server.wants(person, both)
})
afterAll(async () => {
  await server?.stop()
  await Promise.all([site?.close(), peer?.close()])
})

const ofType = (notified: Told[], ...types: number[]) => notified.filter(({ type }) => types.includes(type))
const awaitTold = (person: Person, type: number, count = 1) =>
  until(
    async () => {
      const found = ofType(await server.notificationsOf(person), type)
      return found.length >= count ? found : undefined
    },
    { what: `a notification of type ${type}` },
  )

describe('the owner of a video', () => {
  let video: { id: number; uuid: string }

  it('is notified of the publication after transcoding, and subscribers not before', async () => {
    await bob.client.send('POST', '/api/v1/users/me/subscriptions', { uri: `alice_channel@${server.host}` })
    video = await server.uploadBy(alice, { waitTranscoding: 'true' })
    expect(await awaitTold(alice, PUBLISHED)).toMatchObject([{ video: { id: video.id } }])
    expect(await awaitTold(bob, NEW_VIDEO)).toMatchObject([{ video: { id: video.id, channel: { name: 'alice_channel' } } }])
    const [order] = await server.query<{ inOrder: boolean }>(
      `select n.created_at >= v.published_at as "inOrder" from notification n join video v on v.id = n.video_id
       where n.type = ${NEW_VIDEO} and n.user_id = $1`,
      [bob.userId],
    )
    expect(order).toEqual({ inOrder: true })
  })

  it('is notified when an edition is done', async () => {
    await alice.client.send('POST', `/api/v1/videos/${video.uuid}/studio/edit`, {
      tasks: [{ name: 'cut', options: { start: 1 } }],
    })
    expect(await awaitTold(alice, EDITED)).toMatchObject([{ video: { id: video.id } }])
    await until(async () => (await server.query("select 1 from transcoding where state in ('planned', 'running')")).length === 0)
    expect(ofType(await server.notificationsOf(alice), PUBLISHED)).toHaveLength(1)
    expect(ofType(await server.notificationsOf(bob), NEW_VIDEO)).toHaveLength(1)
  })
})

describe('a user who imports', () => {
  const importFrom = async (path: string) => {
    const me = await alice.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    const body = { channelId: me.videoChannels[0]?.id, privacy: 3, targetUrl: `http://localhost:${site.port}${path}` }
    return await alice.client.send<{ id: number; video: { id: number } }>('POST', '/api/v1/videos/imports', body)
  }

  it('is notified when an import is done', async () => {
    site.answer('/good.mp4', { type: 'video/mp4', bytes: await readFile(await media('small.mp4')) })
    const { id, video } = await importFrom('/good.mp4')
    expect(await awaitTold(alice, IMPORTED)).toMatchObject([
      { videoImport: { id, video: { id: video.id }, targetUrl: `http://localhost:${site.port}/good.mp4` } },
    ])
  })

  it('is notified of each failed attempt', async () => {
    const { id } = await importFrom('/nowhere.mp4')
    const [first] = await awaitTold(alice, IMPORT_FAILED)
    expect(first?.videoImport).toMatchObject({ id })
    expect(first?.videoImport?.video).toBeUndefined()
    await alice.client.send('POST', `/api/v1/videos/imports/${id}/retry`)
    expect(await awaitTold(alice, IMPORT_FAILED, 2)).toHaveLength(2)
  })
})

describe('from another server', () => {
  it('a follower notifies', async () => {
    const follow = peer.activity(mallory.account, 'Follow', `${server.base}/video-channels/alice_channel`)
    await server.deliver(mallory.account, follow)
    const [notified] = ofType(await server.notificationsOf(alice), FOLLOW).filter(
      ({ actorFollow }) => actorFollow?.follower.host === peer.host,
    )
    expect(notified?.actorFollow).toMatchObject({ follower: { name: 'mallory' }, following: { type: 'channel' } })
  })

  it('a comment notifies, and so does a mention, whatever its text', async () => {
    const video = await server.query<{ url: string; id: number }>('select url, id from video where not remote order by id limit 1')
    const [{ url, id } = { url: '', id: 0 }] = video
    const tag = [
      { type: 'Mention', href: `${server.base}/accounts/bob`, name: '@bob' },
      { type: 'Mention', href: mallory.account.url, name: '@mallory' },
    ]
    const note = peer.note({
      author: mallory.account.url,
      inReplyTo: url,
      content: '<p>Hello @<span>bob</span> and @root</p>',
      more: { mediaType: 'text/html', tag },
    })
    await server.deliver(mallory.account, peer.activity(mallory.account, 'Create', note))
    expect(ofType(await server.notificationsOf(alice), NEW_COMMENT)).toMatchObject([
      { comment: { account: { name: 'mallory' }, video: { id } } },
    ])
    expect(ofType(await server.notificationsOf(bob), MENTION)).toMatchObject([{ comment: { account: { name: 'mallory' } } }])
    const toRoot = await server.client.get<{ total: number }>('/api/v1/users/me/notifications')
    expect(toRoot.total).toBe(0)
  })

  it('a new video notifies, and one that is older than the subscription does not', async () => {
    const uri = `mallory_channel@${peer.host}`
    await bob.client.send('POST', '/api/v1/users/me/subscriptions', { uri })
    const { activity } = await peer.awaited('the Follow', ({ activity }) => activity.type === 'Follow')
    await server.deliver(mallory.channel, peer.activity(mallory.channel, 'Accept', activity))
    const announce = async (published: Date, name: string) => {
      const at = { published: published.toISOString(), updated: published.toISOString() }
      const video = peer.video({ ...mallory, more: { ...at, name } })
      await server.deliver(mallory.account, peer.activity(mallory.account, 'Create', video))
      await server.deliver(mallory.channel, peer.activity(mallory.channel, 'Announce', video.id))
    }
    const before = ofType(await server.notificationsOf(bob), NEW_VIDEO).length
    await announce(new Date(Date.now() - 3_600_000), 'An old one')
    await announce(new Date(Date.now() + 60_000), 'A new one')
    const notified = ofType(await server.notificationsOf(bob), NEW_VIDEO)
    expect(notified.map(({ video }) => video?.name)).toEqual(['A new one', ...notified.slice(1).map(({ video }) => video?.name)])
    expect(notified).toHaveLength(before + 1)
    expect(notified[0]?.video?.channel.host).toBe(peer.host)
  })
})

it('each of these was pushed once, and one mail was requested', async () => {
  const types = new Set<number>()
  for (const person of [alice, bob]) {
    const notified = await server.query<{ id: number; type: number }>('select id, type from notification where user_id = $1 order by id', [
      person.userId,
    ])
    const ids = notified.map(({ id }) => Number(id))
    expect({ pushed: await server.pushed(person), mailed: await server.mailed(person) }).toEqual({
      pushed: ids,
      mailed: ids,
    })
    for (const { type } of notified) types.add(type)
  }
  expect([...types].toSorted((a, b) => a - b)).toEqual([
    NEW_VIDEO,
    NEW_COMMENT,
    PUBLISHED,
    IMPORTED,
    IMPORT_FAILED,
    FOLLOW,
    MENTION,
    EDITED,
  ])
})

describe('the list of notifications', () => {
  const path = '/api/v1/users/me/notifications'
  const read = (person: Person, ids: number[]) => person.client.send('POST', `${path}/read`, { ids })

  it('shows which are read, and is filtered and sorted by it', async () => {
    const [newest, second, ...others] = await server.notificationsOf(alice)
    if (!newest || !second) throw new Error('There is too little in the list.')
    expect(others.length).toBeGreaterThan(1)
    await read(alice, [second.id, 2_000_000_000])
    const unread = await server.notificationsOf(alice, '&unread=true')
    expect(unread.map(({ id }) => id)).toEqual([newest.id, ...others.map(({ id }) => id)])
    expect((await server.notificationsOf(alice, '&unread=false')).map(({ id }) => id)).toEqual([second.id])
    expect((await server.notificationsOf(alice, '&sort=-read'))[0]).toMatchObject({ id: second.id, read: true })
    expect((await server.notificationsOf(alice, '&sort=read')).at(-1)).toMatchObject({ id: second.id })
    expect((await server.notificationsOf(alice, '&sort=createdAt')).map(({ id }) => id)).toEqual(
      (await server.notificationsOf(alice)).map(({ id }) => id).toReversed(),
    )
    const page = await alice.client.get<{ total: number; data: Told[] }>(`${path}?start=1&count=1`)
    expect(page).toMatchObject({ total: others.length + 2, data: [{ id: second.id }] })
    expect(ofType(await server.notificationsOf(alice, `&typeOneOf=${FOLLOW}&typeOneOf=${EDITED}`), FOLLOW, EDITED)).toEqual(
      await server.notificationsOf(alice, `&typeOneOf=${FOLLOW}&typeOneOf=${EDITED}`),
    )
  })

  it('is marked as read by its user alone, one by one or completely', async () => {
    const [one] = await server.notificationsOf(alice, '&unread=true')
    if (!one) throw new Error('There is nothing unread.')
    await read(bob, [one.id])
    await bob.client.send('POST', `${path}/read-all`)
    expect((await server.notificationsOf(alice, '&unread=true'))[0]?.id).toBe(one.id)
    expect(await server.notificationsOf(bob, '&unread=true')).toEqual([])
    await alice.client.send('POST', `${path}/read-all`)
    expect(await server.notificationsOf(alice, '&unread=true')).toEqual([])
  })

  it('loses notifications of removed objects, and old ones', async () => {
    const [edited] = ofType(await server.notificationsOf(alice), EDITED)
    await alice.client.send('DELETE', `/api/v1/videos/${edited?.video?.uuid}`)
    expect((await server.notificationsOf(alice)).filter(({ video }) => video?.id === edited?.video?.id)).toEqual([])
    await server.query("update notification set created_at = now() - interval '181 days' where user_id = $1", [alice.userId])
    await server.node.restart()
    await until(async () => (await server.query('select 1 from notification where user_id = $1', [alice.userId])).length === 0, {
      what: 'the end of what is old',
    })
    expect((await server.query('select 1 from notification where user_id = $1', [bob.userId])).length).toBeGreaterThan(0)
  })
})
