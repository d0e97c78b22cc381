// Hostile text through every field of pages, feeds, mails and JSON-LD stays text. Responses are parsed like in browsers and feed readers,
// and contain no markup from a value.

import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { titleText } from '../../../src/http/pages/heads/index.ts'
import { formIn, makeBrowser } from '../../support/browser.ts'
import { insert, makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import { findInjected } from '../../support/find-injected.ts'
import { hostileTexts } from '../../support/hostile-texts.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { makeWebClient } from '../../support/web-client.ts'
import { parseXml, type XmlElement } from '../../support/xml.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'

const EVERYTHING = hostileTexts.join('\n\n')
const ADMIN = 'operator@example.com'
/** Names are one line, and short enough for a mail. */
const NAME = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)>'

let at: MailNode
let withClient: TestNode
let dist: string
let pool: pg.Pool
const made: Made[] = []

interface Made {
  text: string
  video: string
  playlist: string
  account: string
  channel: string
  channelId: number
}

const db = {
  query: async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(text, [...values])).rows,
}

beforeAll(async () => {
  const instance = {
    name: NAME,
    short_description: EVERYTHING,
    description: EVERYTHING,
    terms: EVERYTHING,
    code_of_conduct: EVERYTHING,
    moderation_information: EVERYTHING,
    administrator: EVERYTHING,
    creation_reason: EVERYTHING,
    maintenance_lifetime: EVERYTHING,
    business_model: EVERYTHING,
    hardware_information: EVERYTHING,
    customizations: { css: EVERYTHING },
  }
  const config = {
    instance,
    services: { twitter: { username: NAME } },
    email: { body: { signature: EVERYTHING } },
    admin: { email: ADMIN },
    rates_limit: { login: { max: 1000 }, ask_send_email: { max: 1000 } },
  }
  at = await startMailNode({ config })
  dist = await makeWebClient()
  withClient = await startTestNode({
    beside: at.node,
    roles: ['web'],
    config: { ...config, vireo: { client: { dist } } },
  })
  pool = new pg.Pool({ connectionString: at.node.databaseUrl, max: 2 })
  pool.on('error', () => undefined)
  await at.ask('PUT', '/custom-pages/homepage/instance', { content: EVERYTHING }, at.root)
  for (const [index, text] of hostileTexts.entries()) made.push(await make(text, index))
})
afterAll(async () => {
  await pool?.end()
  await withClient?.stop()
  await at?.stop()
  if (dist) await rm(dirname(dist), { recursive: true, force: true })
})

/** A user, a channel, a video, a playlist and a comment with this text in every field; half of them are remote. */
async function make(text: string, index: number): Promise<Made> {
  const origin = at.node.base
  const isRemote = index % 2 === 1
  const host = `far${index}.example`
  const user = isRemote
    ? { ...(await makeRemoteChannel(db, { host, username: `far${index}` })), username: `far${index}@${host}` }
    : await makeUser(db, { username: `near${index}`, origin })
  // The job runs within a minute, and removes what is not followed from the lists.
  await db.query(
    `insert into follow (follower_id, target_id, state) select i.id, c.actor_id, 'accepted' from actor i, channel c
     where i.host_id is null and i.preferred_username = 'peertube' and c.id = $1 and $2`,
    [user.channelId, isRemote],
  )
  const channel = isRemote ? `far${index}_channel@${host}` : `near${index}_channel`
  const words = [text, user.channelId]
  await db.query('update channel set name = $1, description = $1, support = $1 where id = $2', words)
  await db.query('update account set name = $1, description = $1 where id = $2', [text, user.accountId])
  const video = await makeVideo(db, {
    channelId: user.channelId,
    ...(isRemote ? { remoteOrigin: `https://${host}` } : {}),
    columns: { name: text, description: text, support: text, tags: [text, `${text}2`], language: 'en' },
    hls: { resolution: 240, ...(isRemote ? { playlistUrl: `https://${host}/master.m3u8` } : {}) },
  })
  await insert(db, 'video_chapter', { video_id: video.id, timecode: 0, title: text })
  const caption = { video_id: video.id, language: text, filename: `${video.uuid}-${index}.vtt` }
  await insert(db, 'video_caption', caption)
  const comment = { video_id: video.id, account_id: user.accountId, text }
  await insert(db, 'comment', { ...comment, url: `${origin}/hostile-comments/${index}` })
  const [playlist] = await db.query<{ id: number; uuid: string }>(
    `insert into playlist (uuid, url, account_id, channel_id, name, description, type, privacy, elements_count)
     values (gen_random_uuid(), $1, $2, $3, $4, $4, 1, 1, 1) returning id, uuid`,
    [`${origin}/hostile-playlists/${index}`, user.accountId, user.channelId, text],
  )
  if (!playlist) throw new Error('No playlist was made.')
  await insert(db, 'playlist_element', { playlist_id: playlist.id, video_id: video.id, position: 1 })
  const names = { account: user.username, channel, channelId: user.channelId }
  return { text, video: video.uuid, playlist: playlist.uuid, ...names }
}

