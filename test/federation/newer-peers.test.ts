// Peers of newer versions: plain ids in attributedTo, the channel as audience, and unknown properties.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newUuid } from '../../src/platform/ids.ts'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

type Document = JsonObject & { id: string }

let node: FederatedNode
let peer: FakePeer
let other: FakePeer
let nora: { account: PeerActor; channel: PeerActor }

beforeAll(async () => {
  ;[node, peer, other] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  nora = await newerOwner('nora')
})
afterAll(async () => {
  await Promise.all([peer?.close(), other?.close(), node?.stop()])
})

/** A fixture, as a document of the peer. */
async function fixture(name: string, renamed: Record<string, string> = {}): Promise<Document> {
  const path = new URL(`../fixtures/activitypub/newer/${name}.json`, import.meta.url)
  let text = (await readFile(path, 'utf8')).replaceAll('https://newer.example', peer.base)
  for (const [from, to] of Object.entries(renamed)) text = text.replaceAll(from, to)
  return JSON.parse(text)
}

/** An account with a channel in the form of newer versions, unknown to the node until its first activity. */
async function newerOwner(name: string): Promise<{ account: PeerActor; channel: PeerActor }> {
  const account = await peer.account(name)
  const channel = await peer.channel(`${name}_channel`, account)
  for (const [actor, of] of [
    [account, 'account'],
    [channel, 'channel'],
  ] as const) {
    const { publicKey } = actor.document
    actor.document = { ...(await fixture(of, { nora: name })), publicKey }
    peer.serve(actor.url, actor.document)
  }
  return { account, channel }
}

/** A new video, which can be fetched. */
async function video(more: JsonObject = {}): Promise<Document> {
  const uuid = newUuid()
  const document = { ...(await fixture('video', { '8a2e7c0e-6a4f-4a0b-9a55-6a9a1fa0c001': uuid })), ...more }
  peer.serve(document.id, document)
  return document
}

const ownersOf = async (url: string) =>
  (
    await node.query<{ channel: string; account: string }>(
      `select cx.url as channel, ax.url as account from video v join channel c on c.id = v.channel_id
         join actor cx on cx.id = c.actor_id join account a on a.id = c.account_id join actor ax on ax.id = a.actor_id
       where v.url = $1 and v.state <> 'removed'`,
      [url],
    )
  )[0]

const owners = () => ({ channel: nora.channel.url, account: nora.account.url })

/** Variants of attributedTo. */
const SHAPES: [string, () => JsonObject][] = [
  ['ids of account and channel', () => ({ attributedTo: [nora.account.url, nora.channel.url], audience: undefined })],
  ['ids of channel and account', () => ({ attributedTo: [nora.channel.url, nora.account.url], audience: null })],
  ['an id and an object', () => ({ attributedTo: [nora.account.url, { type: 'Group', id: nora.channel.url }] })],
  ['objects without a type', () => ({ attributedTo: [{ id: nora.account.url }, { id: nora.channel.url }] })],
  ['the account, and the channel as audience', () => ({ attributedTo: nora.account.url, audience: nora.channel.url })],
  [
    'the account in a list, and a list as audience',
    () => ({ attributedTo: [nora.account.url], audience: [`${nora.channel.url}/followers`, nora.channel.url] }),
  ],
  [
    'the account as an object, and an object as audience',
    () => ({
      attributedTo: [{ type: 'Person', id: nora.account.url }],
      audience: { type: 'Group', id: nora.channel.url },
    }),
  ],
  ['the channel alone', () => ({ attributedTo: nora.channel.url, audience: undefined })],
]

describe.each(SHAPES)('a video attributed to %s', (_shape, attribution) => {
  it('arrives by Create and changes by Update of its account and of its channel', async () => {
    const document = await video(attribution())
    await node.deliver(nora.account, peer.activity(nora.account, 'Create', document))
    expect(await ownersOf(document.id)).toEqual(owners())
    for (const [index, by] of [nora.account, nora.channel].entries()) {
      const updated = { ...document, name: `Renamed ${index}`, updated: `2026-03-0${index + 1}T00:00:00.000Z` }
      peer.serve(document.id, updated)
      await node.deliver(by, peer.activity(by, 'Update', updated))
      expect(await node.query('select name from video where url = $1', [document.id])).toEqual([{ name: `Renamed ${index}` }])
    }
  })

  it('is found by its id, and fetched when its channel announces it', async () => {
    const [searched, announced] = [await video(attribution()), await video(attribution())]
    await node.client.get(`/api/v1/search/videos?search=${encodeURIComponent(searched.id)}`)
    expect(await ownersOf(searched.id)).toEqual(owners())
    await node.deliver(nora.account, peer.activity(nora.account, 'Follow', node.instance))
    await node.deliver(nora.channel, peer.activity(nora.channel, 'Announce', announced.id))
    expect(await ownersOf(announced.id)).toEqual(owners())
  })
})

