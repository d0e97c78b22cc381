// Visitors see current videos while responses are cached: after every kind of write, in every process, and when a message is lost. The
// clock does not advance, so nothing expires.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { FastifyContextConfig } from 'fastify'
import pg from 'pg'
import sharp from 'sharp'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { INVISIBLE_WRITES } from '../../../src/http/plugins/writes.ts'
import type { Row, Sql } from '../../../src/platform/database/index.ts'
import { makeBrowser } from '../../support/browser.ts'
import { makeUser, makeVideo } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { VISIBLE_WRITES } from '../../support/write-routes.ts'

const clock = fakeClock()
const config = {
  video_channels: { max_per_user: 100 },
  transcoding: { enabled: false },
  instance: { default_nsfw_policy: 'display' },
}

/** Each with true if it needs a session. */
const routes = new Map<string, boolean>()
let node: TestNode
let second: TestNode
let root: Client
let pool: pg.Pool
let bytes: Uint8Array<ArrayBuffer>
const query: Sql = async <R extends object = Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query(text, [...values])).rows as R[]

beforeAll(async () => {
  node = await startTestNode({
    config,
    clock,
    onRoute: ({ method, url, config }) => {
      for (const one of [method].flat()) routes.set(`${one} ${url}`, isForUsers(config))
    },
  })
  second = await startTestNode({ config, clock, beside: node })
  root = await login(node.base, node.username, node.password)
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 2 })
  bytes = new Uint8Array(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await pool?.end()
  await second?.stop()
  await node?.stop()
})

const isForUsers = (config: FastifyContextConfig = {}): boolean =>
  config.right !== undefined || ['user', 'moderator', 'admin'].includes(config.auth ?? '')

interface Details {
  id: number
  uuid: string
  name: string
  nsfw: boolean
  likes: number
  commentsPolicy: { id: number }
  channel: { displayName: string; name: string }
  account: { displayName: string; name: string; avatars: object[] }
}
interface Seen {
  status: number
  one: Partial<Details>
  listed: Details | undefined
}

/** A video as a visitor sees it, alone and in the list of all. */
async function seen(uuid: string, base = node.base): Promise<Seen> {
  const [one, list] = await Promise.all([fetch(`${base}/api/v1/videos/${uuid}`), fetch(`${base}/api/v1/videos?count=100`)])
  const { data } = (await list.json()) as { data: Details[] }
  return { status: one.status, one: (await one.json()) as Details, listed: data.find((video) => video.uuid === uuid) }
}

/** A new channel of the administrator, with a published video. */
async function upload(fields: Record<string, string> = {}): Promise<Details> {
  const name = `channel_${crypto.randomUUID().slice(0, 8)}`
  const { videoChannel } = await root.send<{ videoChannel: { id: number } }>('POST', '/api/v1/video-channels', {
    name,
    displayName: 'A channel',
  })
  const form = new FormData()
  for (const [key, value] of Object.entries({
    channelId: String(videoChannel.id),
    name: 'A video',
    privacy: '1',
    ...fields,
  }))
    form.set(key, value)
  form.set('videofile', new File([bytes], 'small.mp4', { type: 'video/mp4' }))
  const { video } = await root.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
  return await root.get<Details>(`/api/v1/videos/${video.uuid}`)
}

