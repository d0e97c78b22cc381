// The list of jobs and the commands on it for administrators, on two processes of one server.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { eventually } from '../../support/until.ts'

interface Job {
  id: string
  state: string
  type: string
  data: Record<string, unknown>
  progress: number
  error: string | null
  priority?: number
  attempts?: number
  createdAt: string
  processedOn: string | null
  finishedOn: string | null
}

const SETTINGS = {
  config: {
    transcoding: { enabled: false },
    storyboards: { enabled: true },
    vireo: { jobs: { list_max: 50 }, runtime: { sweep_interval: '200 ms' } },
  },
}
let node: TestNode
let beside: TestNode
let root: Client
let db: pg.Client
let bytes: Uint8Array<ArrayBuffer>
beforeAll(async () => {
  node = await startTestNode(SETTINGS)
  beside = await startTestNode({ ...SETTINGS, beside: node })
  root = await login(node.base, node.username, node.password)
  db = new pg.Client({ connectionString: node.databaseUrl })
  await db.connect()
  bytes = new Uint8Array(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await db?.end()
  await beside?.stop()
  await node?.stop()
})

const list = (path: string) => root.get<{ total: number; data: Job[] }>(`/api/v1/jobs${path}`)
const idsOf = async (path: string) => (await list(path)).data.map(({ id }) => id)
const one = async <T extends object>(text: string, values: unknown[] = []): Promise<T> =>
  (await db.query<T>(text, values)).rows[0] ?? Promise.reject(new Error('no row'))

describe('the list', () => {
  const started: string[] = []
  const insert = async (row: Record<string, unknown>): Promise<string> => {
    const whole = { queue: 'io', data: '{}', created_at: new Date(), due_at: new Date(Date.now() + 3_600_000), ...row }
    const names = Object.keys(whole)
    const { id } = await one<{ id: string }>(
      `insert into job (${names}) values (${names.map((_, index) => `$${index + 1}`)}) returning id::text`,
      Object.values(whole),
    )
    started.push(id)
    return id
  }
  beforeAll(async () => {
    // Jobs of the start do not matter here.
    await eventually(async () => {
      const { open } = await one<{ open: string }>("select count(*) as open from job where state = 'active'")
      expect(open).toBe('0')
    })
  })
  beforeEach(async () => {
    await db.query('delete from job')
    await db.query('delete from delivery')
    await db.query('delete from incoming_activity')
  })

  it('shows what a job is about, its progress and its error', async () => {
    const createdAt = new Date('2026-05-01T12:00:00Z')
    const id = await insert({
      type: 'video-transcoding',
      state: 'failed',
      data: { transcodingId: 7 },
      progress: 40,
      priority: 100,
      failures: 2,
      max_attempts: 2,
      error: 'no space left',
      created_at: createdAt,
      started_at: new Date('2026-05-01T12:01:00Z'),
      finished_at: new Date('2026-05-01T12:02:00Z'),
    })
    expect(await list('/failed')).toEqual({
      total: 1,
      data: [
        {
          id,
          state: 'failed',
          type: 'video-transcoding',
          data: { transcodingId: 7 },
          progress: 40,
          priority: 100,
          error: 'no space left',
          attempts: 2,
          createdAt: '2026-05-01T12:00:00.000Z',
          processedOn: '2026-05-01T12:01:00.000Z',
          finishedOn: '2026-05-01T12:02:00.000Z',
        },
      ],
    })
  })

  it('is filtered by state, and by type with the public names, in pages, in both orders', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 4, 1, 12, minute))
    const removal = await insert({ type: 'video-removal', state: 'completed', created_at: at(1) })
    const mail = await insert({ type: 'email', state: 'completed', created_at: at(2) })
    const cancelled = await insert({ type: 'activitypub-follow', state: 'cancelled', created_at: at(3) })
    const first = await insert({ type: 'video-transcoding', state: 'waiting', priority: 100, created_at: at(4) })
    const plain = await insert({ type: 'email', state: 'waiting', created_at: at(5) })
    const delayed = await insert({ type: 'email', state: 'delayed', created_at: at(6) })
    expect(await idsOf('/completed')).toEqual([cancelled, mail, removal])
    expect(await idsOf('/completed?sort=createdAt')).toEqual([removal, mail, cancelled])
    expect(await list('/completed?start=1&count=1')).toMatchObject({ total: 3, data: [{ id: mail }] })
    expect((await list('?jobType=activitypub-cleaner')).data).toMatchObject([
      { id: removal, type: 'activitypub-cleaner', data: { task: 'video-removal' } },
    ])
    expect((await list('/waiting')).data.map(({ id, state }) => [id, state])).toEqual([
      [plain, 'waiting'],
      [first, 'waiting'],
    ])
    expect(await idsOf('/prioritized')).toEqual([first])
    expect((await list('?jobType=video-transcoding')).data).toMatchObject([{ state: 'prioritized' }])
    expect(await idsOf('/delayed?jobType=email')).toEqual([delayed])
    for (const state of ['paused', 'waiting-children', 'active', 'failed']) {
      expect(await list(`/${state}`)).toEqual({ total: 0, data: [] })
    }
    expect(await list('?jobType=email&start=1000')).toEqual({ total: 3, data: [] })
    expect(await list('/delayed?jobType=videos-views-stats')).toMatchObject({
      total: 1,
      data: [{ id: 'repeat:fold-views', state: 'delayed', data: {} }],
    })
  })

  it('of delayed jobs is stable: postponed jobs, and jobs that wait for another server, are listed by type only', async () => {
    const due = (seconds: number) => new Date(Date.now() + seconds * 1000)
    const soon = await insert({ type: 'remote-rates', state: 'delayed', due_at: due(8), created_at: due(-4) })
    const putOff = await insert({ type: 'remote-rates', state: 'delayed', due_at: due(600), created_at: due(-3) })
    const digest = await insert({ type: 'email', state: 'delayed', due_at: due(3600), created_at: due(-2) })
    const failed = { state: 'delayed', due_at: due(600), error: 'no answer', failures: 1 }
    const away = await insert({ ...failed, type: 'comments-refresh', created_at: due(-1) })
    const broken = await insert({ ...failed, type: 'video-transcoding', created_at: due(0) })
    expect((await idsOf('/delayed')).toSorted()).toEqual([broken, soon, 'repeat:fold-views'].toSorted())
    expect((await list('/delayed')).total).toBe(3)
    expect(await idsOf('/delayed?jobType=activitypub-http-fetcher')).toEqual([putOff, soon])
    expect(await idsOf('/delayed?jobType=activitypub-refresher')).toEqual([away])
    expect(await idsOf('/delayed?jobType=email')).toEqual([digest])
    expect((await list('?count=50')).data.filter(({ state }) => state === 'delayed')).toHaveLength(6)
  })

  it('contains deliveries and received activities: waiting, delayed and failed', async () => {
    const { host } = await one<{ host: number }>(
      "insert into remote_host (host) values ('calm.example') on conflict (host) do update set host = excluded.host returning id as host",
    )
    const { away } = await one<{ away: number }>(
      "insert into remote_host (host, state) values ('away.example', 'dormant') on conflict (host) do update set state = 'dormant' returning id as away",
    )
    const { document } = await one<{ document: string }>(
      "insert into document (activity_id, type, body) values ('https://x.example/1', 'Create', 'the body') returning id as document",
    )
    const deliver = async (hostId: number, state: string, dueAt: Date | null = null) =>
      (
        await one<{ id: string }>(
          `insert into delivery (document_id, host_id, actor_id, inbox_url, state, due_at, error, context)
           values ($1, $2, (select min(id) from actor where host_id is null), 'https://a:b@x.example/inbox?token=t&n=' || random(), $3, $4,
             'https://x.example/inbox?n=1&access_token=abcdef answered 500 to Bearer abcdef0123456789abcdef', '{"tries": 3}') returning id::text`,
          [document, hostId, state, dueAt],
        )
      ).id
    const failing = async (name: string, isHeard: boolean) =>
      (
        await one<{ id: number }>(
          "insert into remote_host (host, state, due_at, context) values ($1, 'failing', now() - interval '1 second', $2) returning id",
          [name, { failures: 1, isHeard }],
        )
      ).id
    const waiting = await deliver(host, 'waiting')
    const probed = await deliver(await failing('probed.example', false), 'waiting')
    const awake = await deliver(await failing('awake.example', true), 'waiting')
    const held = await deliver(away, 'waiting')
    const putOff = await deliver(host, 'waiting', new Date(Date.now() + 3_600_000))
    const parked = await deliver(host, 'parked')
    const receive = async (state: string, dueAt: Date | null = null) =>
      (
        await one<{ id: string }>(
          `insert into incoming_activity (activity_id, type, actor_url, host, body, body_hash, said_at, state, due_at)
           values ('https://y.example/' || $1 || random(), 'Like', 'https://y.example/a', 'y.example', 'the body', md5('{}')::uuid, now(), $1, $2)
           returning id::text`,
          [state, dueAt],
        )
      ).id
    const unverified = await receive('unverified')
    const retrying = await receive('retrying')
    // The server of their keys did not answer, and is retried later, or was just now.
    const ofAway = [
      await receive('unverified', new Date(Date.now() + 3_600_000)),
      await receive('unverified', new Date(Date.now() - 1000)),
    ].map((id) => `inbox-${id}`)
    const given = await receive('parked')
    await receive('done')

    const type = 'jobType=activitypub-http-unicast'
    expect(await idsOf(`/waiting?${type}`)).toEqual([`delivery-${awake}`, `delivery-${waiting}`])
    expect(await idsOf(`/delayed?${type}`)).toEqual([`delivery-${putOff}`, `delivery-${held}`, `delivery-${probed}`])
    expect(await list(`/failed?${type}`)).toMatchObject({ total: 1, data: [{ id: `delivery-${parked}`, attempts: 3 }] })
    expect((await list(`?${type}`)).total).toBe(6)
    const inbox = 'jobType=activitypub-http-fetcher'
    expect(await idsOf(`/waiting?${inbox}`)).toEqual([`inbox-${unverified}`])
    expect(await idsOf(`/delayed?${inbox}`)).toEqual([...ofAway.toReversed(), `inbox-${retrying}`])
    expect(await idsOf(`/failed?${inbox}`)).toEqual([`inbox-${given}`])
    expect((await list(`?${inbox}`)).total).toBe(5)
    expect((await list(`?${inbox}`)).data.filter(({ state }) => state === 'delayed')).toHaveLength(3)
    expect((await list('/failed')).total).toBe(2)
    expect(await idsOf('/delayed')).toEqual(['repeat:fold-views'])

    const whole = JSON.stringify(await list('?count=50'))
    for (const secret of ['a:b@', 'abcdef', 'token=t', 'the body']) expect(whole).not.toContain(secret)
    expect(whole).toContain('access_token=[hidden]')
  })

  it('runs as many jobs at once as configured', async () => {
    for (const [count, status] of [
      ['50', 200],
      ['51', 400],
    ] as const) {
      const answer = await root.raw(`/api/v1/jobs?count=${count}`)
      expect(answer.status).toBe(status)
    }
    expect((await root.raw('/api/v1/jobs/no-state')).status).toBe(400)
    // A periodic job may have its next run in between.
    await eventually(async () => expect(await list('/?count=1')).toEqual(await list('?count=1')))
  })
})

