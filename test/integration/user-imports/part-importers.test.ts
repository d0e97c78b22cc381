// Import of archive data on a whole server: an archive of another server, repeated imports, hostile data, and crashes.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import type { ImportedPart, ItemOutcome } from '../../../src/actors/user-archive/index.ts'
import { archivedChannel, archivedPlaylist, archivedVideo, fixture, importArchive, itemsOf, readFixture } from '../../support/archive.ts'
import { makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { archived, contextOf, type OpenedImporters, type OpenOptions, openImporters } from '../../support/part-importers.ts'
import { until } from '../../support/until.ts'

interface User {
  id: number
  accountId: number
  name: string
  client: Client
}

interface Paged<T> {
  total: number
  data: T[]
}

const CONFIG = { transcoding: { enabled: false }, video_channels: { max_per_user: 1000 } }
const OLD_SERVER = '127.0.0.1:9044'
const NOW = '2026-03-04T05:06:07.890Z'

let node: TestNode
let root: Client
let importers: OpenedImporters
let files: Map<string, Buffer>
let film: Buffer
const opened: OpenedImporters[] = []

beforeAll(async () => {
  node = await startTestNode({ config: CONFIG })
  root = await login(node.base, node.username, node.password)
  importers = await open()
  files = await readFixture()
  film = await readFile(await media('small.mp4'))
})
afterAll(async () => {
  for (const one of opened) await one.close()
  await node?.stop()
})

/** Objects that exist here. */
const known = async (url: string) => (await importers.db.query<{ id: number }>('select id from video where url = $1', [url]))[0]?.id

async function open(options: OpenOptions = {}): Promise<OpenedImporters> {
  const one = await openImporters(node, {
    ...options,
    config: { ...CONFIG, ...options.config },
    resolveRemote: { video: known, ...options.resolveRemote },
  })
  opened.push(one)
  return one
}

async function makeUser(name: string, quota = -1): Promise<User> {
  const body = { username: name, password: 'a password', email: `${name}@example.com`, role: 2 }
  const { user } = await root.send<{ user: { id: number; account: { id: number } } }>('POST', '/api/v1/users', {
    ...body,
    videoQuota: quota,
    videoQuotaDaily: -1,
  })
  return { id: user.id, accountId: user.account.id, name, client: await login(node.base, name, 'a password') }
}

const fileOf = (video: { uuid: string }, bytes = film): Map<string, Buffer> =>
  new Map([[`files/videos/video-files/${video.uuid}.mp4`, bytes]])

const videosOf = async ({ client }: User) =>
  (
    await client.get<Paged<Record<string, unknown> & { id: number; uuid: string; name: string; state: { id: number } }>>(
      '/api/v1/users/me/videos?sort=name',
    )
  ).data

const countOf = async (table: string, where = 'true'): Promise<number> =>
  (await importers.db.query<{ count: number }>(`select count(*)::int as count from ${table} where ${where}`))[0]?.count ?? -1

/** The node draws pictures of videos as soon as they exist. */
const untilNothingPends = () => until(async () => (await countOf('pending_file')) === 0, { what: 'the end of all pending files' })

async function importAll(user: User, from = importers): Promise<Record<string, ItemOutcome[]>> {
  const context = contextOf(user, files)
  const outcomes: Record<string, ItemOutcome[]> = {}
  for (const { part } of from.list) {
    const of: ItemOutcome[] = []
    for (const item of itemsOf(files, part)) of.push(await from.run(part, item, context))
    outcomes[part] = of
  }
  return outcomes
}

describe('the archive of another server', () => {
  let mover: User
  let first: Record<string, ItemOutcome[]>

  beforeAll(async () => {
    const remote = await makeRemoteChannel(importers.db, { host: OLD_SERVER, username: 'other' })
    await importers.db.query(
      `update actor set preferred_username = 'other_channel' where id = (select actor_id from channel where id = $1)`,
      [remote.channelId],
    )
    const uuid = '2839b2bf-99b2-4a5e-9bf4-c511e54e6ac3'
    await makeVideo(importers.db, {
      channelId: remote.channelId,
      remoteOrigin: `http://${OLD_SERVER}`,
      columns: { uuid, name: 'elsewhere' },
    })
    mover = await makeUser('mover')
    first = await importAll(mover)
  })

  it('is imported item by item', () => {
    expect(first).toEqual({
      account: ['success'],
      'user-settings': ['success'],
      channels: ['duplicate', 'success'],
      'watched-words-lists': ['success'],
      'automatic-tag-policies': [],
      blocklist: ['success'],
      following: ['success'],
      videos: ['success', 'success'],
      'video-playlists': ['duplicate', 'success'],
      likes: ['success'],
      dislikes: ['success'],
      'video-history': ['success'],
    })
  })

  it('restores the account, its channels and settings', async () => {
    const me = await mover.client.get<{
      account: { displayName: string; description: string; name: string; avatars: unknown[] }
      videoChannels: { name: string; displayName: string; support: string | null; description: string | null }[]
      email: string
      nsfwPolicy: string
      autoPlayVideo: boolean
      notificationSettings: Record<string, number>
    }>('/api/v1/users/me')
    expect(me.account).toMatchObject({ name: 'mover', displayName: 'The Mover', description: 'moves between servers' })
    expect(me.account.avatars).toHaveLength(4)
    expect(me).toMatchObject({ email: 'mover@example.com', nsfwPolicy: 'blur', autoPlayVideo: false })
    const channels = me.videoChannels.toSorted((a, b) => a.name.localeCompare(b.name))
    expect(channels.map(({ name }) => name)).toEqual(['mover_channel', 'mover_second'])
    expect(channels[1]).toMatchObject({ displayName: 'Second channel', description: 'another one', support: 'thanks' })
    const second = await mover.client.get<{ banners: unknown[] }>('/api/v1/video-channels/mover_second')
    expect(second.banners).toHaveLength(2)
  })

  it('imports the videos with all their parts', async () => {
    const videos = await videosOf(mover)
    expect(videos.map(({ name }) => name)).toEqual(['First film', expect.any(String)])
    const [video] = videos
    const details = await mover.client.get<Record<string, unknown>>(`/api/v1/videos/${video?.uuid}`)
    expect(details).toMatchObject({
      name: 'First film',
      description: 'a description',
      tags: ['sea', 'travel'],
      duration: 3,
      nsfw: false,
      category: { id: 2 },
      licence: { id: 1 },
      language: { id: 'en' },
      privacy: { id: 1 },
      commentsPolicy: { id: 1 },
      originallyPublishedAt: '2026-11-20T20:00:59.265Z',
      channel: { name: 'mover_channel' },
    })
    const captions = await mover.client.get<Paged<{ language: { id: string } }>>(`/api/v1/videos/${video?.uuid}/captions`)
    expect(captions.data.map(({ language }) => language.id)).toEqual(['en'])
    expect(await mover.client.get(`/api/v1/videos/${video?.uuid}/chapters`)).toEqual({
      chapters: [
        { timecode: 0, title: 'Start' },
        { timecode: 1, title: 'End' },
      ],
    })
    const source = await mover.client.get(`/api/v1/videos/${video?.uuid}/source`)
    expect(source).toMatchObject({ inputFilename: 'small.mp4', size: 30175 })
  })

  it('imports playlists, ratings, history, subscriptions and blocks', async () => {
    const { client } = mover
    const [playlist] = (
      await client.get<Paged<{ uuid: string; displayName: string; videosLength: number }>>(
        '/api/v1/accounts/mover/video-playlists?playlistType=1',
      )
    ).data
    expect(playlist).toMatchObject({ displayName: 'To see', videosLength: 2 })
    const elements = await client.get<Paged<{ startTimestamp: number | null; video: { name: string } }>>(
      `/api/v1/video-playlists/${playlist?.uuid}/videos`,
    )
    expect(elements.data.map(({ startTimestamp, video }) => [startTimestamp, video.name])).toEqual([
      [1, 'First film'],
      [null, 'elsewhere'],
    ])
    const ratings = await client.get<Paged<{ rating: string; video: { name: string } }>>('/api/v1/accounts/mover/ratings')
    expect(ratings.data.map(({ rating }) => rating).toSorted()).toEqual(['dislike', 'like'])
    const history = await client.get<Paged<{ name: string; userHistory: { currentTime: number } }>>('/api/v1/users/me/history/videos')
    expect(history.data).toMatchObject([{ name: 'elsewhere', userHistory: { currentTime: 2 } }])
    expect(await client.get(`/api/v1/users/me/subscriptions/exist?uris=other_channel@${OLD_SERVER}`)).toEqual({
      [`other_channel@${OLD_SERVER}`]: true,
    })
    const blocks = await client.get<Paged<{ blockedServer: { host: string } }>>('/api/v1/users/me/blocklist/servers')
    expect(blocks.data.map(({ blockedServer }) => blockedServer.host)).toEqual(['blocked.example.com'])
    const lists = await client.get<Paged<{ listName: string; words: string[] }>>('/api/v1/watched-words/accounts/mover/lists')
    expect(lists.data).toMatchObject([{ listName: 'rude', words: ['rude', 'ruder'] }])
  })

  it('duplicates nothing the second time', async () => {
    const tables = ['video', 'playlist', 'playlist_element', 'channel', 'actor_image', 'rating', 'history', 'follow']
    const before = await Promise.all(tables.map((table) => countOf(table)))
    const again = Object.values(await importAll(mover)).flat()
    expect(again.every((outcome) => outcome === 'duplicate')).toBe(true)
    expect(await Promise.all(tables.map((table) => countOf(table)))).toEqual(before)
    await untilNothingPends()
  })

  it('renames the channels of a second user, and puts the videos there', async () => {
    const second = await makeUser('second')
    const outcomes = await importAll(second)
    expect(outcomes.channels).toEqual(['success', 'success'])
    const videos = await videosOf(second)
    expect(videos.map(({ channel }) => (channel as { name: string }).name)).toEqual(expect.arrayContaining(['mover_channel-1']))
    expect(Object.values(await importAll(second)).flat()).not.toContain('success')
  })

  it('can be imported again after its objects were removed', async () => {
    const [video] = await videosOf(mover)
    await mover.client.send('DELETE', `/api/v1/videos/${video?.uuid}`)
    await until(async () => (await countOf('imported_object', `video_id = ${video?.id}`)) === 0)
    const [item] = itemsOf(files, 'videos')
    expect(await importers.run('videos', item, contextOf(mover, files))).toBe('success')
  })

  it('notifies no subscriber of old videos, and its objects are removed with the user', async () => {
    expect(await countOf('video', `name = 'First film' and not subscribers_told`)).toBe(0)
    const leaver = await makeUser('leaver')
    const video = archivedVideo('leaver_channel')
    expect(await importers.run('videos', video, contextOf(leaver, fileOf(video)))).toBe('success')
    await root.send('DELETE', `/api/v1/users/${leaver.id}`)
    await until(async () => (await countOf('imported_object', `account_id = ${leaver.accountId}`)) === 0)
  })
})

describe('invalid data', () => {
  let user: User
  const long = 'x'.repeat(10_000_000)

  beforeAll(async () => {
    user = await makeUser('victim')
  })

  const run = (part: Parameters<OpenedImporters['run']>[0], item: unknown, given = files) =>
    importers.run(part, item, contextOf(user, given))

  it('is refused if it is required, and left out otherwise', async () => {
    const account = { url: 'x', name: 'other', createdAt: NOW, updatedAt: NOW, archiveFiles: {} }
    expect(await run('account', { ...account, displayName: long })).toEqual({ error: 'invalid' })
    expect(await run('account', { ...account, displayName: '\u0007' })).toEqual({ error: 'invalid' })
    expect(await run('account', { ...account, displayName: 'a\0b' })).toEqual({ error: 'invalid' })
    expect(await run('account', { ...account, displayName: '\ud800' })).toEqual({ error: 'invalid' })
    expect(await run('channels', archivedChannel('../up'))).toEqual({ error: 'invalid' })
    expect(await run('channels', archivedChannel('UPPER'))).toEqual({ error: 'invalid' })
    expect(await run('channels', archivedChannel(long))).toEqual({ error: 'invalid' })
    expect(await run('watched-words-lists', { listName: long, words: ['a'] })).toEqual({ error: 'invalid' })
    expect(await run('watched-words-lists', { listName: 'a', words: [long] })).toEqual({ error: 'invalid' })
    expect(await run('watched-words-lists', { listName: 'external-link', words: ['a'] })).toEqual({ error: 'invalid' })
    expect(await run('automatic-tag-policies', { name: 'nobody knows it' })).toEqual({ error: 'invalid' })
    const settings = {
      email: 'x',
      createdAt: NOW,
      nsfwPolicy: 'no such',
      theme: long,
      videoLanguages: [long],
      p2pEnabled: false,
    }
    expect(await run('user-settings', { ...settings, notificationSettings: { newFollow: 99, __proto__: 1, no: 1 } })).toBe('success')
    const me = await user.client.get<Record<string, unknown>>('/api/v1/users/me')
    expect(me).toMatchObject({ p2pEnabled: false, theme: 'instance-default', videoLanguages: null })
    expect(me.notificationSettings).toMatchObject({ newFollow: 1 })
  })

  it('with references to other servers and to this one', async () => {
    const own = new URL(node.base).host
    const follow = (targetHandle: string) => run('following', { handle: 'x', targetHandle, createdAt: NOW })
    for (const handle of ['', 'a@b@c', `${long}@x.example`, 'x@not a host', 'root@[::1'])
      expect(await follow(handle)).toEqual({ error: 'invalid' })
    for (const handle of ['a', `nobody@${own}`]) expect(await follow(handle)).toEqual({ error: 'not_found' })
    const blocks = (instances: string[], actors: string[]) =>
      run('blocklist', { instances: instances.map((host) => ({ host })), actors: actors.map((handle) => ({ handle })) })
    expect(await blocks([own, long, 'not a host', ''], [`victim@${own}`, long, 'nobody@x.example'])).toEqual({
      error: 'invalid',
    })
    expect(await blocks([own, 'fine.example'], [])).toBe('success')
    expect(await blocks([own, 'fine.example'], [])).toBe('duplicate')
    await root.send('POST', '/api/v1/server/blocklist/servers', { host: 'shunned.example' })
    expect(await run('following', { handle: 'x', targetHandle: 'a@shunned.example', createdAt: NOW })).toEqual({
      error: 'forbidden',
    })
  })

  it('in videos', async () => {
    const of = (columns: Record<string, unknown>, bytes?: Buffer) => {
      const video = archivedVideo('victim_channel', columns)
      return run('videos', video, fileOf(video, bytes))
    }
    expect(await of({ name: long })).toEqual({ error: 'invalid' })
    expect(await of({ name: '\u0000\u0000\u0000' })).toEqual({ error: 'invalid' })
    expect(await of({ privacy: 77 })).toEqual({ error: 'invalid' })
    expect(await of({ privacy: 5, passwords: [] })).toEqual({ error: 'invalid' })
    expect(await of({ privacy: 5, passwords: [long] })).toEqual({ error: 'invalid' })
    expect(await of({ isLive: true })).toEqual({ error: 'file_missing' })
    expect(await of({ channel: { name: 'mover_channel' } })).toEqual({ error: 'not_found' })
    expect(await of({}, Buffer.from('no film at all'))).toEqual({ error: 'unprocessable' })
    const lost = archivedVideo('victim_channel')
    expect(await run('videos', lost, new Map())).toEqual({ error: 'file_missing' })
    const small = archivedVideo('victim_channel')
    const path = `files/videos/video-files/${small.uuid}.mp4`
    const lie = contextOf(user, new Map([[path, archived(path, film, 10)]]))
    expect(await importers.run('videos', small, lie)).toEqual({ error: 'too_large' })
    const script = '<script>alert(1)</script>'
    const odd = {
      category: 9999,
      licence: -1,
      language: 'tlh-x',
      tags: [long, 'ok', 'ok', 'x'],
      support: long,
      commentsPolicy: 9,
      name: script,
      description: script,
      originallyPublishedAt: '9999-12-31T23:59:59.999Z',
      chapters: [
        { timecode: 1e300, title: 'far' },
        { timecode: 0, title: long },
        { timecode: -5, title: 'before' },
      ],
      source: { inputFilename: '../../../etc/passwd' },
    }
    expect(await of(odd)).toBe('success')
    const [video] = await videosOf(user)
    const details = await user.client.get<Record<string, unknown>>(`/api/v1/videos/${video?.uuid}`)
    expect(details).toMatchObject({
      name: script,
      category: { id: null },
      licence: { id: null },
      language: { id: null },
    })
    expect(details).toMatchObject({ tags: ['ok'], support: null, commentsPolicy: { id: 1 } })
    const { chapters } = await user.client.get<{ chapters: { title: string }[] }>(`/api/v1/videos/${video?.uuid}/chapters`)
    expect(chapters.map(({ title }) => title.length)).toEqual([100])
    expect(await user.client.get(`/api/v1/videos/${video?.uuid}/source`)).toMatchObject({
      inputFilename: expect.stringMatching(/^[0-9a-f-]+\.mp4$/),
    })
    await untilNothingPends()
  })

  it('in pictures and captions, which are left out', async () => {
    const video = archivedVideo('victim_channel', { name: 'with odd parts' })
    const captions = {
      en: '../files/c/en.vtt',
      de: '../files/c/de.vtt',
      xx: '../files/c/xx.vtt',
      fr: '../files/c/lost.vtt',
    }
    const item = {
      ...video,
      captions: [{ language: 'en', automaticallyGenerated: true }],
      archiveFiles: { ...video.archiveFiles, thumbnail: '../files/t/t.jpg', captions },
    }
    const given = new Map([
      ...fileOf(video),
      ['files/t/t.jpg', Buffer.from('no picture')],
      ['files/c/en.vtt', Buffer.from('WEBVTT\n\nSTYLE\n::cue{}\n\n00:00.000 --> 00:01.000\n<script>x</script>fine\n')],
      ['files/c/de.vtt', Buffer.from([0, 1, 2, 3])],
      ['files/c/xx.vtt', Buffer.from('WEBVTT\n')],
    ])
    expect(await run('videos', item, given)).toBe('success')
    const { uuid } = (await videosOf(user)).find(({ name }) => name === 'with odd parts') ?? {}
    const list = await user.client.get<Paged<{ language: { id: string }; captionPath: string; automaticallyGenerated: boolean }>>(
      `/api/v1/videos/${uuid}/captions`,
    )
    expect(list.data.map((one) => [one.language.id, one.automaticallyGenerated])).toEqual([['en', true]])
    const text = await (await user.client.raw(list.data[0]?.captionPath ?? '')).text()
    expect(text).not.toMatch(/<script|STYLE/)
    expect(await countOf('thumbnail', `video_id = (select id from video where uuid = '${uuid}')`)).toBe(2)
  })

  it('in references to videos', async () => {
    const [hidden] = await importers.db.query<{ url: string; id: number }>(
      `update video set privacy = 3 where id = (select min(id) from video where name = 'First film') returning url, id`,
    )
    const like = (videoUrl: string) => run('likes', { videoUrl, createdAt: NOW })
    for (const url of [hidden?.url ?? '', 'nothing', long, 'http://nowhere.example/videos/watch/1']) {
      const refusal = { error: url === hidden?.url ? 'forbidden' : 'not_found' }
      expect(await like(url)).toEqual(refusal)
      const seen = { videoUrl: url, lastTimecode: 1, createdAt: NOW, updatedAt: NOW }
      expect(await run('video-history', seen)).toEqual(refusal)
    }
    await importers.db.query('update video set privacy = 1 where id = $1', [hidden?.id])
    const [open] = await importers.db.query<{ url: string }>(`select url from video where name = 'elsewhere'`)
    const history = { videoUrl: open?.url, createdAt: NOW, updatedAt: '2999-01-01T00:00:00.000Z' }
    for (const lastTimecode of [-1, 1e300]) expect(await run('video-history', { ...history, lastTimecode })).toEqual({ error: 'invalid' })
    const importer = importers.list.find(({ part }) => part === 'video-history')
    const nan = { videoUrl: open?.url ?? '', lastTimecode: Number.NaN, createdAt: NOW, updatedAt: NOW }
    expect(await importer?.importItem(nan, contextOf(user))).toEqual({ error: 'invalid' })
    expect(await run('video-history', { ...history, lastTimecode: 2.9 })).toBe('success')
    expect(await countOf('history', `account_id = ${user.accountId} and watched_at <= now()`)).toBe(1)
    await user.client.send('PUT', '/api/v1/users/me', { videosHistoryEnabled: false })
    await user.client.send('POST', '/api/v1/users/me/history/videos/remove')
    expect(await run('video-history', { ...history, lastTimecode: 2 })).toEqual({ error: 'forbidden' })
  })

  it('in playlists', async () => {
    expect(await run('video-playlists', archivedPlaylist({ displayName: long }))).toEqual({ error: 'invalid' })
    expect(await run('video-playlists', archivedPlaylist({ type: 3 }))).toEqual({ error: 'invalid' })
    expect(await run('video-playlists', archivedPlaylist({ privacy: 0 }))).toEqual({ error: 'invalid' })
    // It would be public, and has no channel.
    expect(await run('video-playlists', archivedPlaylist({ privacy: 1, channel: { name: 'mover_second' } }))).toEqual({
      error: 'invalid',
    })
    const [foreign] = await importers.db.query<{ url: string; account_id: number }>(
      "select url, account_id from playlist where name = 'To see' limit 1",
    )
    expect(await run('video-playlists', archivedPlaylist({ url: foreign?.url, displayName: 'mine' }))).toBe('success')
    expect(await countOf('playlist', `url = '${foreign?.url}' and account_id = ${foreign?.account_id}`)).toBe(1)
    const [own] = await importers.db.query<{ url: string }>("select url from playlist where name = 'mine'")
    expect(await run('video-playlists', archivedPlaylist({ url: own?.url }))).toBe('duplicate')
    const [seen] = await importers.db.query<{ url: string }>(`select url from video where name = 'elsewhere'`)
    const odd = [seen?.url, 'nothing', seen?.url].map((videoUrl) => ({
      videoUrl,
      startTimestamp: -3,
      stopTimestamp: 1e300,
    }))
    const later = archivedPlaylist({ type: 2, elements: odd })
    expect(await run('video-playlists', later)).toBe('success')
    expect(await run('video-playlists', later)).toBe('duplicate')
    expect(await run('video-playlists', archivedPlaylist({ displayName: 'twice', elements: odd }))).toBe('success')
    const few = await open({ config: { vireo: { user_data: { import_max_playlist_elements: 1 } } } })
    const cut = archivedPlaylist({ displayName: 'cut', elements: odd })
    expect(await few.run('video-playlists', cut, contextOf(user, files))).toBe('success')
    const lists = await user.client.get<Paged<{ displayName: string; videosLength: number }>>('/api/v1/accounts/victim/video-playlists')
    expect(lists.data.map(({ displayName, videosLength }) => [displayName, videosLength]).toSorted()).toEqual([
      ['Watch later', 1],
      ['cut', 1],
      ['mine', 0],
      ['twice', 2],
    ])
  })
})

describe('the limits of this server', () => {
  it('are those of every upload: quotas, channels, file types, and quarantine', async () => {
    const poor = await makeUser('poor', film.length + 10)
    const [one, two] = [archivedVideo('poor_channel'), archivedVideo('poor_channel')]
    expect(await importers.run('videos', one, contextOf(poor, fileOf(one)))).toBe('success')
    expect(await importers.run('videos', two, contextOf(poor, fileOf(two)))).toEqual({ error: 'quota_reached' })
    const strict = await open({
      config: { video_channels: { max_per_user: 1 }, auto_blacklist: { videos: { of_users: { enabled: true } } } },
    })
    const rich = await makeUser('rich')
    expect(await strict.run('channels', archivedChannel('one_more'), contextOf(rich))).toEqual({ error: 'invalid' })
    const waits = archivedVideo('rich_channel')
    expect(await strict.run('videos', waits, contextOf(rich, fileOf(waits)))).toBe('success')
    expect(await videosOf(rich)).toMatchObject([{ blacklisted: true }])
    const sound = archivedVideo('rich_channel')
    const odd = { ...sound, archiveFiles: { ...sound.archiveFiles, videoFile: '../files/a.exe' } }
    expect(await strict.run('videos', odd, contextOf(rich, new Map([['files/a.exe', film]])))).toEqual({
      error: 'unsupported_media_type',
    })
    const small = await open({ config: { vireo: { uploads: { max_partial_per_user: film.length - 1 } } } })
    const large = archivedVideo('rich_channel')
    expect(await small.run('videos', large, contextOf(rich, fileOf(large)))).toEqual({ error: 'too_large' })
    expect(await importers.run('videos', large, contextOf(rich, fileOf(large)))).toBe('success')
  })

  it('transcode videos like any upload', async () => {
    const maker = await makeUser('maker')
    const transcoding = await open({ config: { transcoding: { enabled: true, hls: { enabled: true } } } })
    const video = archivedVideo('maker_channel', { waitTranscoding: true, privacy: 3 })
    expect(await transcoding.run('videos', video, contextOf(maker, fileOf(video)))).toBe('success')
    expect(await countOf('transcoding', `video_id = (select id from video where name = '${video.name}')`)).toBe(1)
    expect(await countOf('pending_file', "kind = 'original_video_files'")).toBe(0)
    // With the jobs of this server, which leave their own records.
    await until(async () => (await videosOf(maker))[0]?.state.id === 1 && (await countOf('pending_file')) === 0)
  })

  it('leave a video unchanged that was exported here', async () => {
    const owner = await makeUser('owner')
    const video = archivedVideo('owner_channel', { name: 'there and back' })
    await importers.run('videos', video, contextOf(owner, fileOf(video)))
    const [own] = await importers.db.query<{ url: string }>("select url from video where name = 'there and back'")
    const back = { ...archivedVideo('owner_channel'), url: own?.url }
    expect(await importers.run('videos', back, contextOf(owner, fileOf(back)))).toBe('duplicate')
  })

  it('limit requests to a server that never answers', async () => {
    let requested = 0
    const slow = await open({
      resolveRemote: {
        async video(_text, { fetch }) {
          if (fetch) requested += 1
          if (fetch) await new Promise((resolve) => setTimeout(resolve, 1100))
          return undefined
        },
      },
    })
    const context = contextOf(await makeUser('waiting'))
    for (let at = 0; at < 6; at += 1) {
      const like = { videoUrl: `http://slow.example/videos/watch/${at}`, createdAt: NOW }
      expect(await slow.run('likes', like, context)).toEqual({ error: 'not_found' })
    }
    expect(requested).toBe(3)
  })

  it('limit requests to a server by what was visible there, and send none for local objects', async () => {
    const requested: string[] = []
    const [here] = await importers.db.query<{ id: number; url: string }>("select id, url from video where name = 'elsewhere'")
    const asking = await open({
      resolveRemote: {
        async video(text, { fetch }) {
          if (fetch) requested.push(text)
          return text === here?.url ? here.id : undefined
        },
      },
    })
    const context = contextOf(await makeUser('asking'))
    const like = (videoUrl: string) => asking.run('likes', { videoUrl, createdAt: NOW }, context)
    for (let at = 0; at < 110; at += 1) expect(await like(`http://victim.example/videos/watch/${at}`)).toEqual({ error: 'not_found' })
    expect(requested).toHaveLength(100)
    expect(await like('http://another.example/videos/watch/1')).toEqual({ error: 'not_found' })
    expect(requested).toHaveLength(101)
    expect(await like(here?.url ?? '')).toBe('success')
    expect(requested).toHaveLength(101)
    // One server may have many names.
    for (let at = 0; at < 1000; at += 1) await like(`http://${at}.victim.example/videos/watch/1`)
    expect(requested).toHaveLength(1000)
  })

  it('stop a cancelled import, and let one wait for disk space and outages', async () => {
    const user = await makeUser('stopped')
    const video = archivedVideo('stopped_channel')
    const controller = new AbortController()
    const path = `files/videos/video-files/${video.uuid}.mp4`
    const file = archived(path, film)
    const stopping = {
      ...file,
      open: async () => {
        controller.abort(new Error('the lease is lost'))
        return await file.open()
      },
    }
    const context = contextOf(user, new Map([[path, stopping]]), controller.signal)
    await expect(importers.run('videos', video, context)).rejects.toThrow('the lease is lost')
    const full = { ...file, open: async () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) }
    await expect(importers.run('videos', video, contextOf(user, new Map([[path, full]])))).rejects.toThrow('full')
    // Checked before a byte of it is read.
    let reads = 0
    const sized = async (room: { free: number; total: number }) => {
      const cramped = await open({ room })
      const read = {
        ...file,
        open: () => {
          reads += 1
          return file.open()
        },
      }
      return await cramped.run('videos', video, contextOf(user, new Map([[path, read]])))
    }
    await expect(sized({ free: film.length - 1, total: 10 * film.length })).rejects.toMatchObject({
      reason: 'disk-full',
    })
    expect(await sized({ free: film.length - 1, total: film.length - 1 })).toEqual({ error: 'too_large' })
    expect(reads).toBe(0)
    await importers.db.transaction(async (tx) => {
      await tx.query('select 1 from actor where id = (select actor_id from account where id = $1) for update', [user.accountId])
      const channel = importers.run('channels', archivedChannel('while_locked'), contextOf(user))
      await expect(channel).rejects.toMatchObject({ kind: 'busy' })
    })
    await untilNothingPends()
    expect(await importers.run('videos', video, contextOf(user, fileOf(video)))).toBe('success')
  })
})

