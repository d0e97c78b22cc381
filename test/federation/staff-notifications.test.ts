// Notifications of the staff about other servers: reports, followers, automatic follows, newer versions.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { VERSION } from '../../src/version.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { type MailServer, smtpConfig, startMailServer } from '../support/mail-server.ts'
import { media } from '../support/media.ts'
import { makeNotifiedUsers, notificationMailsByAddress, notificationsSeenBy } from '../support/notified-users.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, newcomer, startFederatedNode } from './support.ts'

const ONCE = '1 with 0 mails'
const ONCE_AND_MAILED = '1 with 1 mails'
const TYPES = { reported: 3, follower: 13, autoFollow: 14, version: 18 }

let node: FederatedNode
let peer: FakePeer
let other: FakePeer
let mail: MailServer
let notifiedUsers: ReturnType<typeof makeNotifiedUsers>
let alice: PeerActor
let mod: Client
const versions = { latest: VERSION, asked: 0 }

beforeAll(async () => {
  ;[peer, other, mail] = await Promise.all([startFakePeer(), startFakePeer(), startMailServer()])
  peer.serve('/versions.json', () => {
    versions.asked += 1
    return { type: 'application/json', body: { peertube: { latestVersion: versions.latest } } }
  })
  node = await startFederatedNode({
    smtp: smtpConfig(mail),
    followers: { instance: { enabled: true, manual_approval: true } },
    peertube: { check_latest_version: { enabled: true, url: `${peer.base}/versions.json` } },
    vireo: {
      notifications: { mail_window: '1 ms' },
      schedulers: { check_peertube_version: '1 second', auto_follow_index_instances: '1 second' },
    },
  })
  notifiedUsers = makeNotifiedUsers(node, mail)
  alice = (await introduce(node, peer, 'alice')).account
  mod = await newcomer(node, 'mod', { role: 1 })
  await newcomer(node, 'second', { role: 0 })
  await newcomer(node, 'ana')
})
afterAll(async () => {
  await Promise.all([peer?.close(), other?.close(), node?.stop()])
  await mail?.close()
})

const custom = async (change: object) =>
  await node.client.send('PUT', '/api/v1/config/custom', {
    ...(await node.client.get<object>('/api/v1/config/custom')),
    ...change,
  })
const infoOf = (name: string, host: string) => ({ id: expect.any(Number), displayName: expect.any(String), name, host })
const instance = (host: string) => ({ type: 'instance', name: 'peertube', displayName: expect.any(String), host })

describe('activities of other servers', () => {
  it('a Flag notifies the moderators once, except one who mutes that server', async () => {
    await mod.send('POST', '/api/v1/users/me/blocklist/servers', { host: peer.host })
    const video = await node.upload(await readFile(await media('small.mp4')))
    const flag = peer.activity(alice, 'Flag', video.url, { content: 'This is bad' })
    await node.deliver(alice, flag)
    await node.deliver(alice, flag)
    expect(await notifiedUsers(TYPES.reported)).toEqual({ root: ONCE_AND_MAILED, second: ONCE_AND_MAILED })
    const { id, uuid } = video
    expect(await notificationsSeenBy(mod, TYPES.reported)).toEqual([])
    expect(await notificationsSeenBy(node.client, TYPES.reported)).toEqual([
      {
        read: false,
        abuse: {
          id: expect.any(Number),
          state: 1,
          video: { id, uuid, shortUUID: expect.any(String), name: 'A video of ours' },
        },
      },
    ])
  })

  it('a pending follower notifies administrators once, and is shown as pending until it is accepted', async () => {
    const follow = () => node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    await follow()
    await follow()
    expect(await notifiedUsers(TYPES.follower)).toEqual({ root: ONCE, second: ONCE })
    const view = (state: string) => ({
      read: false,
      actorFollow: {
        id: expect.any(Number),
        state,
        follower: { ...infoOf('peertube', peer.host), avatars: [] },
        following: instance(node.host),
      },
    })
    expect(await notificationsSeenBy(node.client, TYPES.follower)).toEqual([view('pending')])
    await node.client.send('POST', `/api/v1/server/followers/peertube@${peer.host}/accept`)
    expect(await notifiedUsers(TYPES.follower)).toEqual({})
    expect(await notificationsSeenBy(node.client, TYPES.follower)).toEqual([view('accepted')])
  })

  it('a removed follower that follows again notifies again, once a day; a rejected one does not', async () => {
    const ask = () => node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    const askAgain = async () => {
      await node.client.send('DELETE', `/api/v1/server/followers/peertube@${peer.host}`)
      await ask()
    }
    await node.client.send('POST', `/api/v1/server/followers/peertube@${peer.host}/reject`)
    await ask()
    expect(await notifiedUsers(TYPES.follower)).toEqual({})
    await askAgain()
    expect(await notifiedUsers(TYPES.follower)).toEqual({})
    await node.query("update notification set key = left(key, -10) || '2020-01-01' where type = $1", [TYPES.follower])
    await askAgain()
    expect(await notifiedUsers(TYPES.follower)).toEqual({ root: ONCE, second: ONCE })
  })

  it('a follower of an account is no follower of the instance', async () => {
    await node.deliver(alice, peer.activity(alice, 'Follow', `${node.base}/accounts/ana`))
    expect(await notifiedUsers(TYPES.follower)).toEqual({})
  })
})

