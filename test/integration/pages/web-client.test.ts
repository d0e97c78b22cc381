// A built web client instead of the server's own pages: each URL gets its page in the right language with its metadata, and user text
// stays escaped. Also files at fixed URLs, for any client.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Parser } from 'htmlparser2'
import pg from 'pg'
import sharp from 'sharp'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { sourceOf } from '../../../src/http/client/template.ts'
import type { Row, Sql } from '../../../src/platform/database/index.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeUser, type MadeVideo, makeUser, makeVideo } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { makeWebClient, SCRIPT } from '../../support/web-client.ts'
import { all, one, parseXml } from '../../support/xml.ts'

const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)> & \u2028 </title></style>`
const CSS = 'body { color: red } </style><script>alert(2)</script>'
const PRIVATE = 3

const clock = fakeClock()
let dist: string
let node: TestNode
let root: Client
let pool: pg.Pool
let ada: MadeUser
let video: MadeVideo
let hidden: MadeVideo
let playlist: string
const query: Sql = async <R extends object = Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query(text, [...values])).rows as R[]

beforeAll(async () => {
  dist = await makeWebClient()
  node = await startTestNode({
    clock,
    config: {
      instance: { name: HOSTILE, short_description: HOSTILE, customizations: { css: CSS } },
      vireo: { client: { dist }, federation: { allow_http: true, allow_private_addresses: true } },
    },
  })
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 2 })
  root = await login(node.base, node.username, node.password)
  const db = { query }
  ada = await makeUser(db, { username: 'ada' })
  const channelId = ada.channelId
  video = await makeVideo(db, {
    channelId,
    columns: { name: HOSTILE, description: HOSTILE, tags: [HOSTILE], published_at: clock.now() },
  })
  hidden = await makeVideo(db, { channelId, columns: { name: 'hidden', privacy: PRIVATE, published_at: clock.now() } })
  await makeVideo(db, { channelId, columns: { name: 'nsfw', nsfw: true, published_at: clock.now() } })
  playlist = hidden.uuid
  await insert(db, 'playlist', {
    uuid: playlist,
    url: `${node.base}/video-playlists/${playlist}`,
    name: HOSTILE,
    privacy: 1,
    type: 1,
    account_id: ada.accountId,
    channel_id: channelId,
  })
})
afterAll(async () => {
  await pool?.end()
  await node?.stop()
  await rm(dirname(dist), { recursive: true, force: true })
})

const HTML = { accept: 'text/html' }
/** Without any `accept` header, unlike fetch by default. */
const get = (path: string, headers: Record<string, string> = HTML, method = 'GET') =>
  fetch(node.base + path, { method, headers, redirect: 'manual' })
const textOf = async (path: string, headers?: Record<string, string>) => (await get(path, headers)).text()

/** A page as a browser parses it: its title, its scripts, and its active elements and handlers. */
function read(page: string) {
  const found = { title: '', scripts: [] as string[], elements: [] as string[], handlers: [] as string[], style: '' }
  let within = ''
  const parser = new Parser({
    onopentag(name, attributes) {
      within = name
      found.elements.push(name)
      if (name === 'script' && !attributes.src && attributes.type !== 'application/ld+json') found.scripts.push('')
      else if (name === 'script') within = ''
      for (const [key, value] of Object.entries(attributes)) if (key.startsWith('on')) found.handlers.push(value)
    },
    ontext(text) {
      if (within === 'title') found.title += text
      if (within === 'style') found.style += text
      if (within === 'script') found.scripts[found.scripts.length - 1] += text
    },
    onclosetag() {
      within = ''
    },
  })
  parser.end(page)
  return found
}

describe('the pages of a client', () => {
  it.each([
    ['/', 200],
    ['/unknown-page', 200],
    ['/feeds/unknown.xml', 200],
    ['/api/v2/videos', 200],
    ['/login', 200],
    ['/a/ada', 200],
    ['/a/ada/video-channels', 200],
    ['/accounts/ada', 200],
    ['/c/ada_channel/videos', 200],
    ['/video-channels/ada_channel', 200],
    ['/@ada', 200],
    ['/@ada_channel', 200],
    ['/a/nobody_here', 404],
    ['/a/%00', 404],
    ['/c/ada', 404],
    ['/@nobody@example.org', 404],
    ['/w/unknown', 404],
    ['/w/p/unknown', 404],
    ['/videos/embed/unknown', 404],
    ['/video-playlists/embed/4da6fde3-88f7-4d16-b119-108df5630b06', 404],
  ])('are served at %s with %i, and contain no active user text', async (path, status) => {
    const answer = await get(path)
    expect(answer.status).toBe(status)
    const page = await answer.text()
    const { elements, handlers, scripts } = read(page)
    expect(elements).not.toContain('img')
    expect(handlers.filter((handler) => handler !== "this.media='all'")).toEqual([])
    const policy = answer.headers.get('content-security-policy') ?? ''
    for (const script of scripts) expect(policy).toContain(sourceOf(script))
  })

  it('have metadata of their subject, and the configuration of the API', async () => {
    for (const path of [`/w/${toShortUuid(video.uuid)}`, `/videos/watch/${video.uuid}`, `/w/p/${playlist}`]) {
      const answer = await get(path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('vary')).toContain('Accept-Language')
      expect(answer.headers.get('cache-control')).toBe('max-age=0, no-cache, must-revalidate')
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
      const page = await answer.text()
      const { title, scripts, style } = read(page)
      expect(title).toContain('<script>alert(1)</script>')
      expect(style).toBe('body { color: red } \\3c /style><script>alert(2)\\3c /script>')
      expect(page).toContain('<meta property="og:type" content="video">')
      expect(page).toContain('type="application/json+oembed"')
      expect(page).toContain('<meta property="og:platform" content="PeerTube">')
      const config = /^window\.PeerTubeServerConfig = (".*")$/s.exec(scripts[0] ?? '')?.[1] ?? ''
      expect(JSON.parse(JSON.parse(config))).toEqual(await (await get('/api/v1/config')).json())
      expect(scripts).toHaveLength(2)
    }
  })

  it('are the same with a comment thread in the URL', async () => {
    const answer = await get(`/w/${toShortUuid(video.uuid)};threadId=5`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<meta property="og:type" content="video">')
  })

  it('read a video once for simultaneous requests, and again when it changed', async () => {
    const { videoChannels } = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    const { id, uuid } = await makeVideo(
      { query },
      {
        channelId: videoChannels[0]?.id ?? 0,
        columns: { name: 'first', published_at: clock.now() },
      },
    )
    const titles = async () => (await Promise.all([textOf(`/w/${uuid}`), textOf(`/videos/embed/${uuid}`)])).map((page) => read(page).title)
    const before = await titles()
    expect(before.every((title) => title.startsWith('first - '))).toBe(true)
    await query("update video set name = 'second' where id = $1", [id])
    expect(await titles()).toEqual(before)
    await root.send('PUT', `/api/v1/videos/${uuid}`, { category: 1 })
    expect((await titles()).every((title) => title.startsWith('second - '))).toBe(true)
    await root.send('DELETE', `/api/v1/videos/${uuid}`)
    expect((await get(`/w/${uuid}`)).status).toBe(404)
  })

  it('hide what is not public', async () => {
    for (const path of [`/w/${hidden.uuid}`, `/videos/embed/${hidden.uuid}`, `/w/${video.id + 1}`]) {
      const answer = await get(path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(await answer.text()).not.toContain('>hidden')
      expect(answer.headers.get('x-robots-tag')).toBe('noindex')
    }
  })

  it('may be framed by other sites only as embeds', async () => {
    for (const path of [`/videos/embed/${video.uuid}`, `/video-playlists/embed/${playlist}`]) {
      const answer = await get(path)
      expect(answer.status).toBe(200)
      expect(answer.headers.has('x-frame-options')).toBe(false)
      expect(answer.headers.get('content-security-policy')).toContain('frame-ancestors *')
      expect(await answer.text()).toContain('noindex')
    }
  })

  it('have an ETag', async () => {
    const etag = (await get('/')).headers.get('etag') ?? ''
    expect((await get('/', { ...HTML, 'if-none-match': etag })).status).toBe(304)
    expect((await get('/', { ...HTML, 'if-none-match': etag, 'accept-language': 'fr' })).status).toBe(200)
  })

  it('are in the chosen language, or in that of the browser', async () => {
    const french = { ...HTML, 'accept-language': 'fr' }
    expect(await textOf('/', french)).toContain('<html lang="fr">')
    expect(await textOf('/', { ...french, cookie: 'a=b; clientLanguage=en-US' })).toContain('<html lang="en">')
    expect(await textOf('/', { ...french, cookie: 'clientLanguage=..%2f..%2fetc' })).toContain('<html lang="fr">')
    const chosen = await get('/fr-FR', HTML)
    expect(chosen.headers.get('set-cookie')).toBe('clientLanguage=fr-FR; Max-Age=7776000; Path=/; SameSite=Lax')
    expect(await chosen.text()).toContain('<html lang="fr">')
    expect((await get('/xx-XX')).headers.has('set-cookie')).toBe(false)
  })

  it.each([
    ['fr-FR', 'fr', 'Musique'],
    ['fr-CH', 'fr', 'Musique'],
    ['de', 'de', 'Musik'],
    ['ar', 'ar', 'موسيقى'],
    ['ar-EG', 'ar', 'موسيقى'],
  ])('have the translations of a browser in %s', async (requested, lang, music) => {
    expect(await textOf('/', { ...HTML, 'accept-language': `xx, ${requested};q=0.9, en;q=0.5` })).toContain(`<html lang="${lang}">`)
    for (const file of ['server', 'player']) {
      const answer = await get(`/client/locales/${requested}/${file}.json`, { accept: 'application/json' })
      expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toEqual([
        200,
        expect.stringContaining('application/json'),
        { Music: music },
      ])
      expect(answer.headers.get('cache-control')).toBe('public, max-age=7200')
    }
  })

  it('have no translations where the build has none', async () => {
    const english = await get('/client/locales/en-US/server.json')
    expect([english.status, await english.json()]).toEqual([200, {}])
    expect(await (await get('/client/locales/pt-BR/player.json')).json()).toEqual({ Music: 'player' })
    for (const path of ['xx-XX/server.json', 'fr-FR/other.json', '..%2Ffr-FR/server.json', 'fr-FR/server.json.gz']) {
      expect([path, (await get(`/client/locales/${path}`)).status]).toEqual([path, 404])
    }
  })

  it('are not served to other Accept headers', async () => {
    const wanting = async (path: string, accept: string) => (await get(path, { accept })).status
    expect(await wanting('/login', 'application/json')).toBe(406)
    expect(await wanting('/nothing', 'application/activity+json')).toBe(404)
    expect(await wanting('/api/v2/videos', 'application/json')).toBe(404)
    expect(await wanting('/api/v1/nothing', 'text/html')).toBe(404)
    expect(await wanting('/static/nothing', 'text/html')).toBe(404)
  })
})

describe('files of the client', () => {
  it('are cached as long as their name has a hash, and compressed', async () => {
    const answer = await get('/client/fr-FR/main-ZX81QWER.js', { 'accept-encoding': 'gzip' })
    expect(answer.headers.get('content-type')).toMatch(/javascript; charset=utf-8$/)
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=2592000, immutable')
    expect(await answer.text()).toBe(SCRIPT)
    const part = await get('/client/fr-FR/main-ZX81QWER.js', { range: 'bytes=0-9', 'accept-encoding': 'identity' })
    expect([part.status, await part.text()]).toEqual([206, SCRIPT.slice(0, 10)])
  })

  it('are revalidated without a hash, unless the URL has a version', async () => {
    const plain = await get('/client/assets/images/plain.txt')
    expect(plain.headers.get('cache-control')).toBe('no-cache')
    const etag = plain.headers.get('etag') ?? ''
    // Otherwise fetch revalidates by itself.
    const known = { 'if-none-match': etag, 'cache-control': 'max-age=0' }
    expect((await get('/client/assets/images/plain.txt', known)).status).toBe(304)
    const versioned = await get('/client/assets/images/plain.txt?5f3a')
    expect(versioned.headers.get('cache-control')).toBe('public, max-age=2592000')
  })

  it('do not include other files', async () => {
    for (const path of ['fr-FR/index.html', 'standalone/videos/embed.html', 'unknown.js', '..%2fsecret', '.git/config']) {
      const answer = await get(`/client/${path}`)
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, ''])
    }
  })

  it('are overridden by files of the administrator', async () => {
    const folder = join(node.dataDir, 'storage/client-overrides/assets/images')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'logo.svg'), '<svg/>')
    expect(await textOf('/client/assets/images/logo.svg')).toBe('<svg/>')
    await rm(folder, { recursive: true })
    expect(await textOf('/client/assets/images/logo.svg')).toContain('<title>Vireo</title>')
  })

  it('have a service worker at the root, never an old one', async () => {
    const worker = await get('/ngsw-worker.js')
    expect([worker.status, worker.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect((await get('/ngsw.json', { 'accept-language': 'fr' })).status).toBe(200)
    expect((await get('/ngsw.json', { 'accept-language': 'en' })).status).toBe(404)
    expect((await get('/client/ngsw-worker.js')).headers.get('service-worker-allowed')).toBe('/')
  })
})

describe('the pictures of the instance', () => {
  const sizeOf = async (path: string) => {
    const answer = await get(path)
    expect([path, answer.status]).toEqual([path, 200])
    const bytes = Buffer.from(await answer.arrayBuffer())
    const { width, height, format } = await sharp(bytes).metadata()
    return { width, height, format, bytes }
  }

  it('are there in every size that the manifest names', async () => {
    const { icons, ...manifest } = await (await get('/manifest.webmanifest')).json()
    expect(manifest).toMatchObject({ name: HOSTILE, description: HOSTILE, display: 'fullscreen', start_url: '/' })
    expect(icons).toHaveLength(7)
    for (const { src, sizes } of icons) {
      const { width, height, format } = await sizeOf(src)
      expect([`${width}x${height}`, format]).toEqual([sizes, 'png'])
    }
  })

  it('are the avatar of the instance as soon as it has one', async () => {
    const before = await sizeOf('/client/assets/images/favicon.png')
    const red = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#f00' } })
      .png()
      .toBuffer()
    const form = new FormData()
    form.set('avatarfile', new File([new Uint8Array(red)], 'a.png', { type: 'image/png' }))
    await root.send('POST', '/api/v1/config/instance-avatar/pick', form)
    const icon = await sizeOf('/client/assets/images/icons/icon-96x96.png')
    const { dominant } = await sharp(icon.bytes).stats()
    expect(dominant.r).toBeGreaterThan(240)
    await root.send('DELETE', '/api/v1/config/instance-avatar')
    const after = await sizeOf('/client/assets/images/favicon.png')
    expect(after.bytes.equals(before.bytes)).toBe(true)
  })

  it('stand for accounts and channels, and in the tab', async () => {
    expect(await sizeOf('/client/assets/images/default-avatar-account.png')).toMatchObject({ width: 120 })
    expect(await sizeOf('/client/assets/images/default-avatar-video-channel-48x48.png')).toMatchObject({ width: 48 })
    const avatar = '/client/assets/images/default-avatar-account.png'
    const part = await get(avatar, { range: 'bytes=1-3' })
    expect([part.status, part.headers.get('cache-control'), await part.text()]).toEqual([206, 'public, max-age=2592000', 'PNG'])
    expect((await get(avatar, { range: 'bytes=99999999-' })).status).toBe(416)
    const icon = await get('/favicon.ico', { accept: 'image/*,*/*' })
    expect(icon.headers.get('content-type')).toBe('image/x-icon')
    const bytes = Buffer.from(await icon.arrayBuffer())
    expect(bytes.readUInt32LE(14)).toBe(bytes.length - 22)
    expect(await sharp(bytes.subarray(22)).metadata()).toMatchObject({ format: 'png', width: 32 })
  })
})

describe('fixed addresses', () => {
  it('list for search engines what everybody may find, for a day', async () => {
    const answer = await get('/sitemap.xml')
    expect(answer.headers.get('content-type')).toBe('application/xml')
    expect(answer.headers.get('cache-control')).toBe('max-age=86400')
    const xml = (await answer.text()).replace('UTF-8', 'utf-8')
    const urls = parseXml(xml)
    const paths = all(urls, 'url').map((url) => one(url, 'loc').text.replace(node.base, ''))
    expect(paths.sort()).toEqual(
      [
        '/',
        '/about',
        '/about/instance',
        '/a/ada/video-channels',
        '/a/root/video-channels',
        '/c/ada_channel/videos',
        '/c/root_channel/videos',
        `/w/${toShortUuid(video.uuid)}`,
      ].sort(),
    )
    // Kept for a day, so no words: a video may be made private before that is over.
    expect(new Set(all(urls, 'url').flatMap((url) => url.children.map(({ name }) => name)))).toEqual(new Set(['loc', 'lastmod']))
  })

  it('refresh the sitemap after a day, and serve the old one until it is written', async () => {
    const later = await makeVideo({ query }, { channelId: ada.channelId, columns: { published_at: clock.now() } })
    const path = `/w/${toShortUuid(later.uuid)}`
    expect(await textOf('/sitemap.xml')).not.toContain(path)
    clock.pass(86_400_000)
    await get('/sitemap.xml')
    await until(async () => (await textOf('/sitemap.xml')).includes(path))
  })

  it('describe the search to browsers', async () => {
    const text = (await textOf('/opensearch.xml', { accept: '*/*' })).replace('UTF-8', 'utf-8').replaceAll('&#39;', '&apos;')
    const description = parseXml(text)
    expect(one(description, 'Url').attributes.template).toBe(`${node.base}/search?search={searchTerms}`)
    expect(one(description, 'Description').text).toContain('<script>')
  })

  it('send on to where things are, with a line of text', async () => {
    for (const [path, status, location] of [
      ['/security.txt', 301, '/.well-known/security.txt'],
      ['/.well-known/change-password', 302, '/my-account/settings'],
      ['/services/redirect/accounts/ada', 302, `${await urlOf('ada')}`],
    ] as const) {
      const answer = await get(path)
      expect([answer.status, answer.headers.get('location')]).toEqual([status, location])
      expect(await answer.text()).toMatch(/^(?:Found|Moved Permanently)\. Redirecting to /)
    }
    expect((await get('/services/redirect/accounts/nobody_here')).status).toBe(404)
  })

  it('hold what the administrator puts below /.well-known, and nothing else', async () => {
    const folder = join(node.dataDir, 'storage/well-known/acme-challenge')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'token_1-2'), 'answer')
    expect(await textOf('/.well-known/acme-challenge/token_1-2')).toBe('answer')
    const unknown = await get('/.well-known/acme-challenge/..%2f..%2f..%2fsecret')
    expect(unknown.status).toBe(404)
    expect(unknown.headers.get('cache-control')).toBe('no-cache, no-store, must-revalidate')
    expect((await get('/.well-known/dnt-policy.txt')).headers.get('accept-ranges')).toBe('bytes')
  })

  it('embed playlists', async () => {
    const ask = (url: string) => get(`/services/oembed?url=${encodeURIComponent(url)}&maxwidth=50`)
    const shown = await (await ask(`${node.base}/w/p/${playlist}`)).json()
    expect(shown).toMatchObject({
      type: 'video',
      title: HOSTILE,
      width: 50,
      height: 28,
      author_name: expect.any(String),
    })
    expect(shown.html).toContain(`src="${node.base}/video-playlists/embed/${playlist}"`)
    expect(shown.html).not.toContain('<script')
    await query('update playlist set privacy = $1', [PRIVATE])
    expect((await ask(`${node.base}/videos/watch/playlist/${playlist}`)).status).toBe(403)
    expect((await ask(`${node.base}/w/p/${video.uuid}`)).status).toBe(404)
    expect((await ask(`${node.base}/w/p/x`)).status).toBe(400)
  })
})

const urlOf = async (name: string): Promise<string> => {
  const [row] = await query<{ url: string }>('select url from actor where preferred_username = $1', [name])
  if (!row) throw new Error(`There is no ${name}.`)
  return row.url
}