const read = (html: string, options: { allowed?: RegExp; own?: string } = {}) => findInjected(html, { own: at.node.base, ...options })

const get = (path: string, accept = 'text/html', base = at.node.base) => fetch(base + path, { headers: { accept } })

async function check(path: string): Promise<string[]> {
  const answer = await get(path)
  expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self';")
  expect(policy).not.toContain('unsafe')
  const { strange, data, inline } = read(await answer.text())
  expect({ path, strange, inline }).toEqual({ path, strange: [], inline: [] })
  return data
}

const each = hostileTexts.map((text, index) => [JSON.stringify(text), index] as const)
const madeAt = (index: number): Made => {
  const one = made[index]
  if (!one) throw new Error('Nothing was made of this.')
  return one
}

describe('pages', () => {
  it.each(each)('contain %s as text only', async (_name, index) => {
    const { text, video, playlist, account, channel } = madeAt(index)
    for (const path of [`/w/${video}`, `/videos/embed/${video}`]) {
      const [data = ''] = await check(path)
      expect(JSON.parse(data)).toMatchObject({ '@type': 'VideoObject', name: titleText(text) })
    }
    // The language of its captions has the text as its name.
    expect(await (await get(`/w/${video}`)).text()).toMatch(/<track [^>]*srclang="[^"]+" label="[^"]+"/)
    for (const path of [`/w/p/${playlist}`, `/video-playlists/embed/${playlist}`]) {
      const [data = ''] = await check(path)
      expect(JSON.parse(data)).toMatchObject({ '@type': 'ItemList', name: titleText(text) })
    }
    for (const path of [`/a/${account}`, `/a/${account}/about`, `/c/${channel}`, `/c/${channel}/about`]) {
      const [data = ''] = await check(path)
      expect(JSON.parse(data)).toMatchObject({ mainEntity: { name: titleText(text) } })
    }
    const query = new URLSearchParams({ search: text, tagsOneOf: text, next: text })
    for (const path of ['/search', '/login', '/login/ask-reset-password']) await check(`${path}?${query}`)
    for (const type of ['channels', 'playlists']) await check(`/search?${query}&type=${type}`)
  })

  it.each(each)('with a submitted form contain %s as text only', async (_name, index) => {
    const { text } = madeAt(index)
    const browser = makeBrowser(at.node.base)
    for (const [path, fields] of [
      ['/about/contact', { fromName: text, fromEmail: text, subject: text, body: text }],
      ['/signup', { username: text, email: text, displayName: text, channelName: text, channelDisplayName: text }],
      ['/login', { username: text, password: text }],
      ['/login/ask-reset-password', { email: text }],
    ] as const) {
      const form = formIn((await browser.open(path)).html, path)
      const refused = await browser.send(form, fields)
      expect({ path, status: refused.status }).toEqual({ path, status: 400 })
      expect({ path, ...read(refused.html) }).toMatchObject({ path, strange: [], inline: [] })
    }
  })

  it('about the server contain text only', async () => {
    const lists = ['/', '/videos/browse', '/videos/browse?page=2']
    for (const path of [...lists, '/about', '/about/contact', '/unknown', '/login']) await check(path)
  })

  it.each(each)('of a web client contain %s as text only', async (_name, index) => {
    const { text, video, playlist, account, channel } = madeAt(index)
    for (const path of [`/w/${video}`, `/videos/embed/${video}`, `/w/p/${playlist}`, `/a/${account}`, `/c/${channel}`, '/']) {
      const answer = await get(path, 'text/html', withClient.base)
      const scripts = /script-src ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1]
      expect(scripts).not.toMatch(/'unsafe-(?:inline|eval)'|data:|\*/)
      // Parts of the build: a handler, and the style of the administrator.
      const page = await answer.text()
      const { strange, data, inline, handlers } = read(page, {
        allowed: /^(?:onload|style|base)$/,
        own: withClient.base,
      })
      expect({ path, strange }).toEqual({ path, strange: [] })
      expect(handlers.filter((handler) => handler !== "this.media='all'")).toEqual([])
      expect(inline.filter((script) => !/^window\.(?:early|PeerTubeServerConfig) = /.test(script))).toEqual([])
      const config = inline.find((script) => script.startsWith('window.PeerTubeServerConfig = '))
      const json = JSON.parse(JSON.parse(config?.slice('window.PeerTubeServerConfig = '.length) ?? ''))
      expect(json.instance.name).toBe(NAME)
      if (path.startsWith('/w/') && !path.startsWith('/w/p/')) expect(JSON.parse(data[0] ?? '').name).toBe(titleText(text))
    }
  })
})

