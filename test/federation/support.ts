// A real node for tests of federation, with access to its tables and its REST API, and waits until it is idle.

import pg from 'pg'
import { type Client, login } from '../../scripts/demo/client.ts'
import type { ServerOptions } from '../../src/compose.ts'
import type { Values } from '../../src/config/layers.ts'
import { type FakePeer, type JsonObject, type PeerActor, type PostOptions, post } from '../support/fake-peer.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { until } from '../support/until.ts'

export interface FederatedNode {
  node: TestNode
  base: string
  host: string
  /** Id of the instance actor. */
  instance: string
  client: Client
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Posts an activity, expects 204, and waits until it is processed, including the removal of its actor. */
  deliver(by: PeerActor, activity: JsonObject, options?: PostOptions): Promise<void>
  /** Waits until no activity is open, and no removed actor is left. */
  settled(): Promise<void>
  /** Everything that other servers could have changed. */
  world(): Promise<unknown>
  /** Uploads a small video without transcoding; it is published at once. */
  upload(bytes: Buffer, fields?: Record<string, string>): Promise<{ id: number; uuid: string; url: string }>
  stop(): Promise<void>
}

/** Retries soon, and does not transcode. */
const QUICK: Values = { transcoding: { enabled: false } }

export async function startFederatedNode(
  config: Values = {},
  options: Partial<Pick<ServerOptions, 'clock' | 'logger' | 'checkResponses'>> = {},
): Promise<FederatedNode> {
  const node = await startTestNode({ ...options, config: { ...QUICK, ...config } })
  const pool = new pg.Pool({ connectionString: node.databaseUrl, max: 2 })
  pool.on('error', () => undefined)
  const client = await login(node.base, node.username, node.password)
  const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(text, [...values])).rows

  const settled = async () => {
    await until(
      async () => {
        const [row] = await query<{ open: string }>(
          `select (select count(*) from incoming_activity where state in ('received', 'unverified')
               and (due_at is null or due_at <= now()))
             + (select count(*) from outbox)
             + (select count(*) from job where type = 'remote-actor-removal' and state in ('waiting', 'active')) as open`,
        )
        return row?.open === '0'
      },
      { what: 'the end of all incoming activities' },
    )
  }

  return {
    node,
    client,
    query,
    settled,
    base: node.base,
    host: new URL(node.base).host,
    instance: `${node.base}/accounts/peertube`,
    async deliver(by, activity, options) {
      const { status, body } = await post(node, by, activity, options)
      if (status !== 204) throw new Error(`The inbox answered ${status}: ${body}`)
      await settled()
    },
    async world() {
      await settled()
      const tables = await Promise.all(WORLD.map(([name, sql]) => query(sql).then((rows) => [name, rows] as const)))
      return Object.fromEntries(tables)
    },
    upload: (bytes, fields) => uploadBy(client, bytes, fields),
    async stop() {
      await pool.end()
      await node.stop()
    },
  }
}

/** Uploads a small video for a user, into their default channel. */
export async function uploadBy(client: Client, bytes: Buffer, fields: Record<string, string> = {}) {
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = new FormData()
  const all = { channelId: String(me.videoChannels[0]?.id), name: 'A video of ours', privacy: '1', ...fields }
  for (const [name, value] of Object.entries(all)) form.set(name, value)
  form.set('videofile', new File([new Uint8Array(bytes)], 'small.mp4', { type: 'video/mp4' }))
  const { video } = await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/upload', form)
  return { ...video, url: `${client.base}/videos/watch/${video.uuid}` }
}

/** A new user of the node, logged in. */
export async function newcomer(node: FederatedNode, username: string, fields: object = {}): Promise<Client> {
  const password = `the password of ${username}`
  const email = `${username}@example.org`
  const user = { username, password, email, role: 2, videoQuota: -1, videoQuotaDaily: -1, ...fields }
  await node.client.send('POST', '/api/v1/users', user)
  return await login(node.base, username, password)
}

const WORLD: [string, string][] = [
  ['actors', 'select url, type, inbox_url, public_key_pem, followers_count, following_count, deleted_at from actor order by id'],
  ['accounts', 'select actor_id, name, description from account order by id'],
  ['channels', 'select actor_id, account_id, name, description from channel order by id'],
  ['videos', 'select url, uuid, channel_id, name, privacy, state, remote from video order by id'],
  ['playlists', 'select url, account_id, channel_id, name, description, privacy from playlist order by id'],
  ['captions', 'select video_id, language, file_url from video_caption order by id'],
  ['chapters', 'select video_id, timecode, title from video_chapter order by video_id, timecode'],
  ['storyboards', 'select video_id, file_url from storyboard order by id'],
  ['lives', 'select video_id, save_replay, permanent_live, latency_mode from video_live order by video_id'],
  ['comments', 'select url, video_id, account_id, text, held_for_review, approval_url, deleted_at from comment order by id'],
  ['ratings', 'select url, video_id, account_id, type from rating order by id'],
  ['shares', 'select url, video_id, actor_id from share order by id'],
  [
    'views',
    `select v.url, v.views + coalesce((select sum(d.views) from video_delta d where d.video_id = v.id), 0) as views
     from video v order by v.id`,
  ],
  ['viewers', 'select video_id, host_id, viewer, viewers from remote_viewer order by video_id, host_id, viewer'],
  ['watches', 'select url, video_id, host_id, seconds from watch order by id'],
  ['redundancies', 'select url, actor_id, video_id, file_url, expires_on from redundancy order by id'],
  ['reports', 'select url, object_url, kind, reason, state, reporter_id from abuse order by id'],
  ['follows', 'select url, follower_id, target_id, state from follow order by id'],
]

/** A peer's account with a channel, known to the node. */
export async function introduce(to: FederatedNode, peer: FakePeer, name: string): Promise<{ account: PeerActor; channel: PeerActor }> {
  const account = await peer.account(name)
  const channel = await peer.channel(`${name}_channel`, account)
  await to.deliver(account, peer.activity(account, 'Arrive', account.url))
  await to.deliver(channel, peer.activity(channel, 'Arrive', channel.url))
  return { account, channel }
}

/** A second channel of root. */
export async function secondChannel(node: FederatedNode): Promise<{ id: number; url: string }> {
  const body = { name: 'second_channel', displayName: 'Second' }
  const { videoChannel } = await node.client.send<{ videoChannel: { id: number } }>('POST', '/api/v1/video-channels', body)
  return { id: videoChannel.id, url: `${node.base}/video-channels/${body.name}` }
}
