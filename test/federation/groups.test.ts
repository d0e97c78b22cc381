// Servers of communities (FEP-1b12): what channels announce to them, and how their announced activities are handled.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, post, type Received, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
/** Runs Lemmy, and follows the local channel. */
let lemmy: FakePeer
/** Runs PeerTube, and follows the local channel. */
let tube: FakePeer
let lena: { account: PeerActor; channel: PeerActor }
let tom: { account: PeerActor; channel: PeerActor }
let mallory: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }
let bytes: Buffer

/** Fetches per minute that groups of one domain may cause. */
const FETCHES = 20

const channel = () => `${node.base}/video-channels/root_channel`

beforeAll(async () => {
  ;[node, lemmy, tube] = await Promise.all([
    startFederatedNode({ vireo: { federation: { inbox: { fetches_per_domain: FETCHES } } } }),
    startFakePeer(),
    startFakePeer(),
  ])
  bytes = await readFile(await media('small.mp4'))
  lena = await introduce(node, lemmy, 'lena')
  tom = await introduce(node, tube, 'tom')
  mallory = await introduce(node, tube, 'mallory')
  await node.deliver(lena.account, lemmy.activity(lena.account, 'Follow', channel()))
  await node.deliver(tom.account, tube.activity(tom.account, 'Follow', channel()))
  await node.query('update remote_host set software = $2 where host = $1', [lemmy.host, 'lemmy'])
  await node.query('update remote_host set software = $2 where host = $1', [tube.host, 'peertube'])
  video = await node.upload(bytes)
})
afterAll(async () => {
  await Promise.all([lemmy?.close(), tube?.close(), node?.stop()])
})
beforeEach(() => {
  for (const peer of [lemmy, tube]) peer.received.length = 0
})

const inner = ({ activity }: Received): JsonObject =>
  typeof activity.object === 'object' && activity.object !== null ? (activity.object as JsonObject) : {}
const announced = (type: string, fits: (activity: JsonObject) => boolean) =>
  lemmy.awaited(`the Announce of a ${type}`, (one) => one.activity.type === 'Announce' && inner(one).type === type && fits(inner(one)))
const idOf = (value: unknown) => (typeof value === 'string' ? value : (value as JsonObject).id)
const textOf = async (url: string) => (await node.query<{ text: string }>('select text from comment where url = $1', [url]))[0]?.text

describe('activities below a local video', () => {
  it('a local comment is announced by the channel; other servers get only the Create', async () => {
    const { comment } = await node.client.send<{ comment: { id: number; url: string } }>(
      'POST',
      `/api/v1/videos/${video.uuid}/comment-threads`,
      { text: 'Hello' },
    )
    const { activity } = await announced('Create', ({ object }) => idOf(object) === comment.url)
    expect(activity).toMatchObject({
      actor: channel(),
      to: ['https://www.w3.org/ns/activitystreams#Public'],
      cc: [`${channel()}/followers`],
      object: { type: 'Create', actor: `${node.base}/accounts/root`, object: { type: 'Note', id: comment.url } },
    })
    await tube.awaited('the Create', (one) => one.activity.type === 'Create' && inner(one).id === comment.url)
    await node.client.send('DELETE', `/api/v1/videos/${video.uuid}/comments/${comment.id}`)
    await announced('Delete', ({ object }) => object === comment.url)
    await tube.awaited('the Delete', (one) => one.activity.object === comment.url)
    expect(lemmy.received.filter(({ activity: { type } }) => type === 'Create' || type === 'Delete')).toEqual([])
    expect(tube.received.filter((one) => one.activity.type === 'Announce' && inner(one).type !== undefined)).toEqual([])
  })

  it('a remote comment and a like are announced unchanged', async () => {
    const note = tube.note({ author: tom.account.url, inReplyTo: video.url })
    const create = await signedInside(tube.activity(tom.account, 'Create', note), tom.account)
    await node.deliver(tom.account, create)
    const { '@context': _context, ...bare } = create
    const announcement = await announced('Create', ({ id }) => id === create.id)
    expect(inner(announcement)).toEqual(bare)
    // A signature would cover statements of a stranger, which may take long to canonicalise.
    expect(Object.keys(announcement.activity)).not.toContain('signature')
    expect(Object.keys(announcement.activity)).not.toContain('proof')
    const like = tube.activity(tom.account, 'Like', video.url)
    await node.deliver(tom.account, like)
    await announced('Like', ({ id }) => id === like.id)
  })
})