/** Values that feed readers interpret as HTML: those of RSS, and of Atom where the type says so. */
const htmlOf = ({ name, attributes, text, children }: XmlElement, format: string): string[] => [
  ...((format === 'rss2' ? /^(?:title|description|content:encoded)$/.test(name) : attributes.type === 'html') ? [text] : []),
  ...children.flatMap((child) => htmlOf(child, format)),
]
const xmlOf = (text: string): XmlElement => parseXml(text.replace('encoding="UTF-8"', 'encoding="utf-8"'))

describe('machine-readable output', () => {
  it.each(each)('contains %s as text only', async (_name, index) => {
    const { video, channelId } = madeAt(index)
    for (const feed of [`videos.FORMAT?videoChannelId=${channelId}`, `video-comments.FORMAT?videoId=${video}`]) {
      for (const format of ['rss2', 'atom', 'json']) {
        const path = `/feeds/${feed.replace('FORMAT', format)}`
        const answer = await get(path, '*/*')
        expect({ path, status: answer.status }).toEqual({ path, status: 200 })
        const body = await answer.text()
        const texts = format === 'json' ? htmlIn(JSON.parse(body)) : htmlOf(xmlOf(body), format)
        expect(texts.length).toBeGreaterThan(0)
        for (const text of texts) expect({ path, ...read(text) }).toMatchObject({ strange: [], inline: [] })
      }
    }
    if (index % 2 === 0) {
      const podcast = await get(`/feeds/podcast/videos.xml?videoChannelId=${channelId}`, '*/*')
      expect(podcast.status).toBe(200)
      xmlOf(await podcast.text())
    }
    const url = encodeURIComponent(`${at.node.base}/w/${video}`)
    const card = (await (await get(`/services/oembed?url=${url}`, '*/*')).json()) as { html: string }
    const frames = read(card.html, { allowed: /^iframe$/ })
    expect(frames).toMatchObject({ strange: [], inline: [], data: [] })
    expect(card.html.match(/<[a-z]/gi)).toEqual(['<i'])
  })

  it('of the server contains text only', async () => {
    xmlOf(await (await get('/opensearch.xml', '*/*')).text())
    xmlOf(await (await get('/sitemap.xml', '*/*')).text())
    const manifest = (await (await get('/manifest.webmanifest', '*/*')).json()) as { name: string }
    expect(manifest.name).toBe(NAME)
  })

  it('of messages to the administrator contains text only', async () => {
    const browser = makeBrowser(at.node.base)
    const form = formIn((await browser.open('/about/contact')).html, '/about/contact')
    const typed = { fromName: NAME, fromEmail: 'mallory@example.com', subject: NAME, body: EVERYTHING.slice(0, 4900) }
    expect((await browser.send(form, typed)).html).toContain('Your message is on its way.')
    const { html, text, headers } = await at.mail.next(ADMIN)
    expect(text).toContain('<script>alert(1)</script>')
    expect(read(html, { allowed: /^style$/ })).toMatchObject({ strange: [], inline: [] })
    expect(Object.values(headers).join('')).not.toMatch(/[\r\n]/)
  })

  it('of mails contains text only', async () => {
    await at.ask('POST', '/users/register', {
      username: 'reader',
      password: 'a good password',
      email: 'reader@example.com',
    })
    await at.ask('POST', '/users/ask-reset-password', { email: 'reader@example.com' })
    const { html, headers } = await at.mail.next('reader@example.com')
    expect(read(html, { allowed: /^style$/ })).toMatchObject({ strange: [], inline: [] })
    expect(Object.values(headers).join('')).not.toMatch(/[\r\n]/)
  })
})

/** The HTML texts of a JSON Feed. */
function htmlIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(htmlIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'content_html' && typeof inner === 'string' ? [inner] : htmlIn(inner)))
}
