// Feeds in RSS, Atom, JSON Feed and podcast format: their contents, privacy, and escaping.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeUser, type MadeVideo, makeRemoteChannel, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { all, one, parseXml, type XmlElement } from '../../support/xml.ts'
import { type FeedServer, startFeedServer } from './server.ts'

const HOSTILE = '"><script>alert(1)</script>]]><img src=x onerror=alert(1)> & &amp; \u0001\u000b\ud800'
/** As an email may be published. */
const TAMED = '"><script>alert(1)</script>]]><img src=x onerror=alert(1)> & &amp; '

let server: FeedServer
let ada: MadeUser
let ben: MadeUser
let plain: MadeVideo
let hostile: MadeVideo
let sensitive: MadeVideo
let remoteChannel: Awaited<ReturnType<typeof makeRemoteChannel>>
let comment: number

beforeAll(async () => {
  server = await startFeedServer()
  const { db } = server
  ada = await makeUser(db, { username: 'ada' })
  ben = await makeUser(db, { username: 'ben' })
  const at = (minute: number) => ({ published_at: new Date(Date.UTC(2026, 0, 1, 12, minute)) })
  const video = (name: string, minute: number, columns: Record<string, unknown> = {}) =>
    makeVideo(db, {
      channelId: ada.channelId,
      columns: { name, ...at(minute), ...columns },
      webVideo: { resolution: 240 },
    })
  plain = await video('Tom & Jerry', 1, {
    category: 2,
    language: 'en',
    description: `a **markdown** [description](/about)\nof two lines\n\n${'x'.repeat(300)}`,
  })
  hostile = await video(HOSTILE.replace(/[\0\ud800]/g, ''), 2, { description: HOSTILE.replace('\ud800', '') })
  sensitive = await video('sensitive', 3, { nsfw: true })
  await video('unlisted', 4, { privacy: 2 })
  await video('private', 5, { privacy: 3 })
  await video('internal', 6, { privacy: 4 })
  await video('secret', 7, { privacy: 5 })
  await video('blocked', 8, { blocked: true })
  await video('coming', 9, { state: 'to-transcode' })
  remoteChannel = await makeRemoteChannel(db, { host: 'far.example', username: 'zoe' })
  await makeVideo(db, {
    channelId: remoteChannel.channelId,
    remoteOrigin: 'https://far.example',
    columns: { name: 'far', listed: false, ...at(0) },
    webVideo: { resolution: 240, fileUrl: 'https://far.example/static/far.webm' },
    hls: { resolution: 480, playlistUrl: 'https://far.example/hls/far.m3u8' },
  })
  const say = (video: MadeVideo, text: string, columns: Record<string, unknown> = {}) =>
    insert(db, 'comment', {
      video_id: video.id,
      account_id: ben.accountId,
      url: `${TEST_ORIGIN}/c/${text}`,
      text,
      ...columns,
    })
  comment = await say(plain, 'a **word**')
  const held = await say(plain, 'held', { held_for_review: true })
  await say(plain, 'answers what is held', { parent_id: held, thread_id: held })
  await say(plain, 'removed', { deleted_at: new Date() })
  await say(sensitive, 'below sensitive')
})
afterAll(() => server.stop())
beforeEach(async () => {
  server.configure({})
  await server.db.query('delete from account_block')
})

const get = (path: string, headers: Record<string, string> = {}) => server.app.inject({ url: `/feeds/${path}`, headers })
const xml = async (path: string): Promise<XmlElement> => {
  const answer = await get(path)
  expect([path, answer.statusCode, answer.body.slice(0, 20)]).toEqual([path, 200, '<?xml version="1.0" '])
  return parseXml(answer.body)
}
interface JsonFeed {
  version: string
  title: string
  feed_url: string
  items: { id: string; title: string; content_html: string; summary?: string; attachments?: { url: string }[] }[]
}
const json = async (path: string) => (await get(path)).json<JsonFeed>()
const names = async (path: string) => (await json(path)).items.map(({ title }) => title)
const tamedName = HOSTILE.replace(/[\0\ud800]/g, '')

