// Mutes by a user: a muted account or server cannot follow the user's account and channels, and its comments are hidden from the user
// only.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, type Received, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }

beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  alice = await introduce(node, peer, 'alice')
  video = await node.upload(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

const mine = '/api/v1/users/me/blocklist'
const mutes = [
  {
    what: 'account',
    mute: () => node.client.send('POST', `${mine}/accounts`, { accountName: `alice@${peer.host}` }),
    unmute: () => node.client.send('DELETE', `${mine}/accounts/alice@${peer.host}`),
  },
  {
    what: 'server',
    mute: () => node.client.send('POST', `${mine}/servers`, { host: peer.host }),
    unmute: () => node.client.send('DELETE', `${mine}/servers/${peer.host}`),
  },
]

const stateOf = async (target: string) =>
  (
    await node.query<{ state: string }>(
      `select f.state from follow f join actor a on a.id = f.follower_id join actor b on b.id = f.target_id
       where a.url = $1 and b.url = $2`,
      [alice.account.url, target],
    )
  )[0]?.state
const comments = async (authorization?: string) => {
  const answer = await fetch(`${node.base}/api/v1/videos/${video.uuid}/comment-threads`, {
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  })
  const { data } = (await answer.json()) as { data: { account: { name: string } }[] }
  return data.map((one) => one.account.name)
}

describe.each(mutes)('a muted $what', ({ what, mute, unmute }) => {
  it('has its old and new follows of the user and the channels rejected, but not those of the instance', async () => {
    const targets = [`${node.base}/accounts/root`, `${node.base}/video-channels/root_channel`]
    const follows = [...targets, node.instance].map((target) => peer.activity(alice.account, 'Follow', target))
    for (const follow of follows) await node.deliver(alice.account, follow)
    for (const target of targets) expect(await stateOf(target)).toBe('accepted')
    peer.received.length = 0

    await mute()
    for (const target of targets) {
      await until(async () => (await stateOf(target)) === 'rejected', { what: `the end of the follow of ${target}` })
      const { path } = await peer.awaited('the Reject', (one) => one.activity.type === 'Reject' && one.activity.actor === target)
      expect(path).toBe(`${new URL(alice.account.url).pathname}/inbox`)
    }
    for (const follow of follows) await node.deliver(alice.account, { ...follow, id: peer.id() })
    for (const target of targets) expect(await stateOf(target)).toBe('rejected')
    expect(await stateOf(node.instance)).toBe('accepted')

    await unmute()
    for (const follow of follows) await node.deliver(alice.account, { ...follow, id: peer.id() })
    for (const target of targets) expect(await stateOf(target)).toBe('accepted')
  })

  it('is refused by the actor it is: the instance actor of a muted server cannot follow channels either', async () => {
    const target = `${node.base}/video-channels/root_channel`
    const request = () => peer.activity(peer.instance, 'Follow', target)
    await mute()
    peer.received.length = 0
    await node.deliver(peer.instance, request())
    const isAnswer = ({ activity: { type, object } }: Received) =>
      /Accept|Reject/.test(String(type)) && (object as JsonObject).actor === peer.instance.url
    const answer = await peer.awaited('the answer', isAnswer)
    expect(answer.activity.type).toBe(what === 'server' ? 'Reject' : 'Accept')
    await unmute()
    await node.deliver(peer.instance, request())
    await peer.awaited('the Accept', ({ activity }) => activity.type === 'Accept')
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Undo', request()))
  })

  it('has its comments hidden from the user, and from nobody else', async () => {
    const note = peer.note({ author: alice.account.url, inReplyTo: video.url })
    await node.deliver(alice.account, peer.activity(alice.account, 'Create', note))
    await mute()
    expect(await comments(node.client.authorization)).not.toContain('alice')
    expect(await comments()).toContain('alice')
    await unmute()
    expect(await comments(node.client.authorization)).toContain('alice')
  })
})

it('a block by the instance hides from everybody', async () => {
  await node.client.send('POST', '/api/v1/server/blocklist/servers', { host: peer.host })
  expect(await comments()).not.toContain('alice')
  expect(await comments(node.client.authorization)).not.toContain('alice')
})