describe('a video of a newer version', () => {
  it('is stored with all known properties', async () => {
    const document = await video()
    await node.deliver(nora.account, peer.activity(nora.account, 'Create', document, { to: document.to, cc: document.cc }))
    expect(await node.client.get(`/api/v1/videos/${document.uuid}`)).toMatchObject({
      name: document.name,
      duration: 95,
      views: 12,
      nsfw: true,
      privacy: { id: 1 },
      tags: ['cake'],
      category: { id: 2 },
      licence: { id: 2 },
      language: { id: 'en' },
      commentsEnabled: true,
      state: { id: 1 },
      account: { name: 'nora', displayName: 'Nora' },
      channel: { name: 'nora_channel', displayName: "Nora's films" },
    })
    // Created at the time that its server says.
    for (const path of [`accounts/nora@${peer.host}`, `video-channels/nora_channel@${peer.host}`]) {
      expect(await node.client.get(`/api/v1/${path}`)).toMatchObject({ createdAt: '2026-01-01T00:00:00.000Z' })
    }
    const made = await node.query<{ at: Date }>(
      'select n.created_at as at from account n join actor x on x.id = n.actor_id where x.url = $1',
      [nora.account.url],
    )
    expect(made).toEqual([{ at: new Date('2026-01-01T00:00:00.000Z') }])
    expect(
      await node.query('select file_url from video_caption c join video v on v.id = c.video_id where v.url = $1', [document.id]),
    ).toEqual([{ file_url: `${peer.base}/lazy-static/video-captions/fr.vtt` }])
  })

  it.each(['Create', 'Update'])('is fetched when a %s only contains its id', async (type) => {
    for (const named of [{}, { type: 'Video' }, { type: ['Object', 'Video'], '@context': peer.instance.document['@context'] }]) {
      const { id } = await video()
      await node.deliver(nora.account, peer.activity(nora.account, type, { ...named, id }))
      expect({ named, is: await ownersOf(id) }).toEqual({ named, is: owners() })
    }
    // Unknown objects are not fetched.
    const { id } = await video()
    await node.deliver(nora.account, peer.activity(nora.account, type, { type: 'PlayerSettings', id }))
    expect(peer.fetched).not.toContain(new URL(id).pathname)
  })

  it('of unknown actors arrives with both actors', async () => {
    const olga = await newerOwner('olga')
    const document = await video({ attributedTo: [olga.account.url, olga.channel.url], audience: olga.channel.url })
    await node.client.get(`/api/v1/search/videos?search=${encodeURIComponent(document.id)}`)
    expect(await ownersOf(document.id)).toEqual({ channel: olga.channel.url, account: olga.account.url })
    const images = await node.query<{ type: number }>(
      'select i.type from actor_image i join actor x on x.id = i.actor_id where x.url = any($1) order by i.type',
      [[olga.account.url, olga.channel.url]],
    )
    expect(images.map(({ type }) => type)).toEqual([1, 1, 1, 2])
  })

  it('is imported with the history of a followed channel', async () => {
    const pia = await newerOwner('pia')
    const ids = { attributedTo: [pia.account.url, pia.channel.url], audience: pia.channel.url }
    const videos = [await video(ids), await video({ ...ids, attributedTo: [pia.account.url] })]
    const outbox = `${pia.channel.url}/outbox`
    peer.serve(outbox, {
      '@context': 'https://www.w3.org/ns/activitystreams',
      type: 'OrderedCollection',
      id: outbox,
      totalItems: 2,
      orderedItems: videos.map(({ id }) => peer.activity(pia.channel, 'Announce', id)),
    })
    await node.client.send('POST', '/api/v1/server/following', { handles: [`pia_channel@${peer.host}`] })
    const { activity } = await peer.awaited('the Follow', (one) => one.activity.object === pia.channel.url)
    await node.deliver(pia.channel, peer.activity(pia.channel, 'Accept', activity))
    for (const { id } of videos) {
      const found = await until(() => ownersOf(id), { what: 'the video' })
      expect(found).toEqual({ channel: pia.channel.url, account: pia.account.url })
    }
  })

  it('is refused with owners of another server, or with another owner of its server', async () => {
    const mallory = await introduce(node, other, 'mallory')
    const rita = await newerOwner('rita')
    const refused = [
      { attributedTo: [nora.account.url, mallory.channel.url], audience: undefined },
      { attributedTo: [mallory.account.url, nora.channel.url] },
      { attributedTo: nora.account.url, audience: mallory.channel.url },
      { attributedTo: nora.account.url, audience: rita.channel.url },
      { attributedTo: [nora.account.url, rita.channel.url], audience: nora.channel.url },
      { attributedTo: nora.account.url, audience: undefined },
    ]
    for (const more of refused) {
      const document = await video(more)
      for (const by of [nora.account, nora.channel]) await node.deliver(by, peer.activity(by, 'Create', document))
      expect({ more, is: await ownersOf(document.id) }).toEqual({ more, is: undefined })
    }
  })

  it('is not put into a channel by an actor that owns another named channel', async () => {
    const sara = await newerOwner('sara')
    for (const named of [{ audience: sara.channel.url }, { attributedTo: [nora.channel.url, sara.channel.url] }]) {
      const document = await video()
      const forged = { ...document, name: 'Forged', ...named }
      await node.deliver(sara.channel, peer.activity(sara.channel, 'Create', forged))
      expect(await node.query('select name from video where url = $1', [document.id])).toEqual([{ name: document.name }])
    }
  })
})