/** Visitors may see what the instance does not follow. */
const forStrangers = { search: { remote_uri: { users: true, anonymous: true } } }

describe('a feed of videos', () => {
  it('is valid RSS with Media RSS elements', async () => {
    for (const format of ['xml', 'rss', 'rss2']) {
      const rss = await xml(`videos.${format}?accountName=ada`)
      expect([rss.name, rss.attributes.version]).toEqual(['rss', '2.0'])
      const channel = one(rss, 'channel')
      for (const name of ['title', 'link', 'description', 'lastBuildDate', 'image']) one(channel, name)
      expect(one(channel, 'atom:link').attributes).toMatchObject({
        rel: 'self',
        href: `${TEST_ORIGIN}/feeds/videos.xml?accountName=ada`,
      })
      for (const item of all(channel, 'item')) {
        const guid = one(item, 'guid')
        expect([guid.attributes.isPermaLink, guid.text]).toEqual(['true', one(item, 'link').text])
        expect(one(item, 'pubDate').text).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
        const enclosure = one(item, 'enclosure').attributes
        expect(enclosure).toEqual({ url: expect.stringMatching(/^http.*\.mp4$/), length: '30175', type: 'video/mp4' })
        const group = one(item, 'media:group')
        expect(one(group, 'media:content').attributes).toMatchObject({
          fileSize: '30175',
          isDefault: 'true',
          medium: 'video',
        })
      }
    }
    const item = all(one(await xml('videos.rss?accountName=ada'), 'channel'), 'item').at(-1)
    expect(item && one(item, 'title').text).toBe('Tom & Jerry')
    expect(item && one(item, 'category').text).toBe('Films')
    expect(item && one(item, 'content:encoded').text).toContain(
      `<p>a <strong>markdown</strong> <a href="${TEST_ORIGIN}/about" rel="nofollow noopener noreferrer">description</a><br>\nof two lines</p>\n<p>${'x'.repeat(300)}</p>`,
    )
  })

  it('is valid Atom', async () => {
    for (const format of ['atom', 'atom1']) {
      const feed = await xml(`videos.${format}?videoChannelName=ada_channel`)
      expect([feed.name, feed.attributes.xmlns]).toEqual(['feed', 'http://www.w3.org/2005/Atom'])
      const isDate = (text: string) => expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      for (const element of [feed, ...all(feed, 'entry')]) {
        expect(one(element, 'id').text).toMatch(/^http/)
        isDate(one(element, 'updated').text)
        one(element, 'title')
        one(one(element, 'author'), 'name')
        for (const category of all(element, 'category')) expect(category.attributes.term).toBeDefined()
      }
      expect(all(feed, 'entry')).toHaveLength(3)
      expect(new Set(all(feed, 'entry').map((entry) => one(entry, 'id').text)).size).toBe(3)
    }
  })

  it('is valid JSON Feed', async () => {
    for (const format of ['json', 'json1']) {
      const feed = await json(`videos.${format}?accountId=${ada.accountId}&sort=publishedAt`)
      expect(feed).toMatchObject({
        version: 'https://jsonfeed.org/version/1',
        title: 'ada',
        feed_url: `${TEST_ORIGIN}/feeds/videos.json?accountId=${ada.accountId}&sort=publishedAt`,
      })
      for (const item of feed.items) {
        expect(item).toMatchObject({
          id: expect.any(String),
          content_html: expect.any(String),
          attachments: [{ url: expect.stringMatching(/^http/), mime_type: 'video/mp4', size_in_bytes: 30175 }],
        })
      }
      expect(feed.items[0]).toMatchObject({
        title: 'Tom & Jerry',
        url: `${TEST_ORIGIN}/w/${toShortUuid(plain.uuid)}`,
        tags: ['Films'],
        summary: expect.stringMatching(/^a markdown description of two lines x{300}$/),
      })
    }
  })

  it('lists public videos, whoever requests it', async () => {
    expect(await names('videos.json')).toEqual(['sensitive', tamedName, 'Tom & Jerry'])
    expect((await get('videos.json?videoChannelName=zoe_channel@far.example')).statusCode).toBe(403)
    server.configure(forStrangers)
    expect(await names('videos.json?videoChannelName=zoe_channel@far.example')).toEqual(['far'])
    expect(await names('videos.json?nsfw=false&sort=name')).toEqual([tamedName, 'Tom & Jerry'])
    expect(await names('videos.json?categoryOneOf=2')).toEqual(['Tom & Jerry'])
    expect(await names('videos.json?search=jerry')).toEqual(['Tom & Jerry'])
    server.configure({ instance: { default_nsfw_policy: 'do_not_list' }, feeds: { videos: { count: 1 } } })
    expect(await names('videos.json')).toEqual([tamedName])
  })

  it('contains original URLs of remote files, and absolute URLs of pictures', async () => {
    server.configure(forStrangers)
    const [item] = all(one(await xml('videos.xml?accountName=zoe@far.example'), 'channel'), 'item')
    if (!item) throw new Error('no item')
    const contents = all(one(item, 'media:group'), 'media:content').map(({ attributes }) => attributes)
    expect(contents).toMatchObject([
      { url: 'https://far.example/static/far.webm', type: 'video/webm', isDefault: 'true' },
      { url: expect.stringMatching(/^https:\/\/far\.example\/hls\/.*\.mp4$/), isDefault: 'false' },
    ])
    for (const { attributes } of all(item, 'media:thumbnail')) {
      expect(attributes.url).toMatch(new RegExp(`^${TEST_ORIGIN}/lazy-static/`))
    }
  })

  it('leaves out muted accounts', async () => {
    await insert(server.db, 'account_block', { target_id: ada.accountId })
    server.answers.clear()
    expect(await names('videos.json')).toEqual([])
    expect(await names('videos.json?accountName=ada')).toEqual([])
    expect(await names('video-comments.json')).toEqual([])
  })

  it('escapes hostile text in every format', async () => {
    const rss = one(await xml('videos.xml?accountName=ada'), 'channel')
    const item = all(rss, 'item').find((one_) => one(one_, 'link').text.endsWith(toShortUuid(hostile.uuid)))
    const entry = all(await xml('videos.atom?accountName=ada'), 'entry').find((one_) =>
      one(one_, 'id').text.endsWith(toShortUuid(hostile.uuid)),
    )
    if (!item || !entry) throw new Error('not listed')
    expect(one(item, 'media:title').text).toBe(TAMED)
    // Plain text, without anything that readers could take for markup.
    const title = one(item, 'title').text
    expect(title.replaceAll('\u200b', '')).toBe(TAMED)
    expect(title).not.toMatch(/<[a-z!/?]|&(?:#|\w+;)/i)
    const asHtml = [one(item, 'description'), one(item, 'content:encoded')]
    const inAtom = [one(entry, 'title'), one(entry, 'summary'), one(entry, 'content')]
    for (const { text } of [...asHtml, ...inAtom]) {
      expect(text).not.toMatch(/<script|<img|onerror=[^&]*>$/)
      expect(text).toContain('&lt;script&gt;')
    }
    const { items } = await json('videos.json?accountName=ada')
    for (const { content_html } of items) expect(content_html).not.toMatch(/<script|<img/)
  })

  it('takes one statement for its owner and two for its videos', async () => {
    const before = server.statements()
    await get('videos.xml?accountName=ada')
    expect(server.statements() - before).toBe(3)
    await get('videos.xml?accountName=ada')
    expect(server.statements() - before).toBe(3)
    const third = server.statements()
    await get(`video-comments.xml?videoId=${plain.uuid}`)
    expect(server.statements() - third).toBe(3)
  })
})

describe('the frame of a feed', () => {
  it('refuses readers that accept none of its types', async () => {
    const cases: [path: string, accept: string, status: number, type?: string][] = [
      ['videos.xml', 'application/rss+xml', 406],
      ['videos.rss', 'application/rss+xml', 200, 'application/rss+xml'],
      ['videos.rss', 'application/xml', 200, 'application/rss+xml'],
      ['videos.xml', 'text/html,application/xhtml+xml,*/*;q=0.8', 200, 'application/xml'],
      ['videos.xml', 'application/xml;q=0, text/xml;q=0, */*', 406],
      ['videos.atom', 'text/*', 200, 'application/atom+xml'],
      ['videos.json', 'text/xml', 406],
      ['videos.xml?format=json', 'application/json', 200, 'application/json'],
    ]
    for (const [path, accept, status, type] of cases) {
      const answer = await get(path, { accept })
      expect([path, accept, answer.statusCode]).toEqual([path, accept, status])
      if (type) expect(answer.headers['content-type']).toBe(`${type}; charset=utf-8`)
    }
  })

  it('has a cache lifetime, and answers 304 to clients with this version', async () => {
    for (const path of ['videos.xml?accountName=ada', 'video-comments.atom', `podcast/videos.xml?videoChannelId=${ada.channelId}`]) {
      const [first, second] = [await get(path), await get(path)]
      expect(first.headers).toMatchObject({ 'cache-control': 'max-age=900', etag: expect.stringMatching(/^"/) })
      expect([second.headers.etag, second.headers['content-type'], second.headers['cache-control'], second.body]).toEqual([
        first.headers.etag,
        first.headers['content-type'],
        'max-age=900',
        first.body,
      ])
      for (const clear of [false, true]) {
        if (clear) server.answers.clear()
        const again = await get(path, { 'if-none-match': String(first.headers.etag) })
        expect([again.statusCode, again.body]).toEqual([304, ''])
      }
    }
  })

  it('is not cached when the request has a password', async () => {
    const { headers } = await get('video-comments.atom', { 'x-peertube-video-password': 'open sesame' })
    expect(headers['cache-control']).toBe('private, max-age=900')
  })

  it('does not put query parameters of others into its URL', async () => {
    const { feed_url } = await json('videos.json?accountName=ada&utm=evil')
    expect(feed_url).toBe(`${TEST_ORIGIN}/feeds/videos.json?accountName=ada`)
  })

  it('names invalid parameters, and missing subjects', async () => {
    const cases: [path: string, status: number][] = [
      ['videos.abc', 400],
      ['videos.xml?accountId=abc', 400],
      ['videos.xml?sort=hello', 400],
      ['videos.xml?include=1', 401],
      ['videos.xml?privacyOneOf=3', 401],
      ['videos.xml?accountId=424242', 404],
      ['videos.xml?accountName=nobody', 404],
      ['videos.xml?videoChannelName=nobody', 404],
      [`videos.xml?accountName=ben&videoChannelId=${ada.channelId}`, 404],
      [`video-comments.xml?videoId=${plain.uuid}&videoChannelName=ada_channel`, 400],
      ['video-comments.xml?videoId=abc', 400],
      ['video-comments.xml?videoId=424242', 404],
      ['podcast/videos.xml', 400],
      ['podcast/videos.xml?videoChannelId=424242', 404],
    ]
    for (const [path, status] of cases) expect([path, (await get(path)).statusCode]).toEqual([path, status])
  })
})

describe('a feed of comments', () => {
  it('has public comments', async () => {
    expect(await names('video-comments.json')).toEqual(['sensitive - ben', 'Tom & Jerry - ben'])
    expect(await names('video-comments.json?accountName=ada')).toHaveLength(2)
    expect(await names('video-comments.json?accountName=ben')).toEqual([])
    expect(await names('video-comments.json?videoChannelName=ada_channel')).toHaveLength(2)
    const { items } = await json(`video-comments.json?videoId=${plain.uuid}`)
    expect(items).toMatchObject([
      {
        id: `${TEST_ORIGIN}/w/${toShortUuid(plain.uuid)};threadId=${comment}`,
        content_html: '<p>a <strong>word</strong></p>\n',
      },
    ])
    server.configure({ instance: { default_nsfw_policy: 'do_not_list' }, feeds: { comments: { count: 5 } } })
    expect(await names('video-comments.json')).toEqual(['Tom & Jerry - ben'])
  })

  it('of a private video is 404', async () => {
    const shut = await makeVideo(server.db, { channelId: ada.channelId, columns: { privacy: 3 } })
    expect((await get(`video-comments.json?videoId=${shut.uuid}`)).statusCode).toBe(401)
    const locked = await makeVideo(server.db, {
      channelId: ada.channelId,
      columns: { privacy: 5 },
      passwords: ['pass'],
    })
    const path = `video-comments.json?videoId=${locked.uuid}`
    expect((await get(path)).statusCode).toBe(403)
    expect((await get(path, { 'x-peertube-video-password': 'pass' })).statusCode).toBe(200)
    expect((await get(path)).statusCode).toBe(403)
  })

  it('is empty where comments are disabled', async () => {
    await server.db.query('update video set comments_policy = 2 where id = $1', [sensitive.id])
    server.answers.clear()
    expect(await names('video-comments.json')).toEqual(['Tom & Jerry - ben'])
    await server.db.query('update video set comments_policy = 1 where id = $1', [sensitive.id])
  })
})

describe('the feed of subscriptions', () => {
  const path = (token: string, more = '') => `subscriptions.json?accountId=${ben.accountId}&token=${token}${more}`

  beforeAll(async () => {
    for (const target of [ada.channelActorId]) {
      await insert(server.db, 'follow', { follower_id: ben.actorId, target_id: target, state: 'accepted' })
    }
  })

  it('needs only its token, and has the videos that the user may see', async () => {
    const token = await server.tokens.feedToken(ben.id)
    expect(await names(path(token))).toEqual(['internal', 'sensitive', tamedName, 'Tom & Jerry'])
    const { items } = await json(path(token, '&search=internal'))
    // The files of a private video need more than this token.
    expect(items[0]?.attachments).toBeUndefined()
    for (const format of ['xml', 'atom']) await xml(path(token).replace('json', format))
    expect((await get(path('wrong'))).statusCode).toBe(403)
    expect((await get(`subscriptions.json?accountId=${ada.accountId}&token=${token}`)).statusCode).toBe(403)
    expect((await get(`subscriptions.json?accountId=424242&token=${token}`)).statusCode).toBe(404)
    expect((await get(`subscriptions.json?accountId=${ben.accountId}`)).statusCode).toBe(400)
    expect((await get(path(token, '&include=1'))).statusCode).toBe(401)
  })

  it('leaves out accounts that the user mutes, and content that the user filters', async () => {
    const token = await server.tokens.feedToken(ben.id)
    await server.db.query("update users set nsfw_policy = 'do_not_list' where id = $1", [ben.id])
    expect(await names(path(token))).toEqual(['internal', tamedName, 'Tom & Jerry'])
    await insert(server.db, 'account_block', { target_id: ada.accountId, owner_id: ben.accountId })
    expect(await names(path(token))).toEqual([])
  })

  it('is refused when the token is renewed, and when the user is blocked', async () => {
    const old = await server.tokens.feedToken(ben.id)
    const token = await server.tokens.renewFeedToken(ben.id)
    expect((await get(path(old))).statusCode).toBe(403)
    expect((await get(path(token))).statusCode).toBe(200)
    await server.db.query("update users set state = 'blocked' where id = $1", [ben.id])
    expect((await get(path(token))).statusCode).toBe(403)
    await server.db.query("update users set state = 'active' where id = $1", [ben.id])
  })
})

describe('a podcast', () => {
  it('has every file with all its sources, and no email address', async () => {
    const rss = await xml(`podcast/videos.xml?videoChannelId=${ada.channelId}`)
    const channel = one(rss, 'channel')
    expect(one(channel, 'podcast:medium').text).toBe('video')
    expect(all(channel, 'itunes:owner')).toEqual([])
    const items = all(channel, 'item')
    expect(items).toHaveLength(3)
    // Readers may stop at the first item.
    expect(channel.children.findIndex(({ name }) => name === 'item')).toBe(channel.children.length - 3)
    for (const item of items) {
      const other = one(item, 'podcast:alternateEnclosure')
      expect(other.attributes).toMatchObject({
        type: 'video/mp4',
        length: '30175',
        bitrate: '80467',
        title: '240p',
        default: 'true',
      })
      expect(one(other, 'podcast:source').attributes.uri).toBe(one(item, 'enclosure').attributes.url)
      expect(all(item, 'podcast:tracker')).toHaveLength(2)
    }
    expect(items.map((item) => one(item, 'itunes:explicit').text)).toEqual(['true', 'false', 'false'])
    expect(items.map((item) => one(item, 'itunes:duration').text)).toEqual(['3', '3', '3'])
  })

  it('has the lives that play or wait, and none that has ended or is not public', async () => {
    const streamer = await makeUser(server.db, { username: 'streamer' })
    const started = new Date('2026-03-01T12:00:00.000Z')
    const live = (name: string, columns: Record<string, unknown>) =>
      makeVideo(server.db, { channelId: streamer.channelId, bare: true, columns: { name, is_live: true, duration: 0, ...columns } })
    const playing = await live('Now', { published_at: started })
    await insert(server.db, 'streaming_playlist', { video_id: playing.id, playlist_filename: 'master.m3u8' })
    const waiting = await live('Soon', { state: 'waiting-for-live', published_at: new Date('2026-02-01T12:00:00.000Z') })
    await live('Over', { state: 'live-ended' })
    await live('Secret', { state: 'waiting-for-live', privacy: 3 })
    await live('Blocked', { blocked: true })
    // Ended lives do not take the place of others.
    server.configure({ feeds: { videos: { count: 2 } } })
    const channel = one(await xml(`podcast/videos.xml?videoChannelId=${streamer.channelId}`), 'channel')
    expect(all(channel, 'item')).toEqual([])
    const items = all(channel, 'podcast:liveItem')
    expect(items.map((item) => [item.attributes, one(item, 'title').text, one(item, 'guid').text])).toEqual([
      [{ status: 'live', start: started.toISOString() }, 'Now', `${TEST_ORIGIN}/w/${toShortUuid(playing.uuid)}`],
      [{ status: 'pending', start: '2026-02-01T12:00:00.000Z' }, 'Soon', `${TEST_ORIGIN}/w/${toShortUuid(waiting.uuid)}`],
    ])
    const [first, second] = items
    const master = `${TEST_ORIGIN}/static/streaming-playlists/hls/${playing.uuid}/master.m3u8`
    const type = 'application/vnd.apple.mpegurl'
    expect(first && one(first, 'enclosure').attributes).toEqual({ url: master, length: '0', type })
    const other = first && one(first, 'podcast:alternateEnclosure')
    expect(other?.attributes).toMatchObject({ type, title: 'HLS', default: 'true' })
    expect(other && one(other, 'podcast:source').attributes).toEqual({ uri: master })
    expect(second && [...all(second, 'enclosure'), ...all(second, 'podcast:alternateEnclosure')]).toEqual([])
    expect(second && one(second, 'podcast:contentLink').attributes.href).toBe(`${TEST_ORIGIN}/w/${toShortUuid(waiting.uuid)}`)
  })

  it('is generated where the videos are', async () => {
    const rss = await xml(`podcast/videos.xml?videoChannelId=${remoteChannel.channelId}`)
    expect(all(one(rss, 'channel'), 'item')).toEqual([])
  })
})