describe('an import that crashes', () => {
  const kinds = ['captions', 'previews', 'thumbnails', 'avatars', 'tmp', 'web-videos']
  let user: User

  beforeAll(async () => {
    user = await makeUser('mortal')
  })

  /** Kills the import of an item at each step, and completes it in another process; each time with another item. */
  async function dyingEverywhere(part: ImportedPart, item: () => object, added: Record<string, number>): Promise<void> {
    const none = Object.fromEntries(kinds.map((kind) => [kind, 0]))
    let [at, steps, dead] = [0, 0, '']
    const mortal = await openImporters(node, {
      config: CONFIG,
      resolveRemote: { video: known },
      leases: {
        get owner() {
          return dead
        },
        isGone: () => false,
      },
      step() {
        steps += 1
        if (steps >= at) throw new Error('killed')
      },
    })
    const heir = await openImporters(node, {
      config: CONFIG,
      resolveRemote: { video: known },
      leases: { owner: 'heir', isGone: (name) => name === dead },
    })
    opened.push(mortal, heir)
    // The node draws those of earlier videos.
    await until(async () => (await countOf('thumbnail', 'file_url is null and not on_disk')) === 0, {
      what: 'the end of the drawing',
    })
    for (let ended = false; !ended; ) {
      at += 1
      steps = 0
      dead = `dead-${part}-${at}`
      const one = item()
      const context = contextOf(user, new Map([...files, ...('uuid' in one ? fileOf({ uuid: String(one.uuid) }) : [])]))
      const before = await filesBy(kinds)
      ended = await mortal.run(part, one, context).then(
        () => true,
        () => false,
      )
      expect(['success', 'duplicate']).toContain(await heir.run(part, one, context))
      expect(await heir.run(part, one, context)).toBe('duplicate')
      await heir.pendingFiles.collect()
      await untilNothingPends()
      expect([at, differenceOf(before, await filesBy(kinds))]).toEqual([at, { ...none, ...added }])
    }
    expect(at).toBeGreaterThan(10)
  }

  const thumbnail = '../files/videos/thumbnails/8d5a1fff-9481-431f-bfc2-3949347a753a.jpg'

  it('at any step of a video leaves one video and no other bytes, once it is run again', async () => {
    const captions = { en: '../files/videos/captions/8d5a1fff-9481-431f-bfc2-3949347a753a-en.vtt' }
    const item = () => {
      const video = archivedVideo('mortal_channel', { chapters: [{ timecode: 1, title: 'one' }] })
      return { ...video, archiveFiles: { ...video.archiveFiles, thumbnail, captions } }
    }
    await dyingEverywhere('videos', item, { captions: 1, previews: 1, thumbnails: 1, 'web-videos': 1 })
    const doubled = await importers.db.query("select name from video where name like 'film %' group by name having count(*) > 1")
    expect(doubled).toEqual([])
  })

  it('at any step of a channel leaves one channel', async () => {
    let made = 0
    const banner = '../files/channels/banners/mover_second.jpg'
    const item = () => {
      made += 1
      return archivedChannel(`mortal_${made}`, { support: 'please', archiveFiles: { banner } })
    }
    await dyingEverywhere('channels', item, { avatars: 2 })
    expect(await countOf('channel', `account_id = ${user.accountId}`)).toBe(made + 1)
  })

  it('at any step of a playlist leaves one playlist', async () => {
    const [seen] = await importers.db.query<{ url: string }>("select url from video where name = 'elsewhere'")
    let made = 0
    const item = () => {
      made += 1
      const { uuid: _uuid, ...playlist } = archivedPlaylist({ elements: [{ videoUrl: seen?.url }] })
      return { ...playlist, uuid: '', archiveFiles: { thumbnail } }
    }
    await dyingEverywhere('video-playlists', item, { thumbnails: 1 })
    expect(await countOf('playlist', `account_id = ${user.accountId} and type = 1 and elements_count = 1`)).toBe(made)
  })

  it('and a concurrent one make one video', async () => {
    const video = archivedVideo('mortal_channel')
    const other = await open()
    const context = contextOf(user, fileOf(video))
    const both = await Promise.all([importers, other].map((one) => one.run('videos', video, context)))
    expect(both.toSorted()).toEqual(['duplicate', 'success'])
    expect(await countOf('video', `name = '${video.name}'`)).toBe(1)
    await untilNothingPends()
  })
})

describe('an uploaded archive', () => {
  it('is imported by its job, and duplicates nothing the second time', async () => {
    const user = await makeUser('uploader')
    const archive = await readFile(fixture)
    const importIt = () => importArchive(user.client, user.id, archive)
    expect(await importIt()).toMatchObject({
      channels: { success: 2, duplicates: 0, errors: 0 },
      videos: { success: 2, duplicates: 0, errors: 0 },
      videoPlaylists: { success: 1, duplicates: 1, errors: 0 },
    })
    expect(await importIt()).toMatchObject({ videos: { success: 0, duplicates: 2, errors: 0 } })
    expect(await videosOf(user)).toHaveLength(2)
  })
})

/** Number of files in each folder of the store. */
async function filesBy(kinds: readonly string[]): Promise<Record<string, number>> {
  const folder = join(node.dataDir, 'storage')
  const counts: Record<string, number> = {}
  for (const kind of kinds) {
    const entries = await readdir(join(folder, kind), { recursive: true, withFileTypes: true }).catch(() => [])
    counts[kind] = entries.filter((entry) => entry.isFile()).length
  }
  return counts
}

const differenceOf = (before: Record<string, number>, after: Record<string, number>) =>
  Object.fromEntries(Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]))