describe('a paused queue', () => {
  let channelId: number
  beforeAll(async () => {
    const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    channelId = me.videoChannels[0]?.id ?? 0
  })

  async function upload(to: TestNode): Promise<{ id: number; uuid: string }> {
    const form = new FormData()
    for (const [name, value] of Object.entries({ channelId: String(channelId), name: 'A video', privacy: '1' })) {
      form.set(name, value)
    }
    form.set('videofile', new File([bytes], 'small.mp4', { type: 'video/mp4' }))
    const answer = await fetch(`${to.base}/api/v1/videos/upload`, {
      method: 'POST',
      headers: { authorization: root.authorization },
      body: form,
    })
    expect(answer.status).toBe(200)
    return ((await answer.json()) as { video: { id: number; uuid: string } }).video
  }
  const storyboards = async (uuid: string) =>
    (await root.get<{ storyboards: unknown[] }>(`/api/v1/videos/${uuid}/storyboards`)).storyboards.length
  const ask = async (move: 'pause' | 'resume') => {
    expect((await root.raw(`/api/v1/jobs/${move}`, { method: 'POST' })).status).toBe(204)
  }
  const type = 'jobType=generate-video-storyboard'

  it('shows the removal of a video with its response, and no longer when its files are gone', async () => {
    const { id, uuid } = await upload(node)
    const caption = new FormData()
    caption.set('captionfile', new File(['WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'], 'fr.vtt', { type: 'text/vtt' }))
    expect((await root.raw(`/api/v1/videos/${uuid}/captions/fr`, { method: 'PUT', body: caption })).status).toBe(204)
    await eventually(async () => expect(await storyboards(uuid)).toBe(1))
    await ask('pause')
    expect((await root.raw(`/api/v1/videos/${uuid}`, { method: 'DELETE' })).status).toBe(204)
    expect((await list('/waiting?jobType=activitypub-cleaner')).data).toMatchObject([{ data: { task: 'video-removal' } }])
    await ask('resume')
    // In one response: a job moves between states, and waits a moment while others are still to be announced.
    await eventually(async () => {
      const { data } = await list('?count=50')
      const open = data.filter(({ id, state }) => /^(waiting|active|delayed)$/.test(state) && !id.startsWith('repeat:'))
      expect(open).toEqual([])
    })
    expect((await db.query('select kind, name from pending_file')).rows).toEqual([])
    expect((await db.query('select 1 from video where id = $1', [id])).rows).toEqual([])
  })

  it('starts nothing in any process, also after a restart, and continues everywhere when it is resumed', async () => {
    await ask('pause')
    await ask('pause')
    const videos = [await upload(node), await upload(beside)]
    expect((await list(`/waiting?${type}`)).data.map(({ data }) => data.videoUUID)).toEqual(videos.map(({ uuid }) => uuid).toReversed())
    // Other work continues: the description changes, and followers get it later.
    const update = new FormData()
    update.set('name', 'Another name')
    await root.send('PUT', `/api/v1/videos/${videos[0]?.id}`, update)
    await beside.restart()
    await eventually(async () => {
      const { left } = await one<{ left: string }>('select count(*) as left from outbox')
      expect(left).toBe('0')
    })
    const storyboardsWaiting = await list(`/waiting?${type}`)
    expect(storyboardsWaiting.data.map(({ data }) => data)).toEqual(
      videos.toReversed().map(({ uuid: videoUUID }) => ({ videoUUID, federate: true })),
    )
    expect(await list(`/active`)).toEqual({ total: 0, data: [] })
    await ask('resume')
    await ask('resume')
    for (const { uuid } of videos) await eventually(async () => expect(await storyboards(uuid)).toBe(1))
    await eventually(async () => expect(await list(`/waiting?${type}`)).toEqual({ total: 0, data: [] }))
  })
})
