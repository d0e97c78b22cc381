// Archives of users through the API of a whole server, on the file system and in object storage: contents, access, and cancelled exports.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { archiveParts, partPath } from '../../../src/actors/user-archive/index.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { PRIVATE_FILE } from '../../support/private-file-headers.ts'
import { type ArchiveEntry, readArchive } from '../../support/read-archive.ts'
import { everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
import { until } from '../../support/until.ts'
import { type FullUser, makeFullUser } from './full-user.ts'

interface Export {
  id: number
  state: { id: number; label: string }
  size: number | null
  fileUrl: null
  privateDownloadUrl: string | null
  createdAt: string
  expiresOn: string
}

type Json = { [key: string]: unknown }

const FIXTURE = new URL('../../fixtures/peertube-export.zip', import.meta.url)

let mail: MailServer
let s3: TestS3
beforeAll(async () => {
  mail = await startMailServer()
  s3 = await startS3()
})
afterAll(async () => {
  await mail?.close()
  await s3?.stop()
})

const jsonOf = (archive: Map<string, ArchiveEntry>, name: string): Json => JSON.parse(String(archive.get(name)?.bytes ?? 'null')) as Json

/** The types below each path, of all list items combined; a member that is sometimes null has its other type. */
function shapeOf(value: unknown, path = '', shape = new Map<string, Set<string>>()): Map<string, Set<string>> {
  const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  const kinds = shape.get(path) ?? new Set()
  shape.set(path, kinds.add(kind))
  if (Array.isArray(value)) for (const item of value) shapeOf(item, `${path}[]`, shape)
  // Values of ffprobe, and objects keyed by language.
  else if (kind === 'object' && !/\.(metadata|captions)$/.test(path)) {
    for (const [key, inner] of Object.entries(value as Json)) shapeOf(inner, `${path}.${key}`, shape)
  }
  return shape
}

function expectSameShape(local: Json, remote: Json, { exactly }: { exactly: boolean }): void {
  const [mine, known] = [shapeOf(local), shapeOf(remote)]
  const paths = (of: Map<string, unknown>) => [...of.keys()].toSorted()
  if (exactly) expect(paths(mine)).toEqual(paths(known))
  else expect(paths(known).filter((path) => !mine.has(path))).toEqual([])
  for (const [path, kinds] of known) {
    const wanted = [...kinds].filter((kind) => kind !== 'null')
    const found = [...(mine.get(path) ?? [])].filter((kind) => kind !== 'null')
    if (wanted.length > 0 && found.length > 0) expect([path, found]).toEqual([path, wanted])
  }
}

describe.each(['file system', 'object storage'] as const)('an archive on the %s', (place) => {
  const inObjects = place === 'object storage'
  let node: TestNode
  let pool: pg.Pool
  let root: Client
  let mover: FullUser

  beforeAll(async () => {
    const smtp = { hostname: '127.0.0.1', port: mail.port, disable_starttls: true, tls: false }
    const objects = everythingIn(s3.endpoint)
    node = await startTestNode({
      config: {
        smtp: { ...smtp, from_address: 'vireo@example.com' },
        transcoding: { enabled: false },
        storyboards: { enabled: true },
        ...(inObjects ? { ...objects, vireo: objects.vireo } : {}),
      },
    })
    pool = new pg.Pool({ connectionString: node.databaseUrl, max: 3 })
    pool.on('error', () => undefined)
    root = await login(node.base, node.username, node.password)
    mover = await makeFullUser(node, root, inObjects ? 'mover2' : 'mover')
  })
  afterAll(async () => {
    await pool?.end()
    await node?.stop()
  })

  const address = (of: FullUser = mover) => `/api/v1/users/${of.userId}/exports`
  const list = async (of: FullUser = mover) => (await of.client.get<{ total: number; data: Export[] }>(address(of))).data
  const request = async (withVideoFiles: boolean, by = mover.client, of = mover) =>
    (await by.send<{ export: { id: number } }>('POST', `${address(of)}/request`, { withVideoFiles })).export.id
  const statusOf = async (path: string, by = mover.client, init: RequestInit = {}) => (await by.raw(path, init)).status
  const refused = (withVideoFiles: unknown, by = mover.client) =>
    by.raw(`${address()}/request`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ withVideoFiles }),
    })
  const settled = (id: number, of: FullUser = mover): Promise<Export> =>
    until(async () => (await list(of)).find((one) => one.id === id && ['Completed', 'Failed'].includes(one.state.label)), {
      what: 'the end of an export',
    })
  const remove = (id: number) => mover.client.send('DELETE', `${address()}/${id}`)
  const stored = async (): Promise<string[]> => {
    if (inObjects) return await s3.keys('user-exports')
    const folder = join(node.dataDir, 'storage', 'user-exports')
    const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    return found.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  const noted = async () => (await pool.query("select 1 from pending_file where kind = 'user_exports'")).rowCount ?? 0
  const untilClean = () => until(async () => (await stored()).length === 0 && (await noted()) === 0)
  const download = async (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })
  const urlOf = (made: Export): string => made.privateDownloadUrl ?? ''
  /** While it is held, no file of the kind can be read. */
  const holding = async (table: string, work: () => Promise<void>): Promise<void> => {
    const holder = await pool.connect()
    try {
      await holder.query('begin')
      await holder.query(`lock table ${table} in access exclusive mode`)
      await work()
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  }
  const processing = (id: number) => until(async () => (await list()).some((one) => one.id === id && one.state.label === 'Processing'))

  it('contains what the reference server exports, with the same paths and members', async () => {
    const id = await request(true)
    const refusal = await refused(true)
    expect([refusal.status, await refusal.json()]).toMatchObject([400, { detail: 'User has already processing or completed exports' }])
    const made = await settled(id)
    expect(made).toEqual({
      id,
      state: { id: 3, label: 'Completed' },
      size: expect.any(Number),
      fileUrl: null,
      privateDownloadUrl: expect.stringMatching(
        new RegExp(`^${node.base}/download/user-exports/user-export-${mover.userId}-[\\w-]+\\.zip\\?jwt=`),
      ),
      createdAt: expect.any(String),
      expiresOn: expect.any(String),
    })
    const answer = await download(urlOf(made))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-length': String(made.size),
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="user-export-${mover.userId}-${made.createdAt}.zip"`,
      ...PRIVATE_FILE,
    })
    const archive = await readArchive(Buffer.from(await answer.arrayBuffer()))
    const remote = await readArchive(await readFile(FIXTURE))

    const { first, second, username } = mover
    expect([...archive.keys()].filter((name) => !name.startsWith('files/')).toSorted()).toEqual(
      [...remote.keys()].filter((name) => !name.startsWith('files/')).toSorted(),
    )
    const playlists = jsonOf(archive, 'peertube/video-playlists.json').videoPlaylists as Json[]
    expect([...archive.keys()].filter((name) => name.startsWith('files/')).toSorted()).toEqual(
      [
        `files/account/avatars/${username}.png`,
        `files/channels/banners/${username}_second.png`,
        `files/videos/captions/${first.uuid}-en.vtt`,
        ...[first, second].flatMap(({ uuid }) => [`files/videos/thumbnails/${uuid}.jpg`, `files/videos/video-files/${uuid}.mp4`]),
        `files/video-playlists/thumbnails/${playlists.find(({ type }) => type === 1)?.uuid}.jpg`,
      ].toSorted(),
    )
    for (const [name, { method }] of archive) expect([name, method]).toEqual([name, /\.(json|vtt)$/.test(name) ? 8 : 0])
    expect(archive.get(`files/videos/video-files/${first.uuid}.mp4`)?.bytes.equals(mover.bytes)).toBe(true)

    for (const name of remote.keys()) {
      if (!name.endsWith('.json')) continue
      expectSameShape(jsonOf(archive, name), jsonOf(remote, name), { exactly: name.startsWith('peertube/') })
    }
    for (const { name, item, list: key } of archiveParts) {
      const document = jsonOf(archive, partPath(name))
      for (const one of key === null ? [document] : (document[key] as Json[])) item.parse(one)
    }
    for (const [name, { bytes }] of archive) {
      if (!name.endsWith('.json')) continue
      for (const [, path = ''] of String(bytes).matchAll(/"\.\.\/(files\/[^"]+)"/g)) expect(archive.has(path)).toBe(true)
    }

    const videoUrl = (uuid: string) => `${node.base}/videos/watch/${uuid}`
    const host = new URL(node.base).host
    expect(jsonOf(archive, 'peertube/likes.json')).toMatchObject({ likes: [{ videoUrl: videoUrl(mover.other.uuid) }] })
    expect(jsonOf(archive, 'peertube/following.json')).toMatchObject({
      following: [{ handle: `${username}@${host}`, targetHandle: `root_channel@${host}` }],
    })
    expect(jsonOf(archive, 'peertube/videos.json')).toMatchObject({
      videos: [
        {
          uuid: first.uuid,
          tags: ['sea', 'travel'],
          chapters: [{ timecode: 0 }, { timecode: 1 }],
          state: 1,
          archiveFiles: {
            videoFile: `../files/videos/video-files/${first.uuid}.mp4`,
            captions: { en: `../files/videos/captions/${first.uuid}-en.vtt` },
          },
        },
        { uuid: second.uuid, privacy: 2, channel: { name: `${username}_second` } },
      ],
    })
    const outbox = jsonOf(archive, 'activity-pub/outbox.json')
    expect(outbox).toMatchObject({
      id: 'outbox.json',
      type: 'OrderedCollection',
      totalItems: 3,
      orderedItems: [
        { type: 'Create', object: { type: 'Video', attachment: [{ type: 'Video', mediaType: 'video/mp4' }] } },
        { type: 'Create', to: [], object: { type: 'Video', id: videoUrl(second.uuid) } },
        { type: 'Create', object: { type: 'Note', inReplyTo: videoUrl(mover.other.uuid) } },
      ],
    })
    // Its items are embedded, and have no context of their own.
    expect((outbox.orderedItems as Json[]).filter((one) => '@context' in one)).toEqual([])
    expect(jsonOf(archive, 'activity-pub/actor.json')).toMatchObject({
      following: 'following.json',
      likes: 'likes.json',
      outbox: 'outbox.json',
      icon: [{ url: `../files/account/avatars/${username}.png` }],
    })

    const told = await mail.next(mover.email)
    expect(told.subject).toMatch(/ Your export archive has been created$/)
    expect(told.text).toContain(`${node.base}/my-account/import-export`)
  })

  it('is downloaded by its secret URL alone, also in ranges, and by no other', async () => {
    const [made] = await list()
    if (!made) throw new Error('There is no archive.')
    const url = new URL(urlOf(made))
    const whole = Buffer.from(await (await download(url.href)).arrayBuffer())
    const piece = await download(url.href, { range: 'bytes=10-19' })
    expect([piece.status, piece.headers.get('content-range')]).toEqual([206, `bytes 10-19/${made.size}`])
    expect(Buffer.from(await piece.arrayBuffer()).equals(whole.subarray(10, 20))).toBe(true)
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(made.size)])

    const of = async (change: (url: URL) => void) => {
      const changed = new URL(url)
      change(changed)
      return (await fetch(changed)).status
    }
    const token = url.searchParams.get('jwt') ?? ''
    const [header = '', claims = '', signature = ''] = token.split('.')
    const others = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), archive: 'user-export-1-x.zip' }
    const forged = `${header}.${Buffer.from(JSON.stringify(others)).toString('base64url')}.${signature}`
    expect([
      await of((one) => one.searchParams.delete('jwt')),
      await of((one) => one.searchParams.set('jwt', 'bad')),
      await of((one) => one.searchParams.set('jwt', forged)),
      await of((one) => one.searchParams.set('jwt', `${token.slice(0, -4)}AAAA`)),
      await of((one) => {
        one.pathname = '/download/user-exports/unknown.zip'
      }),
      await of((one) => {
        one.pathname = '/download/user-exports/..%2fuser-exports%2fx.zip'
      }),
    ]).toEqual([400, 400, 403, 403, 404, 404])
    await pool.query("update user_export set filename = 'user-export-of-another.zip' where id = $1", [made.id])
    expect(
      await of((one) => {
        one.pathname = '/download/user-exports/user-export-of-another.zip'
      }),
    ).toBe(403)
    const name = url.pathname.split('/').at(-1)
    await pool.query('update user_export set filename = $2 where id = $1', [made.id, name])
    expect(await of(() => undefined)).toBe(200)
  })

  it('is removed with its bytes, and can be requested again without video files', async () => {
    const [before] = await list()
    if (!before) throw new Error('There is no archive.')
    expect(await statusOf(`${address()}/424242`, mover.client, { method: 'DELETE' })).toBe(404)
    await remove(before.id)
    await untilClean()
    expect([(await download(urlOf(before))).status, await list()]).toEqual([404, []])

    const made = await settled(await request(false, root))
    const archive = await readArchive(Buffer.from(await (await download(urlOf(made))).arrayBuffer()))
    expect([...archive.keys()].filter((name) => name.startsWith('files/videos/')).toSorted()).toEqual(
      [
        ...[mover.first, mover.second].map(({ uuid }) => `files/videos/thumbnails/${uuid}.jpg`),
        `files/videos/captions/${mover.first.uuid}-en.vtt`,
      ].toSorted(),
    )
    const { videos } = jsonOf(archive, 'peertube/videos.json') as { videos: { archiveFiles: Json }[] }
    expect(videos.map(({ archiveFiles }) => archiveFiles.videoFile)).toEqual([null, null])
    expect([...archive.values()].every(({ modifiedAt }) => Math.abs(+modifiedAt - Date.parse(made.createdAt)) < 2000)).toBe(true)
    await remove(made.id)
    await untilClean()
  })

  it('is cancelled when it is removed while it is written, and leaves nothing behind', async () => {
    await holding('watched_words_list', async () => {
      const id = await request(true)
      await processing(id)
      await until(async () => (await noted()) === 1)
      await remove(id)
      expect(await list()).toEqual([])
    })
    await untilClean()
    await until(async () => {
      const { rows } = await pool.query("select 1 from job where type = 'create-user-export' and state <> 'completed'")
      return rows.length === 0
    })
    expect(await noted()).toBe(0)
  })

  it('is completed by another worker when one is lost, and fails when that happens too often', async () => {
    const lose = (id: number, context: object) =>
      pool.query(
        `update user_export set lease_owner = 'elsewhere|1-1|1#x', due_at = now() - interval '1 minute', context = $2
         where id = $1`,
        [id, JSON.stringify(context)],
      )
    let id = 0
    await holding('watched_words_list', async () => {
      id = await request(true)
      await processing(id)
      await lose(id, { lost: 0, error: null })
      await until(async () => {
        const { rows } = await pool.query<{ lost: number }>("select (context->>'lost')::int as lost from user_export where id = $1", [id])
        return rows[0]?.lost === 1
      })
    })
    expect((await settled(id)).state.label).toBe('Completed')
    await until(async () => (await stored()).length === 1 && (await noted()) === 0)
    await remove(id)
    await untilClean()

    await holding('watched_words_list', async () => {
      id = await request(true)
      await processing(id)
      await lose(id, { lost: 2, error: null })
      expect((await settled(id)).state).toEqual({ id: 4, label: 'Failed' })
    })
    const told = await until(async () =>
      mail.mails.find(({ subject, to }) => to.includes(mover.email) && subject.includes('could not be created')),
    )
    expect(told.text).toContain('/my-account/import-export')
    await untilClean()
    // A failed one blocks nothing.
    const again = await settled(await request(false))
    expect((await list()).map((one) => one.state.label)).toEqual(['Completed', 'Failed'])
    await remove(again.id)
    await remove(id)
  })

  it('goes when its time has come', async () => {
    const made = await settled(await request(false))
    await pool.query('update user_export set due_at = now(), expires_on = now() where id = $1', [made.id])
    expect((await download(urlOf(made))).status).toBe(404)
    expect(await list()).toEqual([])
    await untilClean()
    await until(async () => (await pool.query('select 1 from user_export')).rows.length === 0)
  })

  if (inObjects) {
    it('waits when the connection to a video file is lost while it is read', async () => {
      s3.cut(({ method, path }) => method === 'GET' && path.startsWith('/web-videos/'))
      const id = await request(true)
      const waiting = "from job where type = 'create-user-export' and state = 'delayed'"
      await until(async () => (await pool.query(`select 1 ${waiting}`)).rows.length > 0)
      expect((await list()).map(({ state }) => state.label)).not.toContain('Failed')
      s3.cut(undefined)
      await until(
        async () => {
          await pool.query(`update job set due_at = now() where id in (select id ${waiting})`)
          return (await list()).some((one) => one.id === id && one.state.label === 'Completed')
        },
        { what: 'the end of an export' },
      )
      await remove(id)
      await untilClean()
    })
  }

  if (!inObjects) {
    it('has a URL that opens for its user as long as the user may have it', async () => {
      const client = await makeUser('locked')
      const { id: userId } = await client.get<{ id: number }>('/api/v1/users/me')
      const locked = { ...mover, client, userId }
      const made = await settled(await request(false, client, locked), locked)
      const admin = await makeUser('admin2', 0)
      const { id: adminId } = await admin.get<{ id: number }>('/api/v1/users/me')
      const urlFor = async (by: Client) => (await by.get<{ data: Export[] }>(address(locked))).data.map(urlOf)[0] ?? ''
      const [own, remote] = [urlOf(made), await urlFor(admin)]
      const statuses = async () => [(await download(own)).status, (await download(remote)).status]
      expect(await statuses()).toEqual([200, 200])
      await root.send('POST', `/api/v1/users/${userId}/block`)
      expect(await statuses()).toEqual([403, 200])
      await root.send('POST', `/api/v1/users/${userId}/unblock`)
      await root.send('PUT', `/api/v1/users/${adminId}`, { role: 1 })
      expect(await statuses()).toEqual([200, 403])
      await root.send('DELETE', `${address(locked)}/${made.id}`)
    })

    it('is requested and removed only by its user and administrators, within the configured limits', async () => {
      const missing = await refused(undefined)
      expect([missing.status, await missing.json()]).toMatchObject([
        400,
        { 'invalid-params': { withVideoFiles: { msg: 'Should have withVideoFiles boolean', location: 'body' } } },
      ])
      const other = await makeUser('stranger')
      expect((await refused(false, other)).status).toBe(403)
      expect(await statusOf(address(), other)).toBe(403)
      expect(await statusOf('/api/v1/users/424242/exports', root)).toBe(404)
      expect(await statusOf('/api/v1/users/x/exports', root)).toBe(400)

      const custom = await root.get<{ export: { users: Json } }>('/api/v1/config/custom')
      const configure = (users: Json) =>
        root.send('PUT', '/api/v1/config/custom', {
          ...custom,
          export: { users: { ...custom.export.users, ...users } },
        })
      await configure({ maxUserVideoQuota: 1 })
      const tooLarge = await refused(true)
      expect([tooLarge.status, await tooLarge.json()]).toMatchObject([403, { code: 'max_user_video_quota_exceeded_for_user_export' }])
      const made = await settled(await request(false))
      await configure({ enabled: false, exportExpiration: 3_600_000 })
      const { export: shown } = await root.get<{ export: Json }>('/api/v1/config')
      expect(shown).toEqual({
        users: {
          enabled: false,
          exportExpiration: 3_600_000,
          maxUserVideoQuota: custom.export.users.maxUserVideoQuota,
        },
      })
      const off = await refused(false)
      expect([off.status, await off.json()]).toMatchObject([400, { detail: 'User export is disabled on this instance' }])
      expect(await statusOf(address())).toBe(400)
      expect((await download(urlOf(made))).status).toBe(400)
      await configure({})
      await remove(made.id)
      const again = await settled(await request(false))
      expect(Date.parse(again.expiresOn) - Date.now()).toBeGreaterThan(3_600_000)
      await remove(again.id)
    })

    it('is written once, by one of two processes, and listed among the jobs', async () => {
      const beside = await startTestNode({ beside: node, config: { transcoding: { enabled: false } } })
      try {
        const answers = await Promise.all(
          [node.base, beside.base, node.base, beside.base].map((base) =>
            fetch(new URL(`${address()}/request`, base), {
              method: 'POST',
              headers: { authorization: mover.client.authorization, 'content-type': 'application/json' },
              body: JSON.stringify({ withVideoFiles: true }),
            }),
          ),
        )
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
        const [{ id } = { id: 0 }] = await list()
        const made = await settled(id)
        const there = new URL(urlOf(made))
        there.port = new URL(beside.base).port
        expect((await readArchive(Buffer.from(await (await fetch(there)).arrayBuffer()))).size).toBeGreaterThan(20)
        expect(await stored()).toHaveLength(1)
        // The job ends after the export.
        const job = await until(
          async () => {
            const path = '/api/v1/jobs/completed?jobType=create-user-export'
            const { data } = await root.get<{ data: (Json & { data: Json })[] }>(path)
            return data.find(({ data: { userExportId } }) => userExportId === id)
          },
          { what: 'the end of the job' },
        )
        expect(job).toMatchObject({ type: 'create-user-export', progress: 100 })
        await remove(id)
      } finally {
        await beside.stop()
      }
    })

    it('is removed with its user, complete or not', async () => {
      const leaving = await makeFullUser(node, root, 'leaver')
      const made = await settled(await request(true, leaving.client, leaving), leaving)
      await leaving.client.send('DELETE', '/api/v1/users/me')
      await untilClean()
      expect((await download(urlOf(made))).status).toBe(404)

      const another = await makeFullUser(node, root, 'quitter')
      await holding('watched_words_list', async () => {
        await request(true, another.client, another)
        await until(async () => (await noted()) === 1)
        await another.client.send('DELETE', '/api/v1/users/me')
        await until(async () => (await pool.query('select 1 from user_export')).rows.length === 0)
      })
      await untilClean()
    })
  }

  async function makeUser(username: string, role = 2): Promise<Client> {
    await root.send('POST', '/api/v1/users', {
      username,
      email: `${username}@example.com`,
      password: 'a long password',
      role,
      videoQuota: -1,
      videoQuotaDaily: -1,
    })
    return await login(node.base, username, 'a long password')
  }
})
