// What a node sends: recipients, once each, and documents; and what it never sends.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, post, type Received, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, secondChannel, startFederatedNode } from './support.ts'

let node: FederatedNode
/** Follows the local instance, account and channel. */
let near: FakePeer
/** Follows the local instance only. */
let far: FakePeer
let nora: { account: PeerActor; channel: PeerActor }
let fred: { account: PeerActor; channel: PeerActor }
let bytes: Buffer

const root = () => `${node.base}/accounts/root`
const channel = () => `${node.base}/video-channels/root_channel`

beforeAll(async () => {
  ;[node, near, far] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  nora = await introduce(node, near, 'nora')
  fred = await introduce(node, far, 'fred')
  const second = await near.account('second')
  for (const target of [node.instance, root(), channel()]) {
    for (const by of [nora.account, second]) await node.deliver(by, near.activity(by, 'Follow', target))
  }
  await node.deliver(far.instance, far.activity(far.instance, 'Follow', node.instance))
  await near.awaited('all answers', () => near.of('Accept').length === 6)
  await far.awaited('the answer', () => far.of('Accept').length === 1)
})
afterAll(async () => {
  await Promise.all([near?.close(), far?.close(), node?.stop()])
})
beforeEach(() => {
  for (const peer of [near, far]) {
    peer.received.length = 0
    peer.answerPosts(undefined)
  }
})

const objectIdOf = ({ activity }: Received) =>
  typeof activity.object === 'string' ? activity.object : ((activity.object as JsonObject | undefined)?.id ?? null)
const about = (peer: FakePeer, url: string) => peer.received.filter((one) => String(objectIdOf(one)).startsWith(url))
const shortly = (one: Received) => ({ type: one.activity.type, actor: one.activity.actor, path: one.path })
const heard = (peer: FakePeer, type: string, url: string) =>
  peer.awaited(`${type} of ${url}`, (one) => one.activity.type === type && objectIdOf(one) === url)
/** A public video, sent to both peers: earlier activities of the same actors have arrived then. */
async function everythingBefore(): Promise<void> {
  const { url } = await node.upload(bytes, { name: 'The last' })
  await heard(near, 'Create', url)
  for (const peer of [near, far]) {
    await peer.awaited(
      'the announce of the instance',
      (one) => one.activity.type === 'Announce' && one.activity.actor === node.instance && objectIdOf(one) === url,
    )
  }
}
const byType = (one: { type: unknown; actor: unknown }, other: { type: unknown; actor: unknown }) =>
  `${one.type} ${one.actor}` < `${other.type} ${other.actor}` ? -1 : 1

