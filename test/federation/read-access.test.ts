// What other servers may fetch: parts of a video by its privacy, and access by the requesting server.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { importPrivateKey, signOutgoing } from '../../src/federation/security/index.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { peerKeys } from '../support/fast-crypto.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, secondChannel, startFederatedNode } from './support.ts'

let node: FederatedNode
let strict: FederatedNode
let peer: FakePeer
let follower: PeerActor
let stranger: PeerActor
let bytes: Buffer

beforeAll(async () => {
  ;[node, strict, peer] = await Promise.all([
    startFederatedNode(),
    startFederatedNode({ vireo: { federation: { authorized_fetch: true } } }),
    startFakePeer(),
  ])
  bytes = await readFile(await media('small.mp4'))
  follower = (await introduce(node, peer, 'follower')).account
  await node.deliver(follower, peer.activity(follower, 'Follow', node.instance))
  stranger = await peer.account('stranger')
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop(), strict?.stop()])
})

const ACCEPT = { accept: 'application/activity+json' }

async function get(url: string, by?: PeerActor, options: { keyId?: string; key?: PeerActor['keys'] } = {}) {
  const { rsa } = options.key ?? by?.keys ?? { rsa: null }
  const headers =
    by && rsa
      ? await signOutgoing({
          method: 'GET',
          url,
          headers: ACCEPT,
          profile: 'cavage',
          now: new Date(),
          key: { keyId: options.keyId ?? by.keyId, privateKey: await importPrivateKey(rsa.privatePem) },
        })
      : ACCEPT
  return await fetch(url, { headers, redirect: 'manual' })
}

const IN_A_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString()

/** How a video is uploaded, what is changed in its row, and the expected status of all its URLs. */
const kinds: [string, { fields: Record<string, string>; afterwards?: string; status: number; listed: boolean }][] = [
  ['public', { fields: {}, status: 200, listed: true }],
  ['unlisted', { fields: { privacy: '2' }, status: 200, listed: false }],
  ['private', { fields: { privacy: '3' }, status: 401, listed: false }],
  ['internal', { fields: { privacy: '4' }, status: 401, listed: false }],
  ['protected by a password', { fields: { privacy: '5', 'videoPasswords[0]': 'secret' }, status: 403, listed: false }],
  [
    'scheduled',
    {
      fields: { privacy: '3', 'scheduleUpdate[updateAt]': IN_A_YEAR, 'scheduleUpdate[privacy]': '1' },
      status: 401,
      listed: false,
    },
  ],
  ['not transcoded yet', { fields: { privacy: '3' }, afterwards: "privacy = 1, state = 'to-transcode'", status: 404, listed: false }],
  ['moved to other storage after its publication', { fields: {}, afterwards: "state = 'to-move'", status: 200, listed: false }],
]

describe('a video and its parts', () => {
  it.each(kinds)('that is %s: same answer for all requesters', async (_what, { fields, afterwards, status, listed }) => {
    const { id, uuid, url } = await node.upload(bytes, fields)
    await node.settled()
    const [comment] = await node.query<{ id: number }>(
      `insert into comment (video_id, account_id, url, text) select $1, a.id, $2 || '/comments/0', 'A word'
       from account a join actor x on x.id = a.actor_id where x.preferred_username = 'root' returning id`,
      [id, url],
    )
    await node.query("update comment set url = $2 || '/comments/' || id where id = $1", [comment?.id, url])
    const rate = `${node.base}/accounts/root/likes/${id}`
    await node.query(
      `insert into rating (video_id, account_id, url, type) select $1, a.id, $2, 'like'
       from account a join actor x on x.id = a.actor_id where x.preferred_username = 'root'`,
      [id, rate],
    )
    if (afterwards) await node.query(`update video set ${afterwards} where id = $1`, [id])

    const collections = ['announces', 'comments', 'likes', 'dislikes'].flatMap((name) => [name, `${name}?page=1`])
    const parts = [
      ...['', '/activity', ...[...collections, 'chapters'].map((name) => `/${name}`)].map((path) => url + path),
      ...['', '/activity', '/approve-reply'].map((path) => `${url}/comments/${comment?.id}${path}`),
      rate,
    ]
    for (const part of parts) {
      for (const by of [undefined, follower, stranger]) {
        expect({ part, status: (await get(part, by)).status }).toEqual({ part, status })
      }
    }
    // Ids are guessable.
    const byId = await get(`${node.base}/videos/watch/${id}`)
    expect(byId.status).toBe(status === 200 && fields.privacy !== undefined ? 401 : status)
    for (const outbox of ['accounts/root', 'video-channels/root_channel', 'accounts/peertube']) {
      const page = await (await get(`${node.base}/${outbox}/outbox?page=1`)).text()
      expect({ outbox, listed: page.includes(uuid) }).toEqual({ outbox, listed })
    }
  })
})

