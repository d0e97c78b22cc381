// Redis is flushed or goes away, and PostgreSQL restarts or crashes, while clients read and write at two processes. Clients are at worst
// asked to retry, the server recovers by itself, and everything acknowledged is there once.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { type Client, login } from '../../scripts/demo/client.ts'
import { wrongCounters } from '../support/counters.ts'
import { type DedicatedPostgres, startDedicatedPostgres } from '../support/dedicated-postgres.ts'
import { type FakePeer, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { freePort } from '../support/ports.ts'
import { canStartRedis, startOwnRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { type Load, makeLoad, type Writer } from './support/load.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { channelOf, makeVideo } from './support/videos.ts'

/** All clients succeed again within this time after an outage. */
const RECOVERS_WITHIN = 20_000
const CHUNKS = 12
const CHANNELS = 200
/** Between two expensive operations, in ms. */
const SELDOM_MS = 1_000

const backEnds = [...(canStartRedis() ? ['Redis'] : []), 'PostgreSQL alone']

describe.each(backEnds)('on %s', (backEnd) => {
  const folder = dataFolder()
  let postgres: DedicatedPostgres
  let redis: Awaited<ReturnType<typeof startOwnRedis>> | undefined
  let nodes: Child[] = []
  let clients: [Client, Client]
  let peer: FakePeer
  let commenter: PeerActor
  let bytes: Buffer
  let video: { id: number; uuid: string }
  let playlist: number
  let channelId: number
  let load: Load
  let wrote: Record<'comments' | 'replies' | 'elements' | 'ratings' | 'subscriptions' | 'uploads' | 'settings', Writer>
  const notes: string[] = []
  const rated: { name: string; rating: string }[] = []

  const place = () => ({ dataDir: folder.path, databaseUrl: postgres.url })
  const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    await ask<Row>(place(), text, [...values])
  const said = () => nodes.flatMap((node) => node.said)

  beforeAll(async () => {
    ;[postgres, redis, peer, bytes] = await Promise.all([
      startDedicatedPostgres(),
      backEnd === 'Redis' ? startOwnRedis() : undefined,
      startFakePeer(),
      makeVideo(1),
    ])
    const ports = [await freePort(), await freePort()]
    const env = {
      DATABASE_URL: postgres.url,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      VIREO__WEBSERVER__PORT: String(ports[0]),
      VIREO__LOG__LEVEL: 'warn',
      VIREO__RATES_LIMIT__ACTIVITY_PUB__MAX: '100000',
      VIREO__TRANSCODING__ENABLED: 'false',
      VIREO__STORYBOARDS__ENABLED: 'false',
      VIREO__VIREO__FEDERATION__DELIVERY__INITIAL_BACKOFF: '500 ms',
      VIREO__VIREO__FEDERATION__DELIVERY__MAX_BACKOFF: '500 ms',
    }
    nodes = await Promise.all(ports.map((port) => start({ dataDir: folder.path, port, env })))
    const [first, second] = await Promise.all(nodes.map(({ base }) => login(base, USERNAME, PASSWORD)))
    if (!first || !second) throw new Error('There are two nodes.')
    clients = [first, second]

    channelId = await channelOf(first)
    const fields = { channelId, name: 'Rated', filename: 'rated.mp4', privacy: 1 }
    video = await persistentUpload({ client: first, bytes, chunkSize: bytes.length, fields }).proceed()
    const made = await first.send<{ videoPlaylist: { id: number } }>('POST', '/api/v1/video-playlists', {
      displayName: 'Long',
      privacy: 1,
      videoChannelId: await channelOf(first),
    })
    playlist = made.videoPlaylist.id
    commenter = await peer.account('commenter')
    for (let n = 0; n < CHANNELS; n += 1) await peer.channel(`c${n}`, commenter)
    load = makeLoad(clients)
    startLoad(await first.get('/api/v1/config/custom'))
  })

  afterAll(async () => {
    await load?.stop()
    for (const node of nodes) node.signal('SIGKILL', 'group')
    await Promise.all(nodes.map(({ ended }) => ended))
    await Promise.all([peer?.close(), redis?.stop(), postgres?.remove()])
    await folder.remove()
  })

  function startLoad(custom: { instance: object }): void {
    const activityPub = { headers: { accept: 'application/activity+json' } }
    load.reads('/api/v1/videos?sort=-publishedAt')
    load.reads(`/api/v1/videos/${video.uuid}`)
    load.reads('/api/v1/users/me')
    load.reads('/api/v1/config')
    load.reads(`/api/v1/videos/${video.uuid}/comment-threads`)
    load.reads('/accounts/root', activityPub)
    load.reads(`/.well-known/webfinger?resource=acct:root@${new URL(clients[0].base).host}`)

    const json = (method: string, body: unknown): RequestInit => ({
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    wrote = {
      comments: load.writes('comment', (client, text) =>
        client.raw(`/api/v1/videos/${video.uuid}/comment-threads`, json('POST', { text })),
      ),
      replies: load.writes('reply', async (_client, content) => {
        const inReplyTo = `${clients[0].base}/videos/watch/${video.uuid}`
        const note = peer.note({ author: commenter.url, inReplyTo, content })
        notes.push(note.id)
        // To the public address, which the signature covers.
        const { status, body } = await post(clients[0], commenter, peer.activity(commenter, 'Create', note))
        return new Response(status === 204 ? null : body, {
          status,
          headers: { 'retry-after': '1', 'content-type': 'application/problem+json' },
        })
      }),
      elements: load.writes('element', (client, name) =>
        client.raw(
          `/api/v1/video-playlists/${playlist}/videos`,
          json('POST', { videoId: video.id, startTimestamp: Number(name.split(' ')[1]) }),
        ),
      ),
      ratings: load.writes('rating', (client, name) => {
        const rating = Number(name.split(' ')[1]) % 3 === 0 ? 'dislike' : 'like'
        rated.push({ name, rating })
        return client.raw(`/api/v1/videos/${video.uuid}/rate`, json('PUT', { rating }))
      }),
      subscriptions: load.writes(
        'subscription',
        (client, name) =>
          client.raw('/api/v1/users/me/subscriptions', json('POST', { uri: `c${Number(name.split(' ')[1]) % CHANNELS}@${peer.host}` })),
        SELDOM_MS,
      ),
      uploads: load.writes(
        'video',
        (client, name) => {
          const form = new FormData()
          for (const [key, value] of Object.entries({ channelId, name, privacy: 1 })) form.set(key, String(value))
          form.set('videofile', new File([new Uint8Array(bytes)], 'video.mp4', { type: 'video/mp4' }))
          return client.raw('/api/v1/videos/upload', { method: 'POST', body: form })
        },
        SELDOM_MS,
      ),
      settings: load.writes('setting', (client, name) =>
        client.raw('/api/v1/config/custom', json('PUT', { ...custom, instance: { ...custom.instance, name } })),
      ),
    }
  }

  /** Breaks something while clients work and one uploads, and checks the recovery. */
  async function through(outage: string, work: () => Promise<void>): Promise<void> {
    await explained({ said: said() }, place(), async () => {
      await load.untilEachSucceeds(2, 20_000)
      const upload = resumable(outage, channelId)
      // Its result is checked below.
      upload.catch(() => undefined)
      await work()
      await load.untilEachSucceeds(2, RECOVERS_WITHIN)
      const { uuid } = await upload
      const [source] = await query<{ size: number }>(
        'select s.size::int as size from video_source s join video v on v.id = s.video_id where v.uuid = $1',
        [uuid],
      )
      expect(source).toEqual({ size: bytes.length })
      await untilHeard()
      expect(load.wrong).toEqual([])
    })
  }

  /** Uploads in many chunks, to the processes in turn; each is retried until it is accepted. */
  async function resumable(name: string, channelId: number): Promise<{ uuid: string }> {
    let turn = 0
    const client: Client = {
      ...clients[0],
      raw: (path, init) =>
        until(
          async () => {
            const answer = await clients[turn++ % 2]?.raw(path, init)
            if (!answer) throw new Error('There are two nodes.')
            return answer.status === 503 ? undefined : answer
          },
          { what: `an answer to ${init?.method} ${path}` },
        ),
    }
    const fields = { channelId, name, filename: 'video.mp4', privacy: 1 }
    return await persistentUpload({ client, bytes, chunkSize: Math.ceil(bytes.length / CHUNKS), fields }).proceed()
  }

  let names = 0
  /** Both processes notify each other of changes, before their caches expire. */
  async function untilHeard(): Promise<void> {
    for (const [from, to] of [clients, clients.toReversed()] as [Client, Client][]) {
      const kept = async () => (await (await fetch(`${to.base}/api/v1/videos/${video.uuid}`)).json()) as { name: string }
      await until(
        async () => {
          await kept()
          const name = `Heard ${names++}`
          await from.send('PUT', `/api/v1/videos/${video.uuid}`, { name })
          return await until(async () => (await kept()).name === name, { withinMs: 2_000 }).catch(() => false)
        },
        { withinMs: RECOVERS_WITHIN, what: 'a change at one process that the other hears of' },
      )
    }
  }

  if (backEnd === 'Redis') {
    it('continues after Redis is flushed', async () => {
      const refused = load.refused
      await through('wiped', async () => {
        const connection = new Redis(redis?.url ?? '')
        await connection.flushall()
        connection.disconnect()
      })
      expect(load.refused).toBe(refused)
    })

    it('continues without Redis, and uses it again when it is back', async () => {
      await through('redis', async () => {
        await redis?.stop()
        await load.untilEachSucceeds(3, RECOVERS_WITHIN)
        redis = await startOwnRedis({ port: redis?.port ?? 0 })
      })
    })
  }

  it.each([backEnd === 'Redis' ? 'fast' : 'immediate'] as const)('waits for PostgreSQL during a restart: %s', async (mode) => {
    await through(mode, async () => {
      await postgres.stop(mode)
      await load.untilRefused(RECOVERS_WITHIN)
      await postgres.start()
    })
  })

  it('has everything that was acknowledged, once', async () => {
    await load.stop()
    await explained({ said: said() }, place(), async () => {
      await until(async () => (await query('select 1 from delivery')).length === 0, {
        what: 'the end of the deliveries',
        withinMs: 30_000,
      })
      await untilSettled(place())
      await until(async () => (await wrongCounters({ query })).length === 0, { what: 'right counters' })
    })
    const { comments, replies, elements, subscriptions, uploads, ratings, settings } = wrote
    const column = async (sql: string, values: unknown[] = []) => (await query<{ name: string }>(sql, values)).map(({ name }) => name)

    expectOnce(comments, await column("select text as name from comment where text like 'comment %'"))
    expectOnce(replies, await column('select text as name from comment where url = any($1)', [notes]))
    expectOnce(elements, await column("select 'element ' || start_timestamp as name from playlist_element"))
    expectOnce(uploads, await column("select name from video where name like 'video %'"))

    const followed = await column(`select replace(x.preferred_username, 'c', 'subscription ') as name
      from follow f join actor x on x.id = f.target_id where f.state in ('pending', 'accepted')`)
    expect(followed.length).toBe(new Set(followed).size)
    const requested = (names: string[]) => names.map((name) => `subscription ${Number(name.split(' ')[1]) % CHANNELS}`)
    expect(requested(subscriptions.acknowledged).filter((name) => !followed.includes(name))).toEqual([])
    // Each was sent one Follow, possibly repeatedly.
    const follows = peer.of('Follow').map(({ activity }) => `${activity.id} ${String(activity.object)}`)
    expect(new Set(follows).size).toBe(followed.length)

    // The last acknowledged write counts, or a later one without an answer.
    const [kept] = await column('select type as name from rating where video_id = $1', [video.id])
    const last = rated.findIndex(({ name }) => name === ratings.acknowledged.at(-1))
    expect(rated.slice(last).map(({ rating }) => rating)).toContain(kept)
    const { instance } = await clients[1].get<{ instance: { name: string } }>('/api/v1/config')
    const after = settings.unsure.filter((name) => numberOf(name) > numberOf(settings.acknowledged.at(-1) ?? ''))
    expect([settings.acknowledged.at(-1), ...after]).toContain(instance.name)
  })
})

const numberOf = (name: string): number => Number(name.split(' ')[1])

/** Everything acknowledged is there, nothing twice, and nothing unrequested. */
function expectOnce({ acknowledged, unsure }: Writer, found: string[]): void {
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(found.length).toBe(new Set(found).size)
  expect(acknowledged.filter((name) => !found.includes(name))).toEqual([])
  expect(found.filter((name) => !acknowledged.includes(name) && !unsure.includes(name))).toEqual([])
}