describe('a playlist of a newer version', () => {
  const fresh = async (more: JsonObject = {}): Promise<Document> => ({
    ...(await fixture('playlist', { '8a2e7c0e-6a4f-4a0b-9a55-6a9a1fa0c002': newUuid() })),
    ...more,
  })
  const stored = (url: string) =>
    node.query(
      `select p.name, cx.url as channel, ax.url as account, p.privacy from playlist p join channel c on c.id = p.channel_id
         join actor cx on cx.id = c.actor_id join account a on a.id = p.account_id join actor ax on ax.id = a.actor_id
       where p.url = $1`,
      [url],
    )

  it.each(SHAPES)('arrives when it is attributed to %s', async (_shape, attribution) => {
    const document = await fresh(attribution())
    peer.serve(document.id, document)
    await node.deliver(nora.account, peer.activity(nora.account, 'Create', document))
    expect(await stored(document.id)).toEqual([{ name: document.name, ...owners(), privacy: 1 }])
    const searched = await fresh(attribution())
    peer.serve(searched.id, searched)
    await node.client.get(`/api/v1/search/video-playlists?search=${encodeURIComponent(searched.id)}`)
    expect(await stored(searched.id)).toEqual([{ name: searched.name, ...owners(), privacy: 1 }])
  })
})

describe('a comment of a newer version', () => {
  it.each<[string, () => JsonObject]>([
    ['its id', () => ({ attributedTo: nora.account.url })],
    ['its id in a list', () => ({ attributedTo: [nora.account.url] })],
    ['ids of author and channel', () => ({ attributedTo: [nora.account.url, nora.channel.url] })],
    ['ids of channel and author', () => ({ attributedTo: [nora.channel.url, nora.account.url] })],
    ['an object', () => ({ attributedTo: { type: 'Person', id: nora.account.url } })],
  ])('arrives attributed to its author by %s', async (_shape, attribution) => {
    const { id: inReplyTo } = await video()
    await node.client.get(`/api/v1/search/videos?search=${encodeURIComponent(inReplyTo)}`)
    const sent = { ...(await fixture('note')), id: peer.id('notes'), inReplyTo, ...attribution() }
    await node.deliver(nora.account, peer.activity(nora.account, 'Create', sent))
    // A comment that is the parent of the next one.
    const parent = { ...sent, id: peer.id('notes') }
    peer.serve(parent.id, parent)
    const reply = { ...sent, id: peer.id('notes'), inReplyTo: parent.id }
    await node.deliver(nora.account, peer.activity(nora.account, 'Create', reply))
    for (const { id } of [sent, parent, reply]) {
      const author = await until(
        async () => {
          const rows = await node.query<{ url: string }>(
            `select x.url from comment m join account a on a.id = m.account_id join actor x on x.id = a.actor_id where m.url = $1`,
            [id],
          )
          return rows[0]
        },
        { what: 'the comment' },
      )
      expect(author).toEqual({ url: nora.account.url })
    }
  })
})

describe('additional activities of newer versions', () => {
  it('are ignored without an error', async () => {
    const { id } = await video()
    await node.client.get(`/api/v1/search/videos?search=${encodeURIComponent(id)}`)
    const settings = { type: 'PlayerSettings', id: `${id}/player-settings`, object: id, theme: 'lucide' }
    peer.serve(settings.id, settings)
    const sent = [
      peer.activity(nora.account, 'Download', id),
      peer.activity(nora.account, 'Update', settings),
      peer.activity(nora.account, 'Update', settings.id),
      peer.activity(nora.channel, 'Update', { ...settings, id: `${nora.channel.url}/player-settings` }),
    ]
    for (const activity of sent) {
      await node.deliver(activity.actor === nora.channel.url ? nora.channel : nora.account, activity)
      const rows = await node.query('select state, error from incoming_activity where activity_id = $1', [activity.id])
      expect(rows).toEqual([{ state: 'done', error: null }])
    }
    expect(await ownersOf(id)).toEqual(owners())
  })

  it('include a repeated Follow, which is answered', async () => {
    const accepted = () => peer.received.filter(({ activity }) => activity.type === 'Accept')
    for (const count of [1, 2]) {
      const before = accepted().length
      await node.deliver(nora.channel, peer.activity(nora.channel, 'Follow', node.instance, { to: node.instance, cc: null }))
      await until(() => accepted().length > before, { what: `Accept ${count}` })
    }
  })
})