describe('an activity announced by a group', () => {
  const announce = (activity: unknown, by: PeerActor = lena.channel) => lemmy.activity(by, 'Announce', activity)

  it('with the signature of its actor is accepted', async () => {
    const note = tube.note({ author: tom.account.url, inReplyTo: video.url, content: 'By a group' })
    const create = await signedInside(tube.activity(tom.account, 'Create', note), tom.account)
    tube.fetched.length = 0
    await node.deliver(lena.channel, announce(create))
    expect(await textOf(note.id)).toBe('By a group')
    expect(tube.fetched).toEqual([])
  })

  it('without a signature is fetched from its origin', async () => {
    const note = tube.note({ author: tom.account.url, inReplyTo: video.url, content: 'As it is' })
    const create = tube.activity(tom.account, 'Create', note)
    tube.serve(create.id, create)
    await node.deliver(lena.channel, announce({ ...create, object: { ...note, content: 'As the group has it' } }))
    expect(await textOf(note.id)).toBe('As it is')
  })

  it('that its server does not know has no effect, and neither has one in the name of another actor', async () => {
    const before = await node.world()
    const note = tube.note({ author: tom.account.url, inReplyTo: video.url })
    await node.deliver(lena.channel, announce(tube.activity(tom.account, 'Create', note)))
    await node.deliver(lena.channel, announce(tube.activity(tom.account, 'Dislike', video.url)))
    const forged = await signedInside(tube.activity(tom.account, 'Create', note), mallory.account)
    await node.deliver(lena.channel, announce(forged))
    const elsewhere = { ...tube.activity(tom.account, 'Create', note), id: lemmy.id() }
    lemmy.serve(String(elsewhere.id), elsewhere)
    await node.deliver(lena.channel, announce(elsewhere))
    const ofUs = { ...tube.activity(tom.account, 'Like', video.url), actor: `${node.base}/accounts/root` }
    await node.deliver(lena.channel, announce(ofUs))
    expect(await node.world()).toEqual(before)
  })

  it('about unknown objects is not fetched, and a person cannot announce one', async () => {
    const create = tube.activity(tom.account, 'Create', tube.note({ author: tom.account.url, inReplyTo: tube.id() }))
    const like = tube.activity(tom.account, 'Like', tube.id('videos'))
    const known = tube.activity(tom.account, 'Dislike', video.url)
    for (const one of [create, like, known]) tube.serve(one.id, one)
    const before = await node.world()
    tube.fetched.length = 0
    await node.deliver(lena.channel, announce(create))
    await node.deliver(lena.channel, announce(like))
    await node.deliver(lena.account, announce(known, lena.account))
    expect(tube.fetched).toEqual([])
    expect(await node.world()).toEqual(before)
  })
})

describe('fetches that a group causes', () => {
  const collection = (items: JsonObject[]) =>
    JSON.stringify({
      '@context': 'https://www.w3.org/ns/activitystreams',
      type: 'OrderedCollection',
      orderedItems: items,
    })
  const announce = (activity: unknown) => lemmy.activity(lena.channel, 'Announce', activity)
  const nobody = (type: string, object: unknown) => {
    const id = tube.id()
    return {
      '@context': 'https://www.w3.org/ns/activitystreams',
      type,
      id,
      actor: `${tube.base}/accounts/n${id.slice(-12)}`,
      object,
    }
  }

  it('are none for an Undo about unknown objects', async () => {
    const items = Array.from({ length: 10 }, () => nobody('Like', tube.id('videos'))).flatMap((like) => [
      announce({ ...nobody('Undo', like), actor: like.actor }),
      announce({ ...nobody('Undo', like.id), actor: like.actor }),
    ])
    const follow = nobody('Follow', channel())
    tube.fetched.length = 0
    await post(node, lena.channel, collection([...items, announce({ ...nobody('Undo', follow), actor: follow.actor })]))
    await node.settled()
    expect(tube.fetched).toEqual([])
  })

  it('include a Like that is only known by its id, when it is undone', async () => {
    const like = tube.activity(mallory.account, 'Like', video.url)
    await node.deliver(mallory.account, like)
    const undo = tube.activity(mallory.account, 'Undo', like.id)
    tube.serve(undo.id, undo)
    await node.deliver(lena.channel, announce(undo))
    expect(await node.query('select 1 from rating where url = $1', [like.id])).toEqual([])
  })

  it('are limited per minute, whatever their object, and never repeated', async () => {
    tube.fetched.length = 0
    const likes = Array.from({ length: 2 * FETCHES }, () => nobody('Like', video.url))
    const shares = Array.from({ length: FETCHES }, () => announce(tube.id('videos')))
    const again = likes.slice(0, 5).map((like) => ({ ...like, id: tube.id() }))
    await post(node, lena.channel, collection([...again, ...likes, ...shares].map((one) => ('to' in one ? one : announce(one)))))
    await node.settled()
    expect(tube.fetched.length).toBeLessThanOrEqual(FETCHES)
    expect(new Set(tube.fetched).size).toBe(tube.fetched.length)
    // Fetches from its own server are not limited.
    const document = lemmy.video({ ...lena })
    await node.deliver(lena.channel, announce(document.id))
    expect(await node.query('select 1 from video where url = $1', [document.id])).toHaveLength(1)
  })
})

it('an emoji reaction counts as a like, and goes when it is undone', async () => {
  const likes = async () => (await node.query('select 1 from rating where video_id = $1 and type = $2', [video.id, 'like'])).length
  const before = await likes()
  const reaction = tube.activity(mallory.account, 'EmojiReact', video.url, { content: '🎈' })
  await node.deliver(mallory.account, reaction)
  expect(await likes()).toBe(before + 1)
  await node.deliver(mallory.account, tube.activity(mallory.account, 'Undo', reaction))
  expect(await likes()).toBe(before)
})
