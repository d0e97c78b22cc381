// Two web processes and two workers on one PostgreSQL, one Redis and one store, behind a round-robin proxy. In every operation one process
// is killed with kill -9 and restarted; every result is right. VIREO_TEST_SEED chooses the process.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { io, type Socket } from 'socket.io-client'
import { type Client, login } from '../../scripts/demo/client.ts'
import { wrongCounters } from '../support/counters.ts'
import { type FakePeer, type JsonObject, post, startFakePeer } from '../support/fake-peer.ts'
import { serverFfmpeg } from '../support/media.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres.ts'
import { canStartRedis, startOwnRedis, type TestRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { ask } from './support/child.ts'
import { type Cluster, type Member, makeCluster } from './support/cluster.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { seededRandom } from './support/seeded-random.ts'
import { channelOf, makeVideo, untilWhole } from './support/videos.ts'

const CHUNKS = 12
const LADDER = [360, 240, 144]
const NEW_FOLLOW = 10
const random = seededRandom()

let database: TestDatabase
let redis: TestRedis | undefined
let cluster: Cluster
let client: Client
let peer: FakePeer
let bytes: Buffer
/** The web client's socket for notifications. */
let sockets: Socket[] = []
const UPGRADES_WITHIN_MS = 30_000
/** The video of all tests. */
let uuid: string

beforeAll(async () => {
  ;[database, redis, peer] = await Promise.all([freshDatabase(), canStartRedis() ? startOwnRedis() : undefined, startFakePeer()])
  cluster = await makeCluster({
    databaseUrl: database.url,
    ...(redis ? { redisUrl: redis.url } : {}),
    roles: {
      'web 1': ['web'],
      'web 2': ['web'],
      'worker 1': ['federation', 'media'],
      'worker 2': ['federation', 'media'],
    },
    env: {
      VIREO__VIREO__JOBS__LEASE: '2 seconds',
      VIREO__VIREO__RUNTIME__LANE_LEASE: '2 seconds',
      VIREO__VIREO__FEDERATION__DELIVERY__INITIAL_BACKOFF: '500 ms',
      VIREO__VIREO__FEDERATION__DELIVERY__MAX_BACKOFF: '500 ms',
      VIREO__STORYBOARDS__ENABLED: 'false',
    },
  })
  // All start at once on an empty database: one of them creates the tables and the user.
  await Promise.all([makeVideo(6).then((made) => (bytes = made)), ...cluster.members.map((member) => member.start())])
  client = await cluster.login()
  const query = { accessToken: client.authorization.replace('Bearer ', '') }
  sockets = Array.from({ length: 6 }, () => io(`${cluster.base}/user-notifications`, { forceNew: true, query }))
})

afterAll(async () => {
  for (const socket of sockets) socket.disconnect()
  await cluster?.close()
  await Promise.all([peer?.close(), redis?.stop()])
  await database?.drop()
})

/** A random member with the role. */
function anyOf(role: Member['roles'][number]): Member {
  const members = cluster.members.filter(({ roles }) => roles.includes(role))
  const chosen = members[Math.floor(random() * members.length)]
  if (!chosen) throw new Error(`Nobody is ${role}.`)
  return chosen
}

/** Kills a member now, and restarts it while the work continues. */
async function killedDuring<T>(member: Member, work: () => Promise<T>): Promise<T> {
  const back = member.kill().then(() => member.start())
  const answer = await work()
  await back
  return answer
}

const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  await ask<Row>(cluster.place, text, [...values])

describe('while one of the processes is killed', () => {
  it('an upload continues with another process, and has every byte', async () => {
    const fields = { channelId: await channelOf(client), name: 'Scaled', filename: 'scaled.mp4', privacy: 1 }
    const killAt = 1 + Math.floor(random() * (CHUNKS - 2))
    let chunks = 0
    let back: Promise<void> | undefined
    const killing: Client = {
      ...client,
      raw(path, init) {
        if (init?.method === 'PUT') chunks += 1
        const answer = client.raw(path, init)
        if (chunks === killAt) back ??= killedDuring(anyOf('web'), async () => undefined)
        return answer
      },
    }
    const upload = persistentUpload({ client: killing, bytes, chunkSize: Math.ceil(bytes.length / CHUNKS), fields })
    await explained(cluster, cluster.place, async () => {
      ;({ uuid } = await upload.proceed())
    })
    await back
    expect(chunks).toBeGreaterThanOrEqual(CHUNKS)
    const [source] = await query<{ size: number }>(
      'select s.size::int as size from video_source s join video v on v.id = s.video_id where v.uuid = $1',
      [uuid],
    )
    expect(source).toEqual({ size: bytes.length })
    expect(await query('select state from upload')).toEqual([{ state: 'finished' }])
  })

  it('a transcoding is taken over, and its files play', async () => {
    await untilWhole(client, uuid, LADDER)
    const fields = { channelId: await channelOf(client), name: 'Scaled', filename: 'scaled.mp4', privacy: 1 }
    ;({ uuid } = await persistentUpload({ client, bytes, chunkSize: bytes.length, fields }).proceed())
    await explained(cluster, cluster.place, async () => {
      const holder = await until(
        async () => {
          const [job] = await query<{ owner: string | null; state: string }>(
            "select lease_owner as owner, state from job where type = 'video-transcoding' order by id desc limit 1",
          )
          if (job?.state === 'completed') throw new Error('The transcoding was over before anything could be killed.')
          return cluster.members.find(({ child }) => job?.owner?.split('|')[1]?.startsWith(`${child?.pid}-`))
        },
        { what: 'the start of the transcoding' },
      )
      await killedDuring(holder, () => untilWhole(client, uuid, LADDER))
    })
    const { streamingPlaylists } = await client.get<{
      streamingPlaylists: { playlistUrl: string; files: { fileUrl: string }[] }[]
    }>(`/api/v1/videos/${uuid}`)
    const [playlist] = streamingPlaylists
    for (const url of [playlist?.playlistUrl, ...(playlist?.files ?? []).map(({ fileUrl }) => fileUrl)]) {
      expect(await secondsOf(url ?? '')).toBeCloseTo(6, 0)
    }
  })

  it('a follow is accepted after a single Follow', async () => {
    let back: Promise<void> | undefined
    const accepted: Promise<unknown>[] = []
    peer.answerPosts(({ activity }) => {
      if (activity.type !== 'Follow') return 204
      // The answer may be in flight while the sender of the Follow is killed.
      back ??= killedDuring(anyOf('federation'), async () => undefined)
      accepted.push(delivered(peer.activity(peer.instance, 'Accept', activity)))
      return 204
    })
    await client.send('POST', '/api/v1/server/following', { hosts: [peer.host] })
    await explained(cluster, cluster.place, async () => {
      await until(async () => (await query("select 1 from follow where state = 'accepted'")).length === 1, {
        what: 'the accepted follow',
      })
      await until(async () => (await query('select 1 from delivery')).length === 0, { what: 'the end of deliveries' })
    })
    await Promise.all([back, ...accepted])
    expect(new Set(peer.of('Follow').map(({ activity }) => activity.id)).size).toBe(1)
    peer.answerPosts(undefined)
  })

  it('local and remote comments arrive, each with one effect', async () => {
    await delivered(peer.activity(peer.instance, 'Follow', `${cluster.base}/accounts/peertube`))
    await peer.awaited('the Accept', ({ activity }) => activity.type === 'Accept')

    let back: Promise<void> | undefined
    peer.answerPosts(({ activity }) => {
      if (activity.type === 'Create') back ??= killedDuring(anyOf('federation'), async () => undefined)
      return 204
    })
    const { comment } = await client.send<{ comment: { id: number; url: string } }>('POST', `/api/v1/videos/${uuid}/comment-threads`, {
      text: 'Said here',
    })
    const { url } = await client.get<{ url: string }>(`/api/v1/videos/${uuid}`)
    const account = await peer.account('commenter')
    const note = peer.note({ author: account.url, inReplyTo: url, content: 'Said there' })
    await explained(cluster, cluster.place, async () => {
      const created = await peer.awaited('the comment', ({ activity }) => idOf(activity.object) === comment.url)
      // The other direction, to a process that is killed; a peer without an answer sends again.
      const create = peer.activity(account, 'Create', note)
      await killedDuring(anyOf('web'), () => Promise.all([delivered(create, account), delivered(create, account)]))
      await until(async () => (await query('select 1 from comment where url = $1', [note.id])).length === 1, {
        what: 'the comment of the peer',
      })
      await until(async () => (await query('select 1 from delivery')).length === 0, { what: 'the end of deliveries' })
      await back
      const about = peer.received.filter(({ activity }) => idOf(activity.object) === comment.url)
      expect(new Set(about.map(({ activity }) => activity.id))).toEqual(new Set([created.activity.id]))
    })
  })

  it('a socket client reconnects, and receives each notification once from any process', async () => {
    await explained(cluster, cluster.place, async () => {
      // On a slow machine a client whose upgrade failed once stays with polling.
      let again = performance.now() + UPGRADES_WITHIN_MS
      const isUpgraded = ({ connected, io: { engine } }: Socket) => connected && engine.transport.name === 'websocket'
      await until(
        () => {
          if (performance.now() > again) {
            again = performance.now() + UPGRADES_WITHIN_MS
            for (const socket of sockets) if (socket.connected && !isUpgraded(socket)) socket.disconnect().connect()
          }
          return sockets.every(isUpgraded)
        },
        { what: 'six WebSockets' },
      )
      const heard = sockets.map((socket) => {
        const types: number[] = []
        socket.on('new-notification', ({ type }: { type: number }) => types.push(type))
        return types
      })
      const [username, password] = ['follower', 'password-of-follower']
      await client.send('POST', '/api/v1/users', {
        username,
        password,
        email: 'follower@example.org',
        role: 2,
        videoQuota: -1,
        videoQuotaDaily: -1,
      })
      const follower = await login(cluster.base, username, password)
      const uri = `root_channel@${new URL(cluster.base).host}`
      await follower.send('POST', '/api/v1/users/me/subscriptions', { uri })
      await until(() => heard.every((types) => types.length > 0), { what: 'the notification' })
      expect(heard).toEqual(sockets.map(() => [NEW_FOLLOW]))
    })
  })

  it('no work is left, counters are right, and both web processes answer the same', async () => {
    await explained(cluster, cluster.place, async () => {
      await untilSettled(cluster.place)
      await until(async () => (await wrongCounters({ query })).length === 0, { what: 'right counters' })
    })
    const views = await Promise.all(
      ['web 1', 'web 2'].map(async (name) => {
        const { base } = cluster.member(name)
        const texts = await Promise.all(
          ['/api/v1/videos', `/api/v1/videos/${uuid}/comment-threads`].map(async (path) => (await fetch(base + path)).text()),
        )
        return texts.map((text) => JSON.parse(text) as { total: number })
      }),
    )
    expect(views[0]).toEqual(views[1])
    expect(views[0]?.map(({ total }) => total)).toEqual([2, 2])
    expect(cluster.said.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
  })
})

/** Posts an activity until it is accepted, as other servers do. */
async function delivered(activity: JsonObject, by = peer.instance): Promise<void> {
  await until(
    async () => {
      const { status, body } = await post({ base: cluster.base }, by, activity).catch(() => ({ status: 502, body: '' }))
      if (status < 500 && status !== 204) throw new Error(`The inbox answered ${status}: ${body}`)
      return status === 204
    },
    { what: `a taken ${activity.type}` },
  )
}

const idOf = (object: unknown): unknown => (typeof object === 'object' && object !== null && 'id' in object ? object.id : object)

async function secondsOf(url: string): Promise<number> {
  const { ffprobePath } = await serverFfmpeg()
  const { stdout } = await promisify(execFile)(ffprobePath, [
    '-v',
    'error',
    '-show_entries',
    'format=duration',
    '-of',
    'default=nw=1:nk=1',
    url,
  ])
  return Number(stdout.trim())
}
