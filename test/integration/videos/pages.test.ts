// Pages for people and for machines that read them: the player, cards, oEmbed; hostile text stays text.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { recorded, refusalOf, shapeOf } from './recorded.ts'
import { startVideoServer, type VideoServer } from './server.ts'

let server: VideoServer
let video: MadeVideo

beforeAll(async () => {
  server = await startVideoServer({ services: { twitter: { username: '@vireo' } } })
  video = await makeVideo(server.db, {
    channelId: server.users.user.channelId,
    columns: {
      name: 'protocol video',
      description: '# Proto\n\n**bold** and [a link](https://example.org)',
      tags: ['birds'],
    },
    webVideo: { resolution: 240 },
    hls: { resolution: 240 },
  })
})
afterAll(() => server.stop())

const HTML = { accept: 'text/html,application/xhtml+xml' }
const page = (url: string, headers: Record<string, string> = HTML) => server.app.inject({ url, headers })

describe('the page of a video', () => {
  it('shows the video, who made it and when, and plays HLS with web video behind it', async () => {
    const answer = await page(`/w/${toShortUuid(video.uuid)}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept, Cookie' })
    expect(answer.body).toContain('<title>protocol video - Vireo</title>')
    expect(answer.body).toContain('<h1>protocol video</h1>')
    expect(answer.body).toContain('Main videos_user_channel channel')
    expect(answer.body).toContain('@videos_user_channel@localhost:9000')
    expect(answer.body).toContain('bold and a link')
    expect(answer.body).toContain(
      `data-hls="${TEST_ORIGIN}/static/streaming-playlists/hls/${video.uuid}/${video.hls?.master}"`,
    )
    expect(answer.body).toContain(
      `<source src="${TEST_ORIGIN}/static/web-videos/${video.webVideo?.filename}" type="video/mp4"`,
    )
  })

  it('tells machines about itself', async () => {
    const { body } = await page(`/videos/watch/${video.uuid}`)
    const watch = `${TEST_ORIGIN}/w/${toShortUuid(video.uuid)}`
    expect(body).toContain('<meta property="og:title" content="protocol video">')
    expect(body).toContain(`<meta property="og:url" content="${watch}">`)
    expect(body).toContain(`<meta property="og:video:url" content="${TEST_ORIGIN}/videos/embed/${video.uuid}">`)
    expect(body).toContain('<meta name="description" content="Proto bold and a link">')
    expect(body).toContain('<meta name="twitter:site" content="@vireo">')
    expect(body).toContain(`<link rel="canonical" href="${watch}">`)
    expect(body).toContain(`href="${TEST_ORIGIN}/services/oembed?url=${encodeURIComponent(watch)}"`)
    expect(body).toContain(`<link rel="alternate" type="application/activity+json" href="${video.url}">`)
    const data = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body)?.[1] ?? '')
    expect(data).toMatchObject({ '@type': 'VideoObject', name: 'protocol video', duration: 'PT3S', url: watch })
    expect(body).not.toContain('noindex')
  })

  it('loads nothing from elsewhere and may not be framed, but the embed may', async () => {
    const watch = await page(`/w/${video.uuid}`)
    const policy = String(watch.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(watch.headers['x-frame-options']).toBe('DENY')
    const embed = await page(`/videos/embed/${video.uuid}`)
    expect(embed.statusCode).toBe(200)
    expect(embed.headers).not.toHaveProperty('x-frame-options')
    expect(embed.headers['content-security-policy']).toContain('frame-ancestors *')
    for (const [, path = ''] of watch.body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      const asset = await page(path)
      expect(asset.statusCode).toBe(200)
      expect(asset.headers['cache-control']).toContain('immutable')
    }
    expect(watch.body).toMatch(/data-hls="\/assets\/hls-\d+\.\d+\.\d+\.js"/)
  })

  it('of another server plays from there', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const origin = `https://${host}`
    const { uuid, url } = await makeVideo(server.db, {
      ...{ channelId, remoteOrigin: origin },
      hls: { resolution: 720, playlistUrl: `${origin}/hls/master.m3u8` },
    })
    const answer = await page(`/w/${uuid}`)
    expect(answer.body).toContain(`data-hls="${origin}/hls/master.m3u8"`)
    expect(answer.headers['content-security-policy']).toContain(`connect-src 'self' ${origin};`)
    expect(answer.body).toContain(`<link rel="canonical" href="${url}">`)
    expect(answer.body).toContain('noindex')
  })

  it('is not there for private, protected and unknown videos, nor for unlisted ones by their number', async () => {
    const { channelId } = server.users.user
    for (const privacy of [3, 4, 5]) {
      const { uuid } = await makeVideo(server.db, { channelId, columns: { privacy, name: 'secret name' } })
      for (const path of [`/w/${uuid}`, `/videos/watch/${uuid}`, `/videos/embed/${uuid}`]) {
        const answer = await page(path)
        expect(answer.statusCode).toBe(404)
        expect(answer.body).not.toContain('secret name')
      }
    }
    const unlisted = await makeVideo(server.db, { channelId, columns: { privacy: 2 } })
    expect((await page(`/w/${unlisted.id}`)).statusCode).toBe(404)
    expect((await page(`/w/${unlisted.uuid}`)).statusCode).toBe(200)
    expect((await page('/w/4da6fde3-88f7-4d16-b119-108df5630b06')).statusCode).toBe(404)
    expect((await page('/w/hello')).statusCode).toBe(404)
  })

  const hostile = [
    '<script>alert(1)</script>',
    '</title><script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</script><script>alert(1)</script>',
    '<!-- --!><svg onload=alert(1)>',
    '[x](javascript:alert(1))',
    '![x" onerror="alert(1)](x)',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '\u2028</script>\u2029',
    '{{constructor.constructor(1)}}',
  ]
  it.each(hostile)('keeps %j a text wherever it stands', async (text) => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const made = await makeVideo(server.db, {
      channelId,
      remoteOrigin: `https://${host}`,
      columns: { name: text, description: text, tags: [text.slice(0, 30)], support: text },
      webVideo: { resolution: 240, fileUrl: 'javascript:alert(1)' },
      hls: { resolution: 240, playlistUrl: `https://${host}/"><script>alert(1)</script>/master.m3u8` },
    })
    await server.db.query('update channel set name = $1 where id = $2', [text, channelId])
    await server.db.query(
      `update actor set url = 'javascript:alert(1)//' || url where id = (select actor_id from channel where id = $1)`,
      [channelId],
    )
    for (const path of [`/w/${made.uuid}`, `/videos/embed/${made.uuid}`, '/']) {
      const { body, statusCode } = await page(path)
      expect(statusCode).toBe(200)
      expect(tagsIn(body)).toEqual(tagsIn(body).filter((tag) => EXPECTED.has(tag)))
      expect(body).not.toMatch(/<[^>"']*(?:"[^"]*"[^>"']*)*\son\w+=/)
      expect(body).not.toMatch(/(?:src|href)="javascript:/)
      const scripts = [...body.matchAll(/<script(?![^>]* src="\/assets\/)[^>]*>/g)].map(([tag]) => tag)
      expect(scripts.every((tag) => tag === '<script type="application/ld+json">')).toBe(true)
    }
    await server.db.query('delete from video where id = $1', [made.id])
  })
})

const EXPECTED = new Set(
  'html head meta title link script body header nav form input button a main article div video source h1 h2 p time span strong ul li img footer'.split(
    ' ',
  ),
)
const tagsIn = (body: string): string[] =>
  [...body.matchAll(/<([a-z][\w-]*)/gi)].map(([, tag = '']) => tag.toLowerCase())

describe('other pages', () => {
  it('are the latest videos and a word about the server', async () => {
    const home = await page('/')
    expect(home.body).toContain('protocol video')
    expect(home.body).toContain(`/w/${toShortUuid(video.uuid)}`)
    expect((await page('/about')).body).toContain('About Vireo')
    expect((await page('/', { ...HTML, 'if-none-match': String(home.headers.etag) })).statusCode).toBe(304)
  })

  it('are a page that says so where there is nothing, and a problem for programs', async () => {
    const missing = await page('/unknown-page')
    expect(missing.statusCode).toBe(404)
    expect(missing.headers['content-type']).toContain('text/html')
    const program = await page('/unknown-page', { accept: 'application/json' })
    expect(program.json()).toMatchObject({ status: 404 })
    expect((await page('/api/v1/unknown')).headers['content-type']).toContain('problem+json')
  })
})

describe('pages of lists', () => {
  it.each([
    ['/', 1],
    ['/videos/browse?sort=-likes', 1],
    ['/c/videos_user_channel', 2],
    ['/c/videos_user_channel/about', 1],
    ['/a/videos_user', 2],
    ['/a/videos_user/videos', 2],
    ['/search?search=protocol&type=channels', 1],
    // Where a search finds few, it looks for what is alike too.
    ['/search?search=protocol', 2],
  ])('take few statements: %s', async (path, most) => {
    const before = server.statements()
    expect((await page(path)).statusCode).toBe(200)
    expect(server.statements() - before).toBeLessThanOrEqual(most)
  })
})

describe('oEmbed', () => {
  const ask = (query: Record<string, string>) =>
    server.app.inject({ url: `/services/oembed?${new URLSearchParams(query)}` })
  const watch = () => `${TEST_ORIGIN}/w/${video.uuid}`

  it('has the recorded members, for both forms of the address', async () => {
    const expected = shapeOf(recorded('protocol', 'oembed: video').body)
    for (const url of [
      watch(),
      `${TEST_ORIGIN}/videos/watch/${video.uuid}`,
      `${TEST_ORIGIN}/w/${toShortUuid(video.uuid)}`,
    ]) {
      const answer = await ask({ url })
      expect(shapeOf(answer.json())).toEqual(expected)
      expect(answer.json().html).toContain(`src="${TEST_ORIGIN}/videos/embed/${video.uuid}"`)
    }
  })

  it('keeps to the sizes asked for', async () => {
    const answer = await ask({ url: watch(), maxwidth: '50', maxheight: '50', format: 'json' })
    expect(answer.json()).toMatchObject({ width: 50, height: 50 })
    expect(shapeOf(answer.json())).toEqual(shapeOf(recorded('protocol', 'oembed: sizes').body))
  })

  it('is refused as recorded', async () => {
    const hidden = await makeVideo(server.db, { channelId: server.users.user.channelId, columns: { privacy: 3 } })
    const asked: Record<string, Record<string, string>> = {
      'oembed: xml': { url: watch(), format: 'xml' },
      'oembed: missing': {},
      'oembed: other host': { url: `https://other.example.com/w/${video.uuid}` },
      'oembed: unknown video': { url: `${TEST_ORIGIN}/w/4da6fde3-88f7-4d16-b119-108df5630b06` },
      'oembed: private video': { url: `${TEST_ORIGIN}/w/${hidden.uuid}` },
      'oembed: bad id': { url: `${TEST_ORIGIN}/w/x` },
    }
    for (const [name, query] of Object.entries(asked)) {
      expect(refusalOf((await ask(query)).json())).toEqual(refusalOf(recorded('protocol', name).body))
    }
  })
})