describe('automatic actions of the server', () => {
  const view = (host: string) => ({
    read: false,
    actorFollow: {
      id: expect.any(Number),
      state: 'pending',
      follower: { ...infoOf('peertube', node.host), avatars: [] },
      following: instance(host),
    },
  })

  it('following back a server notifies administrators once; a follow by an administrator does not', async () => {
    const followings = { instance: { autoFollowBack: { enabled: true } } }
    await custom({ followings, followers: { instance: { enabled: true, manualApproval: false } } })
    await node.client.send('POST', '/api/v1/server/following', { hosts: [other.host] })
    await other.awaited('the Follow', ({ activity }) => activity.type === 'Follow')
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    await peer.awaited('the Follow', ({ activity }) => activity.type === 'Follow')
    expect(await notifiedUsers(TYPES.autoFollow)).toEqual({ root: ONCE, second: ONCE })
    expect(await notificationsSeenBy(node.client, TYPES.autoFollow)).toEqual([view(peer.host)])
  })

  it('following a server of an index notifies in the same way', async () => {
    const indexed = await startFakePeer()
    peer.serve('/index', () => ({ type: 'application/json', body: { total: 1, data: [{ host: indexed.host }] } }))
    const autoFollowIndex = { enabled: true, indexUrl: `${peer.base}/index` }
    await custom({ followings: { instance: { autoFollowIndex } } })
    await indexed.awaited('the Follow', ({ activity }) => activity.type === 'Follow', 10_000)
    expect(await notifiedUsers(TYPES.autoFollow)).toEqual({ root: ONCE, second: ONCE })
    expect((await notificationsSeenBy(node.client, TYPES.autoFollow))[0]).toEqual(view(indexed.host))
    await indexed.close()
  })

  it('a newer version notifies administrators once, and an older one never', async () => {
    const looked = async () => {
      const before = versions.asked
      await until(() => versions.asked > before + 1, { what: 'another look for versions' })
    }
    await looked()
    expect(await notifiedUsers(TYPES.version)).toEqual({})
    for (const [latest, sent] of [
      ['99.1.0', { root: ONCE_AND_MAILED, second: ONCE_AND_MAILED }],
      ['99.0.0', {}],
      ['no version', {}],
      ['99.2.0', { root: ONCE_AND_MAILED, second: ONCE_AND_MAILED }],
    ] as const) {
      versions.latest = latest
      await looked()
      await looked()
      expect({ latest, told: await notifiedUsers(TYPES.version) }).toEqual({ latest, told: sent })
    }
    expect(await notificationsSeenBy(node.client, TYPES.version)).toEqual([
      { read: false, peertube: { latestVersion: '99.2.0' } },
      { read: false, peertube: { latestVersion: '99.1.0' } },
    ])
  })
})

it('sends no unwanted mail', () => {
  expect(notificationMailsByAddress(mail)).toEqual({ 'admin@example.com': 3, 'second@example.org': 3 })
})
