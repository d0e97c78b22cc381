// A server with federation disabled sends, accepts and serves no activities.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, post, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let local: FederatedNode
let peer: FakePeer
beforeAll(async () => {
  ;[local, peer] = await Promise.all([startFederatedNode({ federation: { enabled: false } }), startFakePeer()])
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

it('delivers nothing to its followers, not even pending deliveries', async () => {
  await local.query(
    `with host as (insert into remote_host (host, state, context) values ($1, 'healthy', '{}') returning id),
       fan as (
         insert into actor (type, preferred_username, host_id, url, inbox_url, public_key_pem, key_id)
         select 'Person', 'fan', host.id, $2, $2 || '/inbox', 'none', $2 || '#main-key' from host returning id
       ),
       follow as (
         insert into follow (follower_id, target_id, state, url) select fan.id, x.id, 'accepted', $2 || '/follows/' || x.id
         from fan, actor x where x.host_id is null returning 1
       ),
       waiting as (insert into document (activity_id, type, body) values ('http://a.example/1', 'Create', '{}') returning id)
     insert into delivery (document_id, host_id, actor_id, inbox_url)
     select waiting.id, host.id, (select min(id) from actor where host_id is null), $2 || '/inbox' from waiting, host`,
    [peer.host, `${peer.base}/accounts/fan`],
  )
  const waiting = async () => await local.query("select 1 from delivery where state = 'waiting'")
  const { url } = await local.upload(await readFile(await media('small.mp4')))
  await until(async () => (await local.query('select 1 from outbox')).length === 0, { what: 'the end of all events' })
  await local.query(
    `insert into lane (kind, key, due_at, dirty) select 'delivery', id::text, now(), true from remote_host
     on conflict (kind, key) do update set due_at = now(), dirty = true`,
  )
  await until(async () => (await waiting()).length === 0, { what: 'the end of what waits' })
  expect(await local.query("select 1 from document where body like '%' || $1 || '%'", [url])).toEqual([])
  expect(peer.received).toEqual([])
})

it('answers requests for ActivityPub with 406, and serves its pages', async () => {
  const { uuid, url } = await local.upload(await readFile(await media('small.mp4')))
  for (const address of [url, `${local.base}/w/${uuid}`, local.instance, `${local.base}/c/root_channel`, `${url}/likes`]) {
    const document = await fetch(address, { headers: { accept: 'application/activity+json' } })
    expect([address, document.status]).toEqual([address, 406])
    expect(await document.json()).toMatchObject({ status: 406, title: 'Not Acceptable' })
  }
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  expect(page.status).toBe(200)
  const by = await peer.account('somebody')
  for (const inbox of ['/inbox', '/accounts/root/inbox', '/video-channels/root_channel/inbox']) {
    expect((await post(local.node, by, peer.activity(by, 'Like', url), { inbox })).status).toBe(406)
  }
})

it('sends no request to other servers', async () => {
  const account = await peer.account('sought')
  const channel = await peer.channel('sought_channel', account)
  const video = peer.video({ account, channel })
  const before = peer.fetched.length
  for (const [path, search] of [
    ['videos', video.id],
    ['videos', `${peer.base}/w/${video.uuid}`],
    ['video-channels', channel.url],
    ['video-channels', `sought_channel@${peer.host}`],
    ['video-playlists', `${peer.base}/w/p/${video.uuid}`],
  ] as const) {
    const found = await local.client.get<object>(`/api/v1/search/${path}?search=${encodeURIComponent(search)}`)
    expect({ search, ...found }).toEqual({ search, total: 0, data: [] })
  }
  expect(peer.fetched.slice(before)).toEqual([])
})

it('answers WebFinger for its accounts', async () => {
  for (const path of [`/.well-known/webfinger?resource=acct:root@${local.host}`, '/.well-known/nodeinfo', '/nodeinfo/2.0.json']) {
    expect([path, (await fetch(local.base + path)).status]).toEqual([path, 200])
  }
})