describe('a withdrawn object', () => {
  it('is served at no URL any more, not even from a cache', async () => {
    const { id, uuid, url } = await node.upload(bytes, { name: 'A name to forget' })
    await node.client.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'like' })
    const outboxes = ['accounts/root', 'accounts/ROOT', 'video-channels/root_channel', 'accounts/peertube']
    const paths = [
      `/videos/watch/${uuid}`,
      `/videos/watch/${id}`,
      `/w/${uuid}`,
      `/videos/watch/${uuid.toUpperCase()}/activity`,
      ...outboxes.map((name) => `/${name}/outbox?page=1`),
      `/accounts/root/likes/${id}`,
    ]
    const shownAt = async () => {
      const answers = await Promise.all(paths.map(async (path) => [path, await (await get(node.base + path)).text()]))
      return answers.filter(([, text]) => text?.includes(uuid) || text?.includes('to forget')).map(([path]) => path)
    }
    const change = (fields: object) => node.client.send('PUT', `/api/v1/videos/${uuid}`, fields)
    const block = `/api/v1/videos/${uuid}/blacklist`
    const ends = [
      { back: () => change({ privacy: 3 }), forth: () => change({ privacy: 1 }) },
      { back: () => change({ privacy: 5, videoPasswords: ['secret'] }), forth: () => change({ privacy: 1 }) },
      {
        back: () => node.client.send('POST', block, { unfederate: true }),
        forth: () => node.client.send('DELETE', block),
      },
      { back: () => node.client.send('DELETE', `/api/v1/videos/${uuid}`), forth: async () => undefined },
    ]
    for (const { back, forth } of ends) {
      // Followers of the announcing channel are the last recipients.
      await until(async () => (await shownAt()).length === paths.length, { what: `all addresses of ${url}` })
      await back()
      expect(await shownAt()).toEqual([])
      await forth()
    }
  })

  it('leaves only its name, if it is a removed channel', async () => {
    const { url } = await secondChannel(node)
    expect((await get(url)).status).toBe(200)
    await node.client.send('DELETE', '/api/v1/video-channels/second_channel')
    expect((await get(url)).status).toBe(410)
  })

  it('is not served by its numeric id either, if it is a playlist that became private', async () => {
    const { videoPlaylist } = await node.client.send<{ videoPlaylist: { id: number; uuid: string } }>('POST', '/api/v1/video-playlists', {
      displayName: 'A list',
      privacy: 1,
      videoChannelId: await firstChannel(),
    })
    const paths = [videoPlaylist.uuid, videoPlaylist.id].map((name) => `${node.base}/video-playlists/${name}`)
    const statuses = () => Promise.all(paths.map(async (path) => (await get(path)).status))
    expect(await statuses()).toEqual([200, 200])
    await node.client.send('PUT', `/api/v1/video-playlists/${videoPlaylist.id}`, { privacy: 3 })
    expect(await statuses()).toEqual([401, 401])
  })
})

async function firstChannel(): Promise<number> {
  const me = await node.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  return me.videoChannels[0]?.id ?? 0
}

describe('a server with authorized fetch', () => {
  const account = () => `${strict.base}/accounts/root`

  it('serves no document to unsigned requests, whatever it has cached', async () => {
    const { url } = await strict.upload(bytes)
    const paths = [account(), `${account()}/outbox`, `${strict.base}/video-channels/root_channel`, url, `${url}/comments`]
    for (const path of paths) {
      expect((await get(path)).status).toBe(401)
      const signed = await get(path, peer.instance)
      expect({ path, status: signed.status }).toEqual({ path, status: 200 })
      expect(signed.headers.get('cache-control')).toContain('private')
      expect(signed.headers.get('vary')).toContain('Signature')
      expect((await get(path)).status).toBe(401)
    }
  })

  it('serves the instance actor, WebFinger and NodeInfo to everybody', async () => {
    for (const path of [
      '/accounts/peertube',
      `/.well-known/webfinger?resource=acct:root@${strict.host}`,
      '/.well-known/nodeinfo',
      '/nodeinfo/2.0.json',
      '/.well-known/host-meta',
    ]) {
      expect({ path, status: (await get(strict.base + path)).status }).toEqual({ path, status: 200 })
    }
  })

  it('accepts a key id that is a path, and fetches an unknown signer once', async () => {
    const other = await startFakePeer()
    try {
      const gts = await other.account('gts')
      const keyId = `${gts.url}/main-key`
      const document = { ...gts.document, publicKey: { ...(gts.document.publicKey as object), id: keyId } }
      for (const address of [gts.url, keyId]) other.serve(address, document)
      expect((await get(account(), gts, { keyId })).status).toBe(200)
      const fetches = other.fetched.length
      expect((await get(account(), gts, { keyId })).status).toBe(200)
      expect(other.fetched.length).toBe(fetches)
      // Other actors of the host have to wait, and a flood of bad signatures causes no fetch.
      const next = await other.account('next')
      expect((await get(account(), next)).status).toBe(401)
      expect((await get(account(), gts, { keyId, key: await otherKeys(gts) })).status).toBe(401)
      expect(other.fetched.length).toBe(fetches)
    } finally {
      await other.close()
    }
  })

  it('refuses a signature for another path or another server', async () => {
    const { rsa } = peer.instance.keys
    const key = { keyId: peer.instance.keyId, privateKey: await importPrivateKey(rsa.privatePem) }
    for (const url of [`${strict.base}/accounts/peertube`, `${node.base}/accounts/root`]) {
      const headers = await signOutgoing({
        method: 'GET',
        url,
        headers: ACCEPT,
        key,
        profile: 'cavage',
        now: new Date(),
      })
      delete headers.host
      expect((await fetch(account(), { headers })).status).toBe(401)
    }
  })
})

async function otherKeys(than: PeerActor): Promise<PeerActor['keys']> {
  const keys = await peerKeys()
  return keys === than.keys ? await otherKeys(than) : keys
}