describe('a public video', () => {
  let video: { uuid: string; url: string }

  it('sends a Create by its account and Announces by channel and instance, once for each shared inbox', async () => {
    video = await node.upload(bytes)
    await everythingBefore()
    expect(about(near, video.url).map(shortly).toSorted(byType)).toEqual([
      { type: 'Announce', actor: node.instance, path: '/inbox' },
      { type: 'Announce', actor: channel(), path: '/inbox' },
      { type: 'Create', actor: root(), path: '/inbox' },
    ])
    expect(about(far, video.url).map(shortly)).toEqual([{ type: 'Announce', actor: node.instance, path: '/inbox' }])
    const { activity } = await heard(near, 'Create', video.url)
    expect(activity).toMatchObject({
      to: ['https://www.w3.org/ns/activitystreams#Public'],
      cc: [`${root()}/followers`],
      object: { type: 'Video', uuid: video.uuid, name: 'A video of ours' },
      signature: { type: 'RsaSignature2017' },
    })
  })

  it('that changes sends one Update to everybody who got the Create', async () => {
    await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { name: 'Another name' })
    for (const peer of [near, far]) {
      const { activity } = await heard(peer, 'Update', video.url)
      expect(activity).toMatchObject({ actor: root(), object: { name: 'Another name' } })
    }
  })

  it('that a server shared is sent to that server too', async () => {
    const other = await startFakePeer()
    const sharer = await other.account('sharer')
    await node.deliver(sharer, other.activity(sharer, 'Announce', video.url))
    await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { name: 'Shared' })
    for (const peer of [near, far, other]) await heard(peer, 'Update', video.url)
    await other.close()
  })

  it('with changed likes sends one Update with the new counts', async () => {
    for (const [peer, by] of [
      [near, nora.account],
      [far, fred.account],
    ] as const) {
      await node.deliver(by, peer.activity(by, 'Like', video.url))
    }
    await node.client.send('PUT', `/api/v1/videos/${video.uuid}/rate`, { rating: 'dislike' })
    for (const peer of [near, far]) await heard(peer, 'Update', video.url)
    await everythingBefore()
    for (const peer of [near, far]) {
      expect(about(peer, video.url).map(({ activity }) => activity.type)).toEqual(['Update'])
    }
    const counts = await node.client.get(`/api/v1/videos/${video.uuid}`)
    expect(counts).toMatchObject({ likes: 2, dislikes: 1 })
  })

  it('that becomes private is deleted on other servers, and created again when it is public', async () => {
    const ids: unknown[] = []
    for (const _time of [1, 2]) {
      for (const peer of [near, far]) peer.received.length = 0
      await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 3 })
      for (const peer of [near, far]) await heard(peer, 'Delete', video.url)
      await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 1 })
      // A server that got the Delete gets a Create of the same account afterwards, even if it follows the instance alone.
      for (const peer of [near, far]) await heard(peer, 'Create', video.url)
      await heard(far, 'Announce', video.url)
      ids.push(...far.received.filter(({ activity }) => activity.actor === root()).map(({ activity }) => activity.id))
    }
    // A server that deduplicates by id accepts each of them.
    expect(new Set(ids).size).toBe(4)
  })

  it('that becomes unlisted is deleted on other servers', async () => {
    await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 2 })
    for (const peer of [near, far]) await heard(peer, 'Delete', video.url)
    for (const peer of [near, far]) peer.received.length = 0
    await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 1 })
    await heard(near, 'Create', video.url)
    await heard(far, 'Announce', video.url)
  })

  it('that moves to another channel is announced by the new one, and no longer by the old one', async () => {
    const other = await secondChannel(node)
    await node.deliver(nora.account, near.activity(nora.account, 'Follow', other.url))
    await node.client.send('PUT', `/api/v1/videos/${video.uuid}`, { channelId: other.id })
    const announces = await near.awaited(
      'the announce of the new channel',
      ({ activity }) => activity.type === 'Announce' && activity.actor === other.url,
    )
    expect(objectIdOf(announces)).toBe(video.url)
    const undo = await near.awaited(
      'the end of the old announce',
      ({ activity }) => activity.type === 'Undo' && activity.actor === channel(),
    )
    expect(undo.activity.object).toMatchObject({ type: 'Announce', actor: channel(), object: video.url })
    const shares = await node.query(
      'select a.url from share s join actor a on a.id = s.actor_id join video v on v.id = s.video_id where v.uuid = $1 and a.host_id is null order by 1',
      [video.uuid],
    )
    expect(shares).toEqual([{ url: node.instance }, { url: other.url }])
  })

  it('that is removed is deleted by its account everywhere', async () => {
    await node.client.send('DELETE', `/api/v1/videos/${video.uuid}`)
    for (const peer of [near, far]) {
      const { activity } = await heard(peer, 'Delete', video.url)
      expect(activity).toMatchObject({ actor: root() })
    }
  })
})

describe('a video that is not public', () => {
  it.each([
    ['unlisted', { privacy: '2' }],
    ['private', { privacy: '3' }],
    ['internal', { privacy: '4' }],
    ['protected by a password', { privacy: '5', 'videoPasswords[0]': 'secret' }],
  ])('%s is never sent: neither it nor its changes, comments, ratings and removal', async (_what, fields) => {
    const { uuid } = await node.upload(bytes, { name: 'Not for others', ...fields })
    const password = { 'x-peertube-video-password': 'secret', 'content-type': 'application/json' }
    await node.client.send('PUT', `/api/v1/videos/${uuid}`, { name: 'Still not' })
    const commented = await node.client.raw(`/api/v1/videos/${uuid}/comment-threads`, {
      method: 'POST',
      headers: password,
      body: JSON.stringify({ text: 'A secret' }),
    })
    expect(commented.status).toBe(200)
    const { comment } = (await commented.json()) as { comment: { id: number } }
    await node.client.raw(`/api/v1/videos/${uuid}/comments/${comment.id}`, { method: 'DELETE', headers: password })
    await node.client.raw(`/api/v1/videos/${uuid}/rate`, {
      method: 'PUT',
      headers: password,
      body: JSON.stringify({ rating: 'like', videoPassword: 'secret' }),
    })
    await node.client.send('DELETE', `/api/v1/videos/${uuid}`)
    await everythingBefore()
    for (const peer of [near, far]) {
      expect(peer.received.filter((one) => JSON.stringify(one.activity).includes(uuid)).map(shortly)).toEqual([])
    }
  })
})

