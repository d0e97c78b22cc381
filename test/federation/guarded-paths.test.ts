// Every way out of the server, to every form of a forbidden address: nothing is ever connected to.

import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type PeerActor, peerKeys, post } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let ours: FederatedNode
let sink: Server
let port: number
let connections = 0

beforeAll(async () => {
  sink = createServer((_request, response) => response.end('{}'))
  sink.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => sink.listen(0, '::', resolve))
  const bound = sink.address()
  port = typeof bound === 'object' ? (bound?.port ?? 0) : 0
  ours = await startFederatedNode({
    vireo: {
      federation: {
        allow_private_addresses: false,
        delivery: { initial_backoff: '1 hour' },
        fetch: { timeout: '2 seconds' },
      },
    },
  })
}, 60_000)
afterAll(async () => {
  await ours?.stop()
  await new Promise((resolve) => sink.close(resolve))
})
beforeEach(() => {
  connections = 0
})

const hosts = [
  '127.0.0.1',
  '127.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '2130706433',
  '127.0.0.1.',
  'localhost',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '10.0.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
]

let serial = 0
/** A channel of another server whose addresses are all at this place. */
async function remoteChannel(base: string): Promise<{ actorId: number; handle: string; url: string }> {
  serial += 1
  const [actor] = await ours.query<{ id: number }>(
    `with host as (
       insert into remote_host (host) values ($1) on conflict (host) do update set host = excluded.host returning id
     ) insert into actor (type, preferred_username, host_id, url, inbox_url, outbox_url, refreshed_at)
     select 'Group', $2, id, $3, $3 || '/inbox', $3 || '/outbox', now() from host returning id`,
    [`host-${serial}.example`, `channel_${serial}`, `${base}/video-channels/channel_${serial}`],
  )
  await ours.query('insert into channel (actor_id, account_id, name) select $1, min(id), $2 from account', [
    actor?.id,
    `Channel ${serial}`,
  ])
  return {
    actorId: actor?.id ?? 0,
    handle: `channel_${serial}@host-${serial}.example`,
    url: `${base}/video-channels/channel_${serial}`,
  }
}

const search = (what: string, text: string) =>
  ours.client.get<{ total: number }>(`/api/v1/search/${what}?search=${encodeURIComponent(text)}`)
const picture = async (folder: string, filename: string) =>
  (await fetch(`${ours.base}/lazy-static/${folder}/${filename}`)).status

/** Each makes the server want something of that place, and waits until it has given up. */
const ways: [string, (base: string, host: string) => Promise<void>][] = [
  ['a document', async (base) => expect(await search('videos', `${base}/videos/watch/x`)).toMatchObject({ total: 0 })],
  ['an actor', async (base) => expect(await search('video-channels', `${base}/x`)).toMatchObject({ total: 0 })],
  ['WebFinger', async (_base, host) => expect(await search('video-channels', `x@${host}`)).toMatchObject({ total: 0 })],
  [
    'a key',
    async (base) => {
      serial += 1
      const url = `${base}/accounts/a${serial}`
      const by: PeerActor = { url, keyId: `${url}#main-key`, keys: await peerKeys(), document: {} }
      const activity = { id: `${url}/1`, type: 'Follow', actor: url, object: ours.instance }
      await post(ours, by, activity)
      await ours.settled()
    },
  ],
  [
    'an avatar',
    async (base) => {
      const { actorId } = await remoteChannel(base)
      const name = `avatar-${serial}.jpg`
      await ours.query('insert into actor_image (actor_id, type, filename, file_url) values ($1, 1, $2, $3)', [
        actorId,
        name,
        `${base}/a.jpg`,
      ])
      expect(await picture('avatars', name)).toBeGreaterThanOrEqual(400)
    },
  ],
  [
    'an outbox',
    async (base) => {
      const { actorId } = await remoteChannel(base)
      await ours.query(
        `insert into follow (follower_id, target_id, state)
         select id, $1, 'accepted' from actor where host_id is null and type = 'Application'`,
        [actorId],
      )
      await ours.query(
        `insert into history_walk (actor_id, state, next_url, since, due_at)
         select id, 'waiting', outbox_url, now(), now() from actor where id = $1`,
        [actorId],
      )
      await until(
        async () =>
          (
            await ours.query("select 1 from history_walk where actor_id = $1 and state in ('failed', 'retrying')", [
              actorId,
            ])
          )[0],
        { what: 'the end of the walk' },
      )
    },
  ],
  [
    'a delivery',
    async (base) => {
      const { actorId, handle } = await remoteChannel(base)
      await ours.client.send('POST', '/api/v1/users/me/subscriptions', { uri: handle })
      await until(
        async () =>
          (
            await ours.query(
              `select 1 from delivery d join actor a on a.inbox_url = d.inbox_url where a.id = $1
                 and (d.error is not null or d.state <> 'waiting'
                   or exists (select 1 from remote_host h where h.id = d.host_id and h.state <> 'healthy'))`,
              [actorId],
            )
          )[0],
        { what: 'the end of the delivery' },
      )
    },
  ],
]

it.each(ways)(
  '%s is asked for nowhere inside',
  async (_what, ask) => {
    for (const host of hosts) await ask(`http://${host}:${port}`, `${host}:${port}`)
    expect(connections).toBe(0)
  },
  60_000,
)

it('the addresses of a context are never asked', async () => {
  const by: PeerActor = {
    url: `http://127.0.0.1:${port}/a`,
    keyId: `http://127.0.0.1:${port}/a#k`,
    keys: await peerKeys(),
    document: {},
  }
  await post(ours, by, {
    '@context': `http://127.0.0.1:${port}/context`,
    id: `${by.url}/1`,
    type: 'Like',
    actor: by.url,
    object: ours.instance,
  })
  await ours.settled()
  expect(connections).toBe(0)
})
