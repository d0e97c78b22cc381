// Feeds served over HTTP are valid by the schemas of their formats, for any texts of videos and comments.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { feedFormats } from '../../../src/http/feeds/formats.ts'
import { insert, type MadeUser, type MadeVideo, makeRemoteChannel, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { faultsOfXml, jsonFeed } from '../../support/feed-schemas.ts'
import { all, one, parseXml } from '../../support/xml.ts'
import { type FeedServer, startFeedServer } from './server.ts'

/** Texts that break careless serialisers. */
const HARD = [
  'Tom & Jerry',
  'a &amp; b &lt;b&gt; &#38; &nbsp; &copy',
  '<b>"bold"</b> \'quoted\' <script>alert(1)</script>',
  ']]> and ]]> again ]]]]><![CDATA[>',
  '<!-- a comment --> <?xml version="1.0"?> <!DOCTYPE x>',
  'birds \u{1f426}\u200d\u2b1b \u{1f3f3}\ufe0f\u200d\u{1f308} e\u0301 \u202eback',
  'bells \u0001\u0007\u0008\u000b\u000c\u001b\u007f\u0085\ufffe\uffff\u{1fffe}',
  'line\r\nbreaks\n\tand tabs',
  '  spaces  ',
  'percent %3C %zz 100%',
]
const MARKDOWN = `# A title\n\n**bold** [a link](https://far.example/?a=1&b="2") ![x](/pictures/1.png)\n\n> quoted & <i>raw</i>\n
- one\n- two\n\n\`\`\`html\n<script>]]></script>\n\`\`\`\n\nhttps://far.example/?c=<d>&e=]]>`

let server: FeedServer
let origin: string
let ada: MadeUser
let ben: MadeUser
let empty: MadeUser
let far: Awaited<ReturnType<typeof makeRemoteChannel>>
let unlisted: MadeVideo

beforeAll(async () => {
  server = await startFeedServer()
  origin = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const { db } = server
  ada = await makeUser(db, { username: 'ada' })
  ben = await makeUser(db, { username: 'ben' })
  empty = await makeUser(db, { username: 'empty' })
  far = await makeRemoteChannel(db, { host: 'far.example', username: 'zoe' })
  const hostile = HARD.slice(0, 6).join(' ')
  // Names have at most 120 characters.
  const displayName = `A & B &amp; <i>c</i> "d" ]]> \u{1f426} \u0001`
  for (const table of ['account', 'channel']) {
    await db.query(`update ${table} set name = $1, description = $2`, [displayName, `${hostile}\n\n${MARKDOWN}`])
  }
  for (const actorId of [ada.actorId, ada.channelActorId]) {
    await insert(db, 'actor_image', { actor_id: actorId, type: 1, filename: `${actorId}.png`, width: 600, height: 600 })
  }

  const files = { webVideo: { resolution: 240 }, hls: { resolution: 480 } }
  for (const [index, name] of HARD.entries()) {
    await makeVideo(db, {
      channelId: ada.channelId,
      ...files,
      columns: { name, description: `${name}\n\n${MARKDOWN}`, category: index + 1, tags: [name], language: 'zh-Hant' },
    })
  }
  await db.query(`update video_file set torrent_filename = id || '.torrent', info_hash = lpad(id::text, 40, '0')
    where filename is not null`)
  const bare = [
    { name: 'without all', description: null, duration: 0 },
    { name: 'with an empty description', description: '' },
    { name: 'sensitive', nsfw: true },
    { name: 'live', is_live: true, duration: 0 },
  ]
  for (const columns of bare) await makeVideo(db, { channelId: ada.channelId, columns, bare: true })
  await makeVideo(db, {
    channelId: far.channelId,
    remoteOrigin: 'https://far.example',
    columns: { name: hostile, description: MARKDOWN, nsfw: true },
    webVideo: { resolution: 240, fileUrl: 'https://far.example/a.mp4?a=1&b=<2>&c="3"' },
    hls: { resolution: 0, playlistUrl: 'https://far.example/hls/far.m3u8' },
  })
  await makeVideo(db, {
    channelId: far.channelId,
    remoteOrigin: 'https://far.example',
    hls: { resolution: 720 },
    columns: { name: 'without an ending' },
    webVideo: { resolution: 240, fileUrl: 'https://far.example/watch' },
  })

  unlisted = await makeVideo(db, { channelId: ada.channelId, columns: { name: hostile, privacy: 2 } })
  const [jerry] = await db.query<{ id: number }>("select id from video where name = 'Tom & Jerry'")
  for (const below of [unlisted.id, jerry?.id]) {
    for (const [index, text] of [...HARD, MARKDOWN, '<p onclick="x()">HTML <br> &eacute;</p>'].entries()) {
      await insert(db, 'comment', {
        video_id: below,
        account_id: ben.accountId,
        text,
        url: `${origin}/c/${below}-${index}`,
      })
    }
  }
  for (const target of [ada.channelActorId]) {
    await insert(db, 'follow', { follower_id: ben.actorId, target_id: target, state: 'accepted' })
  }
})
afterAll(() => server.stop())
beforeEach(() => server.configure({ feeds: { videos: { count: 50 }, comments: { count: 50 } } }))

/** The URLs of all feeds without their formats, with the expected number of items. */
async function feeds(): Promise<{ path: string; query: string; items: number }[]> {
  const token = await server.tokens.feedToken(ben.id)
  return [
    { path: 'videos', query: '', items: HARD.length + 6 },
    { path: 'videos', query: '?accountName=ada&sort=-name', items: HARD.length + 4 },
    { path: 'videos', query: `?videoChannelId=${ada.channelId}&nsfw=false&search=`, items: HARD.length + 3 },
    { path: 'videos', query: `?videoChannelName=${encodeURIComponent('zoe_channel@far.example')}`, items: 2 },
    { path: 'videos', query: '?accountName=empty', items: 0 },
    { path: 'video-comments', query: '', items: HARD.length + 2 },
    { path: 'video-comments', query: `?videoId=${unlisted.uuid}`, items: HARD.length + 2 },
    { path: 'video-comments', query: '?accountName=ada', items: HARD.length + 2 },
    { path: 'video-comments', query: `?videoChannelId=${empty.channelId}`, items: 0 },
    { path: 'subscriptions', query: `?accountId=${ben.accountId}&token=${token}`, items: HARD.length + 4 },
  ]
}

async function get(path: string): Promise<string> {
  const answer = await fetch(`${origin}/feeds/${path}`)
  const body = await answer.text()
  expect([path, answer.status, answer.status === 200 ? '' : body]).toEqual([path, 200, ''])
  return body
}

/** Each document in each format, by URL. */
async function documentsOf(formats: readonly string[]): Promise<{ feed: string; path: string; items: number; body: string }[]> {
  const documents = []
  for (const { path, query, items } of await feeds()) {
    for (const format of formats) {
      const address = `${path}.${format}${query}`
      documents.push({ feed: path + query, path: address, items, body: await get(address) })
    }
  }
  return documents
}

const faultsOf = (grammar: 'atom' | 'rss', documents: { path: string; body: string }[]) =>
  faultsOfXml(grammar, new Map(documents.map(({ path, body }) => [path, body])))

const [xmlFormats, atomFormats, jsonFormats] = [['xml', 'rss'], ['atom'], ['json']].map((families) =>
  feedFormats.filter((format) => families.some((family) => format.startsWith(family))),
)

describe('every feed', () => {
  it('is RSS 2.0 with its modules', async () => {
    const documents = await documentsOf(xmlFormats ?? [])
    expect(documents).toHaveLength(30)
    expect(await faultsOf('rss', documents)).toEqual([])
    for (const { path, items, body } of documents) {
      const channel = one(parseXml(body), 'channel')
      expect([path, all(channel, 'item').length]).toEqual([path, items])
      const guids = all(channel, 'item').map((item) => one(item, 'guid'))
      expect(new Set(guids.map(({ text }) => text)).size).toBe(items)
    }
  })

  it('is Atom by RFC 4287', async () => {
    const documents = await documentsOf(atomFormats ?? [])
    expect(documents).toHaveLength(20)
    expect(await faultsOf('atom', documents)).toEqual([])
    const ids = new Map<string, string>()
    for (const { feed: name, path, items, body } of documents) {
      const feed = parseXml(body)
      const entries = all(feed, 'entry')
      expect([path, entries.length]).toEqual([path, items])
      // Rules of the RFC beyond its grammar.
      const hasAuthor = all(feed, 'author').length > 0
      for (const entry of entries) {
        expect(hasAuthor || all(entry, 'author').length > 0).toBe(true)
        expect(all(entry, 'link').map(({ attributes }) => attributes.rel ?? 'alternate')).toEqual(['alternate'])
      }
      const ofEntries = entries.map((entry) => one(entry, 'id').text)
      expect(new Set(ofEntries).size).toBe(items)
      const self = all(feed, 'link').filter(({ attributes }) => attributes.rel === 'self')
      const address = `${TEST_ORIGIN}/feeds/${path.replace('.atom1', '.atom')}`
      expect(self.map(({ attributes }) => attributes.href)).toEqual([address])
      const id = one(feed, 'id').text
      for (const uri of [id, ...ofEntries, one(feed, 'logo').text, one(feed, 'icon').text]) {
        expect(URL.canParse(uri) && new URL(uri).href).toBe(uri)
      }
      // The id is the same for every form of the URL, and unique among feeds.
      expect(ids.get(id) ?? name).toBe(name)
      ids.set(id, name)
    }
    expect(ids.size).toBe(10)
  })

  it('is JSON Feed', async () => {
    const documents = await documentsOf(jsonFormats ?? [])
    expect(documents).toHaveLength(20)
    for (const { path, items, body } of documents) {
      const read = jsonFeed.safeParse(JSON.parse(body))
      expect([path, read.error?.issues ?? []]).toEqual([path, []])
      expect([path, read.data?.items.length]).toEqual([path, items])
    }
  })
})

describe('the schemas', () => {
  /** The same documents, each with one fault. Every pattern has to match. */
  const broken = (body: string, faults: readonly (readonly [RegExp, string])[]) =>
    faults.map(([found, instead]) => {
      expect(body).toMatch(found)
      return { path: `${found} as ${instead}`, body: body.replace(found, instead) }
    })
  const firstOf = async (grammar: 'atom' | 'rss', documents: { path: string; body: string }[]) => {
    const faults = await faultsOf(grammar, documents)
    return documents.map(({ path }) => path).filter((path) => !faults.some((fault) => fault.startsWith(`${path} (`)))
  }

  it('find faults in RSS', async () => {
    const documents = broken(await get('videos.xml?accountName=ada'), [
      [/<rss version="2.0"/, '<rss version="2.1"'],
      [/<description>[^<]*<\/description>\s*<lastBuildDate>/, '<lastBuildDate>'],
      [/<pubDate>[^<]*/, '<pubDate>2026-01-01T00:00:00Z'],
      [/isPermaLink="true">http[^<]*/, 'isPermaLink="true">42'],
      [/ length="\d+"/, ''],
      [/<enclosure ([^>]*)type="[^"]*"/, '<enclosure $1type="mp4"'],
      [/rel="self"/, 'rel="alternate"'],
      [/<url>http[^<]*/, '<url>/lazy-static/avatars/1.png'],
      [/<media:thumbnail url="http[^"]*/, '<media:thumbnail url="/1.png'],
      [/isDefault="true"/, 'isDefault="false"'],
      [/<media:rating>nonadult/, '<media:rating>no'],
      [/<title>/, '<title><b/>'],
      [/<item>/, '<foreign/><item>'],
    ])
    expect(await firstOf('rss', documents)).toEqual([])
  })

  it('find faults in podcasts', async () => {
    server.configure({ smtp: { hostname: 'mail.example', from_address: 'birds@example.org' } })
    const documents = broken(await get(`podcast/videos.xml?videoChannelId=${ada.channelId}`), [
      [/<itunes:email>[^<]*<\/itunes:email>/, '<itunes:email/>'],
      [/<itunes:explicit>false/, '<itunes:explicit>no'],
      [/<language>[^<]*/, '<language>Traditional Chinese'],
      [/<enclosure [^>]*>/, ''],
      [/<podcast:source uri="http/, '<podcast:source uri="ftp'],
      [/<itunes:image href="http/, '<itunes:image href="ftp'],
    ])
    expect(await firstOf('rss', documents)).toEqual([])
  })

  it('find faults in Atom and in JSON Feed', async () => {
    const documents = broken(await get('videos.atom?accountName=ada'), [
      [/<id>[^<]*<\/id>/, ''],
      [/<updated>[^<]*/, '<updated>Thu, 01 Jan 2026 00:00:00 GMT'],
      [/ term="[^"]*"/, ''],
      [/<title type="html"/, '<title type="markdown"'],
      [/<name>[^<]*<\/name>/, ''],
      [/<entry>/, '<item/><entry>'],
    ])
    expect(await firstOf('atom', documents)).toEqual([])

    const json = JSON.parse(await get('videos.json?accountName=ada'))
    const [item] = json.items
    expect(jsonFeed.safeParse(json).success).toBe(true)
    const faulty = [
      { ...json, version: 'https://jsonfeed.org/version/2' },
      { ...json, icon: '/icon.png' },
      { ...json, more: 1 },
      ...[{ id: 1 }, { content_html: undefined }, { date_modified: 'Thu, 01 Jan 2026 00:00:00 GMT' }].map((fault) => ({
        ...json,
        items: [{ ...item, ...fault }],
      })),
      { ...json, items: [item, item] },
    ]
    for (const document of faulty) expect(jsonFeed.safeParse(document).success).toBe(false)
  })
})

describe('a podcast', () => {
  const podcast = (channelId: number) => `podcast/videos.xml?videoChannelId=${channelId}`
  const mail = { hostname: 'mail.example', from_address: 'birds@example.org' }

  it('is RSS 2.0 with the elements of podcasts', async () => {
    const channels = [ada, empty, far].map(({ channelId }) => podcast(channelId))
    const documents = []
    for (const path of channels) documents.push({ path, body: await get(path) })
    server.configure({ smtp: mail })
    for (const path of channels) documents.push({ path: `${path} with mails`, body: await get(path) })
    expect(await faultsOf('rss', documents)).toEqual([])
    const items = documents.map(({ body }) => all(one(parseXml(body), 'channel'), 'item').length)
    expect(items).toEqual([HARD.length, 0, 0, HARD.length, 0, 0])
  })

  it('names its owner only with an address of the server, never with that of a user', async () => {
    const owner = async (more: Record<string, unknown>) => {
      server.configure(more)
      const [found] = all(one(parseXml(await get(podcast(ada.channelId))), 'channel'), 'itunes:owner')
      return found && one(found, 'itunes:email').text
    }
    expect(await owner({})).toBeUndefined()
    expect(await owner({ smtp: mail })).toBe('birds@example.org')
    const admin = { email: 'ada@example.org' }
    expect(await owner({ admin, smtp: mail })).toBe('birds@example.org')
    const terms = 'Write to ada@example.org.'
    expect(await owner({ admin, smtp: mail, instance: { terms } })).toBe('ada@example.org')
  })

  it('takes values of most of its videos, and says that one of them is sensitive', async () => {
    const { channelId } = await makeUser(server.db, { username: 'cleo' })
    const about = async () => {
      server.answers.clear()
      const channel = one(parseXml(await get(podcast(channelId))), 'channel')
      const [category] = all(channel, 'itunes:category')
      return [
        all(channel, 'language').map(({ text }) => text),
        [category, ...(category ? all(category, 'itunes:category') : [])].map((one_) => one_?.attributes.text),
        one(channel, 'itunes:explicit').text,
      ]
    }
    expect(await about()).toEqual([[], [undefined], 'false'])
    await makeVideo(server.db, { channelId, columns: { language: 'fr', category: 18 } })
    expect(await about()).toEqual([['fr'], ['Arts', 'Food'], 'false'])
    await makeVideo(server.db, { channelId, columns: { nsfw: true } })
    expect(await about()).toEqual([[], [undefined], 'true'])
    await makeVideo(server.db, { channelId, columns: { language: 'fr', category: 1 } })
    expect(await about()).toEqual([['fr'], [undefined], 'true'])
  })
})

describe('a feed with a token', () => {
  it('is in no shared cache', async () => {
    const token = await server.tokens.feedToken(ben.id)
    const path = `${origin}/feeds/subscriptions.xml?accountId=${ben.accountId}&token=${token}`
    const [private_, public_] = [await fetch(path), await fetch(`${origin}/feeds/videos.xml`)]
    expect(private_.headers.get('cache-control')).toBe('max-age=900')
    expect(private_.headers.get('vary')?.split(', ')).toContain('*')
    expect(private_.headers.get('cdn-cache-control')).toBe('private, no-store')
    expect(String(public_.headers.get('vary'))).not.toContain('*')
    expect(public_.headers.get('cdn-cache-control')).toBeNull()
    const again = await fetch(path, { headers: { 'if-none-match': private_.headers.get('etag') ?? '' } })
    expect([again.status, again.headers.get('vary')?.split(', ').includes('*')]).toEqual([304, true])
    const signedIn = await fetch(`${origin}/feeds/video-comments.xml`, { headers: { authorization: 'Bearer abc' } })
    expect(signedIn.headers.get('cache-control')).toMatch(/^private, /)
  })

  it('does not contain the token in its id', async () => {
    const token = await server.tokens.feedToken(ben.id)
    const feed = parseXml(await get(`subscriptions.atom?accountId=${ben.accountId}&token=${token}`))
    expect(one(feed, 'id').text).toMatch(/\/feeds\/subscriptions\.atom\?accountId=\d+$/)
  })
})