async function pictured(): Promise<FormData> {
  const picture = await sharp({ create: { width: 200, height: 200, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const form = new FormData()
  form.set('avatarfile', new File([new Uint8Array(picture)], 'avatar.png', { type: 'image/png' }))
  return form
}

/** Changes the name in the database only, until the cached response hides it: the last event of an upload comes late. */
async function renamedInSecret({ id, uuid }: Details): Promise<string> {
  let time = 0
  return await until(async () => {
    time += 1
    const name = `Nobody was told ${time}`
    await seen(uuid)
    await query('update video set name = $2 where id = $1', [id, name])
    const { one, listed } = await seen(uuid)
    return one.name !== name && listed?.name !== name ? name : undefined
  })
}

const NO_COMMENTS = '<ol class="comments"></ol>'
const path = ({ uuid }: { uuid: string }) => `/api/v1/videos/${uuid}`
const blocklist = '/api/v1/server/blocklist/accounts'

interface Write {
  name: string
  /** Before anything is cached. */
  prepare?: (video: Details) => Promise<unknown>
  write: (video: Details) => Promise<unknown>
  look: (seen: Seen) => unknown
  before: unknown
  after: unknown
}
const isListed = ({ status, listed }: Seen) => [status, listed !== undefined]

const writes: Write[] = [
  {
    name: 'a new name',
    write: (video) => root.send('PUT', path(video), { name: 'Renamed' }),
    look: ({ one, listed }) => [one.name, listed?.name],
    before: ['A video', 'A video'],
    after: ['Renamed', 'Renamed'],
  },
  {
    name: 'another privacy',
    write: (video) => root.send('PUT', path(video), { privacy: 3 }),
    look: isListed,
    before: [200, true],
    after: [401, false],
  },
  {
    name: 'passwords',
    write: (video) => root.send('PUT', path(video), { privacy: 5, videoPasswords: ['a password'] }),
    look: isListed,
    before: [200, true],
    after: [403, false],
  },
  {
    name: 'a video that is shown at last',
    prepare: (video) => root.send('PUT', path(video), { privacy: 3 }),
    write: (video) => root.send('PUT', path(video), { privacy: 1 }),
    look: isListed,
    before: [401, false],
    after: [200, true],
  },
  {
    name: 'the end of a video',
    write: (video) => root.send('DELETE', path(video)),
    look: isListed,
    before: [200, true],
    after: [404, false],
  },
  {
    name: 'a rating',
    write: (video) => root.send('PUT', `${path(video)}/rate`, { rating: 'like' }),
    // Lists show counters within seconds.
    look: ({ one }) => one.likes,
    before: 0,
    after: 1,
  },
  {
    name: 'another policy for comments',
    write: (video) => root.send('PUT', path(video), { commentsPolicy: 2 }),
    look: ({ one }) => one.commentsPolicy?.id,
    before: 1,
    after: 2,
  },
  {
    name: 'a block of the video',
    write: (video) => root.send('POST', `${path(video)}/blacklist`, { reason: 'no good' }),
    look: ({ listed, status }) => [listed !== undefined, status === 200],
    before: [true, true],
    after: [false, false],
  },
  {
    name: 'the end of a block',
    prepare: (video) => root.send('POST', `${path(video)}/blacklist`, {}),
    write: (video) => root.send('DELETE', `${path(video)}/blacklist`),
    look: ({ listed, status }) => [listed !== undefined, status === 200],
    before: [false, false],
    after: [true, true],
  },
  {
    name: 'another name of the channel',
    write: ({ channel }) => root.send('PUT', `/api/v1/video-channels/${channel.name}`, { displayName: 'Renamed' }),
    look: ({ one, listed }) => [one.channel?.displayName, listed?.channel.displayName],
    before: ['A channel', 'A channel'],
    after: ['Renamed', 'Renamed'],
  },
  {
    name: 'another name of the account',
    prepare: () => root.send('PUT', '/api/v1/users/me', { displayName: 'Before' }),
    write: () => root.send('PUT', '/api/v1/users/me', { displayName: 'After' }),
    look: ({ one, listed }) => [one.account?.displayName, listed?.account.displayName],
    before: ['Before', 'Before'],
    after: ['After', 'After'],
  },
  {
    name: 'an avatar',
    write: async () => root.send('POST', '/api/v1/users/me/avatar/pick', await pictured()),
    look: ({ one, listed }) => [one.account?.avatars.length !== 0, listed?.account.avatars.length !== 0],
    before: [false, false],
    after: [true, true],
  },
  {
    name: 'another policy for sensitive videos',
    prepare: (video) => root.send('PUT', path(video), { nsfw: true }),
    async write() {
      const custom = await root.get<{ instance: object }>('/api/v1/config/custom')
      const instance = { ...custom.instance, defaultNSFWPolicy: 'do_not_list' }
      await root.send('PUT', '/api/v1/config/custom', { ...custom, instance })
    },
    look: isListed,
    before: [200, true],
    after: [200, false],
  },
]

describe('the lists of writes', () => {
  it('contain only existing routes', () => {
    expect([...INVISIBLE_WRITES, ...VISIBLE_WRITES].filter((route) => !routes.has(route))).toEqual([])
  })

  it('contain each write once', () => {
    const writes = [...routes.keys()].filter((route) => /^(POST|PUT|PATCH|DELETE) \/api\/v1\/(?!\*)/.test(route))
    expect(writes.length).toBeGreaterThan(150)
    expect(writes.filter((route) => VISIBLE_WRITES.has(route) === INVISIBLE_WRITES.has(route))).toEqual([])
  })

  it('require a session for every visible write', () => {
    expect([...VISIBLE_WRITES].filter((route) => !routes.get(route))).toEqual([])
  })

  it('keep cached responses after invisible writes', async () => {
    const video = await upload()
    const [username, password] = [`writer_${crypto.randomUUID().slice(0, 8)}`, 'the password of a writer']
    await root.send('POST', '/api/v1/users', {
      username,
      password,
      email: `${username}@example.org`,
      role: 2,
      videoQuota: -1,
      videoQuotaDaily: -1,
    })
    const writer = await login(node.base, username, password)
    await root.send('POST', '/api/v1/runners/registration-tokens/generate')
    const { data } = await root.get<{ data: { registrationToken: string }[] }>('/api/v1/runners/registration-tokens')
    const { runnerToken } = await root.send<{ runnerToken: string }>('POST', '/api/v1/runners/register', {
      name: username,
      registrationToken: data[0]?.registrationToken,
    })
    const muted = `${node.username}@${new URL(node.base).host}`
    const secret = await renamedInSecret(video)

    const anonymously = (address: string, body: object) =>
      fetch(`${node.base}${address}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const reported = await anonymously('/api/v1/server/logs/client', { message: 'a fault', url: node.base, level: 'error' })
    const polled = await anonymously('/api/v1/runners/jobs/request', { runnerToken })
    expect([reported.status, polled.status]).toEqual([204, 200])
    await writer.send('POST', '/api/v1/users/me/notifications/read-all')
    await writer.send('PUT', '/api/v1/users/me', { autoPlayVideo: false })
    await writer.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: muted })
    await writer.send('DELETE', `/api/v1/users/me/blocklist/accounts/${muted}`)
    await until(async () => (await query('select from outbox')).length === 0)
    const { one, listed } = await seen(video.uuid)
    expect([one.name === secret, listed?.name === secret]).toEqual([false, false])
    expect(await writer.get('/api/v1/users/me')).toMatchObject({ username, autoPlayVideo: false })

    await writer.send('PUT', '/api/v1/users/me', { displayName: 'Renamed' })
    expect((await seen(video.uuid)).one.name).toBe(secret)
  })
})

describe('a writer sees at once, as a visitor,', () => {
  it.each(writes)('$name', async ({ prepare, write, look, before, after }) => {
    const video = await upload()
    await prepare?.(video)
    expect(look(await seen(video.uuid))).toEqual(before)
    await write(video)
    expect(look(await seen(video.uuid))).toEqual(after)
  })

  it('a new video', async () => {
    const totalOf = async () => ((await (await fetch(`${node.base}/api/v1/videos?nsfw=both`)).json()) as { total: number }).total
    const before = await totalOf()
    await upload()
    expect(await totalOf()).toBe(before + 1)
  })

  it('which accounts the instance mutes, and no longer mutes', async () => {
    const owner = await makeUser({ query }, { origin: node.base })
    const { uuid } = await makeVideo({ query }, { channelId: owner.channelId })
    await root.send('PUT', path(await upload()), { name: 'Other' })
    expect((await seen(uuid)).listed).toBeDefined()
    const { host } = new URL(node.base)
    await root.send('POST', blocklist, { accountName: `${owner.username}@${host}` })
    expect((await seen(uuid)).listed).toBeUndefined()
    await root.send('DELETE', `${blocklist}/${owner.username}@${host}`)
    expect((await seen(uuid)).listed).toBeDefined()
  })
})

describe('the feeds of comments', () => {
  it('contain a comment immediately, and not after it is removed', async () => {
    const video = await upload()
    const text = `said ${crypto.randomUUID()}`
    const feeds = [`videoId=${video.uuid}`, `videoChannelName=${video.channel.name}`, `accountName=${video.account.name}`, 'count=1']
    const shown = () =>
      Promise.all(feeds.map(async (of) => (await (await fetch(`${node.base}/feeds/video-comments.json?${of}`)).text()).includes(text)))
    expect(await shown()).toEqual([false, false, false, false])
    const { comment } = await root.send<{ comment: { id: number } }>('POST', `${path(video)}/comment-threads`, { text })
    expect(await shown()).toEqual([true, true, true, true])
    await root.send('DELETE', `${path(video)}/comments/${comment.id}`)
    expect(await shown()).toEqual([false, false, false, false])
  })
})

describe('the page of a video', () => {
  const pageOf = async ({ uuid }: { uuid: string }, base = node.base) => {
    const answer = await fetch(`${base}/w/${uuid}`)
    return { status: answer.status, html: await answer.text() }
  }
  beforeAll(async () => {
    const custom = await root.get<{ instance: object }>('/api/v1/config/custom')
    const instance = { ...custom.instance, defaultNSFWPolicy: 'display' }
    await root.send('PUT', '/api/v1/config/custom', { ...custom, instance })
  })

  /** A text that is unique on the page. */
  const marked = () => `mark ${crypto.randomUUID()}`

  it('shows writes at once, and nothing that became private', async () => {
    const video = await upload({ description: 'Before.' })
    const shows = async (text: string, before = '') => {
      const { status, html } = await pageOf(video)
      expect([status, html.includes(text), before !== '' && html.includes(before)]).toEqual([200, true, false])
    }
    await shows('Before.')
    const [name, chapter, text, channel, instanceName] = [marked(), marked(), marked(), marked(), marked()]
    await root.send('PUT', path(video), { name })
    await shows(name)
    await root.send('PUT', `${path(video)}/chapters`, { chapters: [{ timecode: 1, title: chapter }] })
    await shows(chapter)
    await root.send('PUT', `/api/v1/video-channels/${video.channel.name}`, { displayName: channel })
    await shows(channel)
    const { comment } = await root.send<{ comment: { id: number } }>('POST', `${path(video)}/comment-threads`, { text })
    await shows(text)
    await root.send('DELETE', `${path(video)}/comments/${comment.id}`)
    await shows(NO_COMMENTS, text)
    const custom = await root.get<{ instance: object }>('/api/v1/config/custom')
    await root.send('PUT', '/api/v1/config/custom', {
      ...custom,
      instance: { ...custom.instance, name: instanceName },
    })
    await shows(instanceName)
    await root.send('PUT', '/api/v1/config/custom', custom)
    const neighbour = await root.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', await beside(video))
    const next = neighbour.video.uuid
    const { name: nextName } = await root.get<Details>(`/api/v1/videos/${next}`)
    await until(async () => (await pageOf(video)).html.includes(nextName))
    await root.send('PUT', `/api/v1/videos/${next}`, { privacy: 3 })
    await shows(name, nextName)
    await root.send('PUT', path(video), { privacy: 3 })
    expect(await pageOf(video)).toMatchObject({ status: 404 })
    await root.send('PUT', path(video), { privacy: 1 })
    await shows(name)
    await root.send('PUT', path(video), { privacy: 5, videoPasswords: ['a password'] })
    expect(await pageOf(video)).toMatchObject({ status: 403 })
  })

  it('shows a comment as soon as it is approved, and not before', async () => {
    const video = await upload({ commentsPolicy: '3' })
    const text = marked()
    const username = `writer_${crypto.randomUUID().slice(0, 8)}`
    const password = 'the password of a writer'
    const user = { username, password, email: `${username}@example.org`, role: 2, videoQuota: -1, videoQuotaDaily: -1 }
    await root.send('POST', '/api/v1/users', user)
    const writer = await login(node.base, username, password)
    expect((await pageOf(video)).html).toContain(NO_COMMENTS)
    const { comment } = await writer.send<{ comment: { id: number } }>('POST', `${path(video)}/comment-threads`, {
      text,
    })
    expect((await pageOf(video)).html).not.toContain(text)
    await root.send('POST', `${path(video)}/comments/${comment.id}/approve`, {})
    expect((await pageOf(video)).html).toContain(text)
    const { host } = new URL(node.base)
    await root.send('POST', blocklist, { accountName: `${username}@${host}` })
    expect((await pageOf(video)).html).not.toContain(text)
    await root.send('DELETE', `${blocklist}/${username}@${host}`)
    expect((await pageOf(video)).html).toContain(text)
  })

  it('shows a comment in another process as soon as its message arrives', async () => {
    const video = await upload()
    const text = marked()
    await until(async () => (await pageOf(video, second.base)).status === 200)
    expect((await pageOf(video, second.base)).html).toContain(NO_COMMENTS)
    await root.send('POST', `${path(video)}/comment-threads`, { text })
    await until(async () => (await pageOf(video, second.base)).html.includes(text))
  })

  it('is shared by visitors, and separate for each user', async () => {
    const video = await upload({ description: marked() })
    const browser = makeBrowser(node.base)
    await browser.login(node.username, node.password)
    for (let time = 0; time < 2; time += 1) {
      const [own, visitors] = [await browser.open(`/w/${video.uuid}`), await fetch(`${node.base}/w/${video.uuid}`)]
      expect(own.html).toContain('href="/logout"')
      const html = await visitors.text()
      expect([html.includes('href="/logout"'), html.includes('data-reports'), html.includes('data-token')]).toEqual([false, false, false])
      expect(visitors.headers.getSetCookie()).toEqual([])
    }
  })

  it('is shared with users where it is the same for them, and separate where it is not', async () => {
    const video = await upload({ commentsPolicy: '3' })
    const password = 'the password of a reader'
    const named = async () => {
      const username = `reader_${crypto.randomUUID().slice(0, 8)}`
      const user = {
        username,
        password,
        email: `${username}@example.org`,
        role: 2,
        videoQuota: -1,
        videoQuotaDaily: -1,
      }
      await root.send('POST', '/api/v1/users', user)
      const browser = makeBrowser(node.base)
      await browser.login(username, password)
      const html = async () => (await browser.open(`/w/${video.uuid}`)).html
      return { username, html, client: await login(node.base, username, password) }
    }
    const [writer, reader] = [await named(), await named()]
    const owner = makeBrowser(node.base)
    await owner.login(node.username, node.password)
    const seenBy = async (text: string) => {
      const pages = [(await owner.open(`/w/${video.uuid}`)).html, await writer.html(), await reader.html(), (await pageOf(video)).html]
      return pages.map((html) => html.includes(text))
    }
    const [shown, held] = [marked(), marked()]
    await root.send('POST', `${path(video)}/comment-threads`, { text: shown })
    await writer.client.send('POST', `${path(video)}/comment-threads`, { text: held })
    expect([await seenBy(shown), await seenBy(held)]).toEqual([
      [true, true, true, true],
      [true, true, false, false],
    ])
    const { host } = new URL(node.base)
    const mutes = '/api/v1/users/me/blocklist/accounts'
    await reader.client.send('POST', mutes, { accountName: `${node.username}@${host}` })
    expect(await seenBy(shown)).toEqual([true, true, false, true])
    await reader.client.send('DELETE', `${mutes}/${node.username}@${host}`)
    expect(await seenBy(shown)).toEqual([true, true, true, true])

    await reader.client.send('PUT', `${path(video)}/watching`, { currentTime: 1 })
    expect(await seenBy('data-start="1"')).toEqual([false, false, true, false])

    // Without a message, only readers with a separate page see the change.
    const secret = marked()
    const visitors = await pageOf(video)
    await query('update video set name = $2 where id = $1', [video.id, secret])
    expect((await pageOf(video)).html).toBe(visitors.html)
    expect(await seenBy(secret)).toEqual([true, true, false, false])

    await root.send('PUT', path(video), { nsfw: true })
    await reader.client.send('PUT', '/api/v1/users/me', { nsfwPolicy: 'warn' })
    expect(await seenBy('<details class="sensitive">')).toEqual([false, false, true, false])
    await root.send('PUT', path(video), { privacy: 4 })
    expect(await seenBy('<h1')).toEqual([true, true, true, true])
    expect([(await pageOf(video)).status, await seenBy('Only users of this server')]).toEqual([404, [true, true, true, false]])
  })

  it('is at most five seconds old, whatever the age of its parts', async () => {
    const video = await upload()
    const owner = makeBrowser(node.base)
    await owner.login(node.username, node.password)
    // A new name each time: a cached one never expires, since the clock does not advance.
    const secret = await until(async () => {
      const name = marked()
      await owner.open(`/w/${video.uuid}`)
      await query('update video set name = $2 where id = $1', [video.id, name])
      return (await owner.open(`/w/${video.uuid}`)).html.includes(name) ? undefined : name
    })
    clock.pass(3000)
    expect((await pageOf(video)).html).not.toContain(secret)
    clock.pass(2000)
    expect((await pageOf(video)).html).toContain(secret)
  })

  async function beside({ channel }: Details): Promise<FormData> {
    const { id } = await root.get<{ id: number }>(`/api/v1/video-channels/${channel.name}`)
    const form = new FormData()
    for (const [key, value] of [
      ['channelId', String(id)],
      ['name', marked()],
      ['privacy', '1'],
    ] as const)
      form.set(key, value)
    form.set('videofile', new File([bytes], 'small.mp4', { type: 'video/mp4' }))
    return form
  }
})

it('visitors see a comment as soon as it was written, and no longer once it was removed', async () => {
  const { uuid } = await upload()
  const threads = async () => {
    const answer = await fetch(`${node.base}${path({ uuid })}/comment-threads`)
    return ((await answer.json()) as { data: { id: number; text: string; totalReplies: number; isDeleted: boolean }[] }).data
  }
  expect(await threads()).toEqual([])
  const write = (at: string, text: string) => root.send<{ comment: { id: number } }>('POST', `${path({ uuid })}/${at}`, { text })
  const { comment } = await write('comment-threads', 'A comment')
  expect(await threads()).toMatchObject([{ text: 'A comment', totalReplies: 0 }])
  await write(`comments/${comment.id}`, 'A reply')
  expect(await threads()).toMatchObject([{ text: 'A comment', totalReplies: 1 }])
  await root.send('DELETE', `${path({ uuid })}/comments/${comment.id}`)
  expect(await threads()).toMatchObject([{ isDeleted: true }])
  await root.send('PUT', path({ uuid }), { commentsPolicy: 2 })
  expect(await threads()).toEqual([])
})

describe('a user', () => {
  const PASSWORD = 'a password of a reader'

  async function reader(): Promise<Client> {
    const username = `reader_${crypto.randomUUID().slice(0, 8)}`
    await root.send('POST', '/api/v1/users', {
      username,
      password: PASSWORD,
      email: `${username}@example.org`,
      role: 2,
      videoQuota: -1,
      videoQuotaDaily: -1,
    })
    const client = await login(node.base, username, PASSWORD)
    await client.send('PUT', '/api/v1/users/me', { nsfwPolicy: 'display' })
    return client
  }

  const LISTS: [string, (video: Details) => string][] = [
    ['the list of all', () => '/api/v1/videos?count=100'],
    ['a search', ({ name }) => `/api/v1/search/videos?count=100&search=${encodeURIComponent(name)}`],
    ['the videos of a channel', ({ channel }) => `/api/v1/video-channels/${channel.name}/videos`],
    ['the videos of an account', ({ account }) => `/api/v1/accounts/${account.name}/videos?count=100`],
  ]

  it.each(LISTS)('sees in %s what visitors see, with own positions, mutes and policy at once', async (_name, listOf) => {
    const owner = await makeUser({ query }, { origin: node.base })
    const name = `Video ${crypto.randomUUID()}`
    const { uuid } = await makeVideo({ query }, { channelId: owner.channelId, columns: { name, nsfw: true, duration: 60 } })
    // The test's own writes are published.
    await root.send('PUT', path(await upload()), { name: 'Other' })
    const video = await root.get<Details>(path({ uuid }))
    const [one, another] = [await reader(), await reader()]
    const found = async (client: Client) => {
      const { data } = await client.get<{ data: (Details & { userHistory?: object })[] }>(listOf(video))
      const listed = data.find((each) => each.uuid === uuid)
      return listed && { name: listed.name, ...(listed.userHistory ? { userHistory: listed.userHistory } : {}) }
    }
    const asOthers = { name }
    expect(await Promise.all([found(one), found(another)])).toEqual([asOthers, asOthers])

    await one.send('PUT', `${path(video)}/watching`, { currentTime: 21 })
    const watched = { name, userHistory: { currentTime: 21 } }
    expect(await Promise.all([found(one), found(another)])).toEqual([watched, asOthers])

    await another.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: owner.username })
    expect(await Promise.all([found(one), found(another)])).toEqual([watched, undefined])
    await another.send('DELETE', `/api/v1/users/me/blocklist/accounts/${owner.username}`)
    expect(await found(another)).toEqual(asOthers)

    await one.send('PUT', '/api/v1/users/me', { nsfwPolicy: 'do_not_list' })
    expect(await Promise.all([found(one), found(another)])).toEqual([undefined, asOthers])
  })

  it('does not invalidate lists of others by a rating', async () => {
    // Jobs of an uploaded video would invalidate them.
    const owner = await makeUser({ query }, { origin: node.base })
    const video = await makeVideo({ query }, { channelId: owner.channelId })
    const client = await reader()
    const names = async () => (await client.get<{ data: Details[] }>('/api/v1/videos?count=100')).data.map(({ name }) => name)
    const before = await names()
    const name = `Video ${crypto.randomUUID()}`
    await makeVideo({ query }, { channelId: owner.channelId, columns: { name } })
    await client.send('PUT', `${path(video)}/rate`, { rating: 'like' })
    expect(await names()).toEqual(before)
    expect((await client.get<Details>(path(video))).likes).toBe(1)
    await root.send('PUT', path(video), { name: 'Other' })
    expect(await names()).toContain(name)
  })

  it('sees internal videos, which visitors do not', async () => {
    const { uuid } = await upload({ privacy: '4' })
    const lists = async (client: Pick<Client, 'get'>) =>
      (await client.get<{ data: Details[] }>('/api/v1/videos?count=100')).data.some((each) => each.uuid === uuid)
    const visitor = { get: async <T>(at: string) => (await (await fetch(`${node.base}${at}`)).json()) as T }
    const member = await reader()
    for (let time = 0; time < 2; time += 1) {
      expect([await lists(member), await lists(visitor)]).toEqual([true, false])
    }
  })
})

describe('another process', () => {
  it('shows a change as soon as its message arrives', async () => {
    const video = await upload()
    const name = async () => {
      const { one, listed } = await seen(video.uuid, second.base)
      return [one.name, listed?.name]
    }
    await until(async () => (await name())[1] === 'A video')
    expect(await name()).toEqual(['A video', 'A video'])
    await root.send('PUT', path(video), { name: 'Renamed' })
    await until(async () => (await name()).every((seenName) => seenName === 'Renamed'))
  })

  it('gets messages of changes without a request', async () => {
    const video = await upload()
    await until(async () => (await seen(video.uuid, second.base)).listed)
    const name = await renamedInSecret(video)
    await query(
      `insert into outbox (aggregate, aggregate_id, event, payload, due_at)
       values ('video', $1, 'VideoUpdated', jsonb_build_object('videoId', $1::bigint), $2)`,
      [video.id, clock.now()],
    )
    for (const { base } of [node, second]) {
      await until(async () => {
        const { one, listed } = await seen(video.uuid, base)
        return one.name === name && listed?.name === name
      })
    }
  })

  it('no longer shows the videos of a removed channel', async () => {
    const { uuid, channel } = await upload()
    await until(async () => (await seen(uuid, second.base)).listed)
    await root.send('DELETE', `/api/v1/video-channels/${channel.name}`)
    for (const { base } of [node, second]) {
      await until(async () => {
        const { status, listed } = await seen(uuid, base)
        return status === 404 && !listed
      })
    }
  })

  it('shows a change without a message after five seconds', async () => {
    const video = await upload()
    const name = await renamedInSecret(video)
    clock.pass(5000)
    const { one, listed } = await seen(video.uuid)
    expect([one.name, listed?.name]).toEqual([name, name])
  })

  it.each([
    ['in another order', '?count=100&sort=-createdAt'],
    ['by another address', '?count=100&sort=-publishedAt'],
  ])('shows it after five seconds in a list %s too, which was requested meanwhile', async (_name, list) => {
    const video = await upload()
    const named = async () => {
      const { data } = (await (await fetch(`${node.base}/api/v1/videos${list}`)).json()) as { data: Details[] }
      return data.find(({ uuid }) => uuid === video.uuid)?.name
    }
    const [name, later] = await until(async () => {
      const name = await renamedInSecret(video)
      clock.pass(3000)
      // Unless its message arrived after all.
      if ((await named()) === name) return undefined
      clock.pass(2000)
      return [name, await named()]
    })
    expect(later).toBe(name)
  })
})

describe('private content', () => {
  it.each([
    ['private', { privacy: '3' }, 401],
    ['for users', { privacy: '4' }, 401],
    ['with a password', { privacy: '5', 'videoPasswords[0]': 'a password' }, 403],
  ])('stays with authorized users: a video %s', async (_name, fields, status) => {
    const { uuid, id } = await upload(fields)
    const requested = (headers: Record<string, string>, key: number | string = uuid) =>
      fetch(`${node.base}/api/v1/videos/${key}`, { headers })
    const owner = { authorization: root.authorization }
    const allowed = status === 403 ? [owner, { 'x-peertube-video-password': 'a password' }] : [owner]
    for (const headers of allowed) {
      expect((await requested(headers)).status).toBe(200)
      for (const key of [uuid, id]) expect((await requested({}, key)).status).toBe(status)
      expect((await seen(uuid)).listed).toBeUndefined()
    }
  })

  it('is found by its UUID alone when it is unlisted', async () => {
    const { uuid, id } = await upload({ privacy: '2' })
    for (let time = 0; time < 2; time += 1) {
      expect((await fetch(`${node.base}/api/v1/videos/${uuid}`)).status).toBe(200)
      expect((await fetch(`${node.base}/api/v1/videos/${id}`)).status).toBe(401)
    }
  })
})