describe('actions of a local user on a remote video', () => {
  it('are sent to its server alone', async () => {
    const video = near.video(nora)
    await node.deliver(nora.account, near.activity(nora.account, 'Create', video))
    const [row] = await node.query<{ uuid: string }>('select uuid from video where url = $1', [video.id])
    const { comment } = await node.client.send<{ comment: { id: number; url: string } }>(
      'POST',
      `/api/v1/videos/${row?.uuid}/comment-threads`,
      { text: 'From afar' },
    )
    await node.client.send('PUT', `/api/v1/videos/${row?.uuid}/rate`, { rating: 'like' })
    await heard(near, 'Like', video.id)
    await node.client.send('PUT', `/api/v1/videos/${row?.uuid}/rate`, { rating: 'none' })
    await node.client.send('DELETE', `/api/v1/videos/${row?.uuid}/comments/${comment.id}`)
    await heard(near, 'Delete', comment.url)
    await everythingBefore()
    const created = near.of('Create').find((one) => objectIdOf(one) === comment.url)
    expect(created?.activity).toMatchObject({
      actor: root(),
      object: { type: 'Note', inReplyTo: video.id, attributedTo: root(), content: '<p>From afar</p>' },
    })
    expect(near.received.map(({ activity }) => activity.type)).toEqual(expect.arrayContaining(['Create', 'Like', 'Undo', 'Delete']))
    const mentions = [video.id, comment.url]
    const leaked = far.received.filter((one) => mentions.some((url) => JSON.stringify(one.activity).includes(url)))
    expect(leaked.map(shortly)).toEqual([])
  })
})

describe('a remote comment on a local video', () => {
  let video: { uuid: string; url: string }
  beforeAll(async () => {
    video = await node.upload(bytes)
  })
  const comment = (more: { content?: string; inReplyTo?: string } = {}) =>
    far.activity(fred.account, 'Create', far.note({ author: fred.account.url, inReplyTo: video.url, ...more }))
  const idOf = (activity: JsonObject) => String((activity.object as JsonObject).id)

  it('is forwarded unchanged to all but its own server, and so is its Delete', async () => {
    const activity = await signedInside(comment(), fred.account)
    await node.deliver(fred.account, activity)
    const forwarded = await heard(near, 'Create', idOf(activity))
    expect(forwarded.activity).toEqual(activity)
    expect(forwarded.headers.signature).toContain(`keyId="${root()}#main-key"`)
    const removal = await signedInside(far.activity(fred.account, 'Delete', { type: 'Tombstone', id: idOf(activity) }), fred.account)
    await node.deliver(fred.account, removal)
    expect((await heard(near, 'Delete', idOf(activity))).activity).toEqual(removal)
    await everythingBefore()
    expect(about(far, idOf(activity)).map(shortly)).toEqual([
      { type: 'ApproveReply', actor: root(), path: new URL(`${fred.account.url}/inbox`).pathname },
    ])
  })

  it('is forwarded once, however often it is received', async () => {
    const made = comment()
    for (let time = 0; time < 3; time += 1) {
      const activity = await signedInside({ ...made, id: far.id() }, fred.account)
      await node.deliver(fred.account, activity)
    }
    await everythingBefore()
    expect(about(near, idOf(made))).toHaveLength(1)
  })

  it('without an embedded signature is not forwarded', async () => {
    const activity = comment()
    await node.deliver(fred.account, activity)
    await everythingBefore()
    expect(about(near, idOf(activity))).toEqual([])
  })

  it('pending review is not forwarded', async () => {
    const moderated = await node.upload(bytes, { commentsPolicy: '3' })
    const activity = await signedInside(comment({ inReplyTo: moderated.url }), fred.account)
    await node.deliver(fred.account, activity)
    expect(await node.query('select held_for_review as held from comment where url = $1', [idOf(activity)])).toEqual([{ held: true }])
    await everythingBefore()
    expect(about(near, idOf(activity))).toEqual([])
  })

  it('is refused where comments are disabled', async () => {
    const closed = await node.upload(bytes, { commentsPolicy: '2' })
    const activity = await signedInside(comment({ inReplyTo: closed.url }), fred.account)
    expect((await post(node, fred.account, activity)).status).toBe(204)
    await everythingBefore()
    expect(await node.query('select 1 from comment where url = $1', [idOf(activity)])).toEqual([])
    expect(about(near, idOf(activity))).toEqual([])
  })
})
