// Pages for people, and metadata for machines: the player, cards, oEmbed; hostile text stays text.

import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newUuid, toShortUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeVideo, makeRemoteChannel, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
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
  it('shows the video, its author and date, and plays HLS with web video as a fallback', async () => {
    const answer = await page(`/w/${toShortUuid(video.uuid)}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept, Accept-Language, Cookie' })
    expect(answer.body).toContain('<title>protocol video - Vireo</title>')
    expect(answer.body).toContain('<h1 dir="auto">protocol video</h1>')
    expect(answer.body).toContain('<h3>Proto</h3>')
    expect(answer.body.match(/<h1/g)).toHaveLength(1)
    expect(answer.body).toContain('Main videos_user_channel channel')
    expect(answer.body).toContain('@videos_user_channel@localhost:9000')
    expect(answer.body).toContain('<strong>bold</strong> and <a href="https://example.org/" rel="nofollow noopener noreferrer">a link</a>')
    expect(answer.body).toContain(`data-hls="${TEST_ORIGIN}/static/streaming-playlists/hls/${video.uuid}/${video.hls?.master}"`)
    expect(answer.body).toContain(`<source src="${TEST_ORIGIN}/static/web-videos/${video.webVideo?.filename}" type="video/mp4"`)
  })

  it('links its tags to other videos with the same tag', async () => {
    await makeVideo(server.db, { channelId: server.users.user.channelId, columns: { name: 'of fish', tags: ['fish'] } })
    const { body } = await page(`/w/${video.uuid}`)
    const [, path = ''] = /<a href="([^"]+)" dir="auto">birds<\/a>/.exec(body) ?? []
    const tagged = await page(path)
    expect(tagged.body).toContain('<h1>Videos tagged “<bdi>birds</bdi>”</h1>')
    expect(tagged.body).toContain('protocol video')
    expect(tagged.body).not.toContain('of fish')
    expect((await page('/search?tagsOneOf=FISH')).body).toContain('of fish')
    expect((await page('/search?tagsOneOf=%3Cb%3E')).body).toContain('<bdi>&lt;b&gt;</bdi>')
  })

  it('has machine-readable metadata', async () => {
    const { body } = await page(`/videos/watch/${video.uuid}`)
    const watch = `${TEST_ORIGIN}/w/${toShortUuid(video.uuid)}`
    expect(body).toContain('<meta property="og:title" content="protocol video">')
    expect(body).toContain(`<meta property="og:url" content="${watch}">`)
    expect(body).toContain(`<meta property="og:video:url" content="${TEST_ORIGIN}/videos/embed/${video.uuid}">`)
    expect(body).toContain('<meta name="description" content="Proto bold and a link">')
    expect(body).toContain('<meta name="twitter:site" content="@vireo">')
    // Clients detect the server's API by this.
    expect(body).toContain('<meta property="og:platform" content="PeerTube">')
    expect(body).toContain(`<link rel="canonical" href="${watch}">`)
    expect(body).toContain(`href="${TEST_ORIGIN}/services/oembed?url=${encodeURIComponent(watch)}"`)
    expect(body).toContain(`<link rel="alternate" type="application/activity+json" href="${video.url}">`)
    const data = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body)?.[1] ?? '')
    expect(data).toMatchObject({ '@type': 'VideoObject', name: 'protocol video', duration: 'PT3S', url: watch })
    expect(body).not.toContain('noindex')
  })

  it('links its icon, its manifest and its search, which exist', async () => {
    const { body } = await page(`/w/${video.uuid}`)
    for (const [rel, path] of [
      ['icon', '/favicon.ico'],
      ['manifest', '/manifest.webmanifest'],
      ['search', '/opensearch.xml'],
    ] as const) {
      expect(body).toMatch(new RegExp(`<link rel="${rel}"[^>]* href="${path}"`))
      expect((await page(path, { accept: '*/*' })).statusCode).toBe(200)
    }
    expect((await page(`/videos/embed/${video.uuid}`)).body).toContain('<link rel="icon" href="/favicon.ico"')
  })

  it('loads nothing from other sites and may not be framed, but the embed may', async () => {
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
    expect(watch.body).toMatch(/data-hls="\/assets\/hls-[0-9a-f]{12}\.js"/)
  })

  it('has player scripts of at most 250 kB compressed', async () => {
    const [, player = '', hls = ''] = /<script src="([^"]+)" data-hls="([^"]+)"/.exec((await page(`/w/${video.uuid}`)).body) ?? []
    const sizes = await Promise.all([player, hls].map(async (path) => gzipSync((await page(path)).body).length))
    expect(Math.min(...sizes)).toBeGreaterThan(1000)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250_000)
  })

  it('has a time bar if there are chapters, but not of a live', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const hls = { resolution: 240, playlistUrl: `https://${host}/240.m3u8` }
    const chapter = { timecode: 2, title: '"><b>Fishing' }
    const barsOf = async (columns: Record<string, unknown>, chapters: readonly (typeof chapter)[]) => {
      const { id, uuid } = await makeVideo(server.db, {
        channelId,
        remoteOrigin: `https://${host}`,
        columns: { duration: 90, ...columns },
        hls,
      })
      for (const one of chapters) await insert(server.db, 'video_chapter', { video_id: id, ...one })
      const paths = [`/w/${uuid}`, `/videos/embed/${uuid}`, `/videos/embed/${uuid}?controls=0`]
      const bodies = await Promise.all(paths.map(async (path) => (await page(path)).body))
      await server.db.query('delete from video where id = $1', [id])
      expect(bodies.map((body) => [body.includes('<video '), body.includes('class="theatre"')])).toEqual([
        [true, true],
        [true, false],
        [true, false],
      ])
      return bodies.map((body) => {
        const [, data] = /<div class="times"[^>]* data-chapters="([^"]*)" hidden>/.exec(body) ?? []
        return data && JSON.parse(data.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
      })
    }
    const onBar = [[chapter.timecode, chapter.title]]
    expect(await barsOf({}, [chapter])).toEqual([onBar, onBar, undefined])
    expect(await barsOf({}, [])).toEqual([undefined, undefined, undefined])
    expect(await barsOf({ is_live: true }, [chapter])).toEqual([undefined, undefined, undefined])
  })

  it('of a remote video plays from its server', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const origin = `https://${host}`
    const { uuid, url } = await makeVideo(server.db, {
      channelId,
      remoteOrigin: origin,
      hls: { resolution: 720, playlistUrl: `${origin}/hls/master.m3u8` },
    })
    const answer = await page(`/w/${uuid}`)
    expect(answer.body).toContain(`data-hls="${origin}/hls/master.m3u8"`)
    expect(answer.headers['content-security-policy']).toContain(`connect-src 'self' ${origin};`)
    expect(answer.body).toContain(`<link rel="canonical" href="${url}">`)
    expect(answer.body).toContain('noindex')
  })

  it('is 404 for private, internal, blocked and unknown videos, and for unlisted ones by id', async () => {
    const { channelId } = server.users.user
    for (const columns of [{ privacy: 3 }, { privacy: 4 }, { blocked: true }]) {
      const { uuid } = await makeVideo(server.db, { channelId, columns: { ...columns, name: 'secret name' } })
      for (const path of [`/w/${uuid}`, `/videos/watch/${uuid}`, `/videos/embed/${uuid}`]) {
        const answer = await page(path)
        expect(answer.statusCode).toBe(404)
        expect(answer.body).not.toContain('secret name')
      }
    }
    const unlisted = await makeVideo(server.db, { channelId, columns: { privacy: 2 } })
    expect((await page(`/w/${unlisted.id}`)).statusCode).toBe(404)
    const shown = await page(`/w/${unlisted.uuid}`)
    expect(shown.statusCode).toBe(200)
    expect(shown.body).toContain('<meta name="robots" content="noindex">')
    expect((await page('/w/4da6fde3-88f7-4d16-b119-108df5630b06')).statusCode).toBe(404)
    expect((await page('/w/hello')).statusCode).toBe(404)
  })

  it('asks for a password, and plays with its own token after the right one', async () => {
    const { channelId } = server.users.user
    const made = await makeVideo(server.db, {
      channelId,
      columns: { privacy: 5, name: 'secret name' },
      passwords: ['open sesame'],
      webVideo: { resolution: 240 },
      hls: { resolution: 240 },
    })
    const say = (path: string, password: string) =>
      server.app.inject({
        method: 'POST',
        url: path,
        payload: new URLSearchParams({ password }).toString(),
        headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded' },
      })
    for (const path of [`/w/${made.uuid}`, `/videos/watch/${made.uuid}`, `/videos/embed/${made.uuid}`]) {
      for (const answer of [await page(path), await say(path, 'wrong'), await say(path, 'x'.repeat(600))]) {
        expect(answer.statusCode).toBe(403)
        expect(answer.body).toContain('<input type="password"')
        expect(answer.body).not.toMatch(/secret name|previews|ld\+json|og:title/)
      }
      const answer = await say(path, 'open sesame')
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.body).toContain('secret name')
      const source = /<source src="([^"]+mp4[^"]*)"/.exec(answer.body)?.[1] ?? ''
      expect(source).toContain('/static/web-videos/private/')
      expect(source).toMatch(/videoFileToken=[\w.%-]+$/)
      expect(/<source src="([^"]+m3u8[^"]*)"/.exec(answer.body)?.[1]).toMatch(/&amp;reinjectVideoFileToken=true$/)
      // Authorization succeeds: the missing file is a 404, which only authorized readers get.
      const file = await server.app.inject({ url: source.replace(TEST_ORIGIN, '').replaceAll('&amp;', '&') })
      expect(file.statusCode).toBe(404)
    }
  })

  it('explains why there is nothing to play', async () => {
    const { channelId } = server.users.user
    const said: Record<string, string> = {
      'to-transcode': 'is being prepared',
      'waiting-for-live': 'has not begun yet',
      'live-ended': 'is over',
      'transcoding-failed': 'could not be prepared',
    }
    for (const [state, text] of Object.entries(said)) {
      const { uuid } = await makeVideo(server.db, { channelId, columns: { state } })
      const answer = await page(`/w/${uuid}`)
      expect(answer.statusCode).toBe(200)
      expect(answer.body).toContain(text)
      expect(answer.body).not.toContain('<video')
    }
  })

  it('shows chapters, captions, files, comments and other videos of the channel in two statements', async () => {
    const { channelId, accountId } = server.users.other
    const made = await makeVideo(server.db, {
      channelId,
      webVideo: { resolution: 720 },
      columns: { category: 6, licence: 2, language: 'fr', support: 'Buy me **tea**', nsfw: true },
    })
    const sibling = await makeVideo(server.db, { channelId, columns: { name: 'a sibling' } })
    await insert(server.db, 'video_chapter', { video_id: made.id, timecode: 2, title: 'Second <b>' })
    await insert(server.db, 'video_caption', { video_id: made.id, language: 'fr', filename: 'words.vtt' })
    const comment = async (text: string, threadId?: number) =>
      await insert(server.db, 'comment', {
        video_id: made.id,
        account_id: accountId,
        url: `${TEST_ORIGIN}/comments/${text}`,
        text,
        ...(threadId === undefined ? {} : { thread_id: threadId, parent_id: threadId }),
      })
    const threads: number[] = []
    for (let n = 0; n < 21; n += 1) threads.push(await comment(`thread-${n}!`))
    const [oldest = 0] = threads
    await comment('an-answer!', oldest)

    const before = server.statements()
    const { body } = await page(`/w/${made.uuid}?start=1m2s&subtitle=fr`)
    expect(server.statements() - before).toBe(2)
    expect(body).toMatch(/<a href="\/w\/\w+\?start=2" data-seek="2">.*<bdi>Second &lt;b&gt;<\/bdi>/)
    expect(body).toContain('<track kind="subtitles" src="/lazy-static/video-captions/words.vtt" srclang="fr" label="French" default>')
    expect(body).toContain('data-start="62"')
    expect(body).toContain('.mp4#t=62"')
    for (const text of ['Travels', 'Attribution - Share Alike', '<strong>tea</strong>', 'Sensitive', 'a sibling']) {
      expect(body).toContain(text)
    }
    expect(body).toContain(`/w/${toShortUuid(sibling.uuid)}`)
    expect(body).toContain(`/download/web-videos/${made.uuid}-720.mp4`)
    expect(body).toContain('22\u00a0comments')
    expect(body).toContain('thread-20!')
    expect(body).not.toContain('thread-0!')
    expect(body).toContain('?commentsStart=20#comments')

    const second = (await page(`/w/${made.uuid}?commentsStart=20`)).body
    expect(second).toContain('thread-0!')
    expect(second).toContain(`?threadId=${oldest}#comments">1\u00a0reply</a>`)
    const thread = (await page(`/w/${made.uuid}?threadId=${oldest}`)).body
    expect(thread).toContain('an-answer!')
    expect(thread).not.toContain('thread-1!')
    const mailed = await page(`/w/${toShortUuid(made.uuid)};threadId=${oldest}`)
    expect([mailed.statusCode, mailed.headers.location]).toEqual([302, `/w/${toShortUuid(made.uuid)}?threadId=${oldest}`])
    expect((await page(`/w/%2F%2Fevil.example;threadId=${oldest}`)).statusCode).toBe(404)
    await server.db.query(
      `insert into comment (video_id, account_id, url, text, thread_id, parent_id)
       select $1, $2, 'https://x.example/' || n, 'reply-' || n || '!', $3, $3 from generate_series(1, 110) as n`,
      [made.id, accountId, oldest],
    )
    const long = (await page(`/w/${made.uuid}?threadId=${oldest}`)).body
    expect(long.match(/<li id="comment-/g)).toHaveLength(100)
    const [, later = ''] = /href="([^"]+)">Later</.exec(long) ?? []
    const rest = (await page(later.replaceAll('&amp;', '&'))).body
    expect(rest.match(/<li id="comment-\d+" class="reply">/g)).toHaveLength(12)
    expect(rest).toContain(`?threadId=${oldest}&amp;commentsStart=0#comments">Earlier<`)
    await server.db.query('update video set download_enabled = false, comments_policy = 2 where id = $1', [made.id])
    const closed = (await page(`/w/${made.uuid}?commentsStart=x&threadId=-1&start=later`)).body
    expect(closed).toContain('Comments are switched off.')
    expect(closed).not.toContain('/download/')
  })

  it('has links to timestamps, and distinguishes files with the same height', async () => {
    const { channelId, accountId } = server.users.other
    const made = await makeVideo(server.db, {
      channelId,
      webVideo: { resolution: 720 },
      hls: { resolution: 720 },
      columns: { description: 'The end is at 1:02:03.' },
    })
    const fast = await makeVideo(server.db, { channelId, webVideo: { resolution: 720 } })
    await insert(server.db, 'comment', {
      video_id: made.id,
      account_id: accountId,
      url: `${TEST_ORIGIN}/comments/timed`,
      text: 'Look at 2:03 <b>',
    })
    const { body } = await page(`/w/${made.uuid}`)
    const path = `/w/${toShortUuid(made.uuid)}`
    expect(body).toContain(`The end is at <a href="${path}?start=3723" data-seek="3723">1:02:03</a>.`)
    expect(body).toContain(`Look at <a href="${path}?start=123" data-seek="123">2:03</a> &lt;b&gt;`)
    expect(body).toMatch(/-720\.mp4" download rel="nofollow">720p<\/a> <span class="soft">MP4 · /)
    expect(body).toMatch(/-720-fragmented\.mp4" download rel="nofollow">720p<\/a> <span class="soft">HLS · /)

    await server.db.query(
      `insert into video_file (video_id, resolution, size, extname, fps, streams, storage, format_flags, filename)
       select video_id, resolution, size, extname, 60, streams, storage, format_flags, 'fast.mp4' from video_file where id = $1`,
      [fast.webVideo?.id],
    )
    const answer = await server.app.inject(`/api/v1/videos/${fast.uuid}`)
    const { files } = answer.json<{ files: { fps: number; resolution: { id: number; label: string } }[] }>()
    expect(files.map(({ fps, resolution }) => resolution.label === `720p${fps}`)).toEqual([true, true])
  })

  it('hides sensitive videos behind a warning where visitors are warned', async () => {
    const { channelId } = server.users.user
    const { uuid } = await makeVideo(server.db, { channelId, columns: { nsfw: true }, webVideo: { resolution: 240 } })
    expect((await page(`/w/${uuid}`)).body).not.toContain('<details class="sensitive">')
    for (const policy of ['warn', 'blur']) {
      server.configure({ instance: { default_nsfw_policy: policy } })
      for (const path of [`/w/${uuid}`, `/videos/embed/${uuid}`]) {
        const { body } = await page(`${path}?autoplay=1`)
        expect(body).toContain('<details class="sensitive">')
        // It is not preloaded either.
        expect(body).not.toContain(' autoplay')
      }
    }
    server.configure({ services: { twitter: { username: '@vireo' } } })
  })

  it('hides the thumbnails of sensitive videos in lists too, and marks them', async () => {
    const { channelId, accountId } = server.users.other
    const name = 'a sensitive sight'
    const { id, uuid } = await makeVideo(server.db, { channelId, columns: { name, nsfw: true } })
    const beside = await makeVideo(server.db, { channelId, columns: { name: 'beside it' } })
    const list = newUuid()
    const playlistId = await insert(server.db, 'playlist', {
      uuid: list,
      url: `${TEST_ORIGIN}/lists/${list}`,
      name: 'Sights',
      type: 1,
      privacy: 1,
      elements_count: 1,
      account_id: accountId,
      channel_id: channelId,
    })
    await insert(server.db, 'playlist_element', { playlist_id: playlistId, video_id: id, position: 1 })
    const short = toShortUuid(uuid)
    const covered = new RegExp(`href="/w/(?:${short}|p/[^"]+)"><span class="picture covered">`)
    const paths = ['/videos/browse', '/search?search=sensitive+sight', `/w/${beside.uuid}`, `/w/p/${list}`]
    server.configure({ instance: { default_nsfw_policy: 'blur' } })
    for (const path of paths) {
      const { body } = await page(path)
      expect({ path, isCovered: covered.test(body) }).toEqual({ path, isCovered: true })
      expect(body).toContain('<span class="mark">Sensitive</span>')
    }
    for (const policy of ['warn', 'display']) {
      server.configure({ instance: { default_nsfw_policy: policy } })
      for (const path of paths) expect((await page(path)).body).not.toContain('covered')
    }
    await server.db.query('delete from video where id = any($1)', [[id, beside.id]])
    server.configure({ services: { twitter: { username: '@vireo' } } })
  })

  it('marks a live in a list', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const columns = { name: 'on air', is_live: true, duration: 0 }
    const { id } = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}`, columns })
    expect((await page('/search?search=on+air')).body).toContain('<span class="count live">Live</span></span><h2 dir="auto">on air</h2>')
    const { body } = await page('/videos/browse?isLive=true')
    expect(body).toContain('<h1>Live streams</h1>')
    expect(body.match(/<h2 dir="auto">[^<]*/g)).toEqual(['<h2 dir="auto">on air'])
    await server.db.query('delete from video where id = $1', [id])
  })

  it('has an ETag, and is compressed', async () => {
    const path = `/w/${video.uuid}`
    const { headers, rawPayload } = await page(path)
    expect(rawPayload.length).toBeLessThan(30_000)
    const again = await page(path, { ...HTML, 'if-none-match': String(headers.etag) })
    expect(again.statusCode).toBe(304)
  })

  it('stays small and fast, for any text of users', async () => {
    const { channelId, accountId } = server.users.user
    const LINKS = '[a](b)'.repeat(1660)
    const made = await makeVideo(server.db, {
      channelId,
      webVideo: { resolution: 240 },
      columns: { description: LINKS, support: LINKS.slice(0, 996), tags: ['"'.repeat(30)] },
    })
    const [thread] = await server.db.query<{ id: number }>(
      `insert into comment (video_id, account_id, url, text) values ($1, $2, 'https://x.example/long', $3) returning id`,
      [made.id, accountId, `${'word '.repeat(1900)}the end`],
    )
    await server.db.query(
      `insert into comment (video_id, account_id, url, text, thread_id, parent_id)
       select $1, $2, 'https://x.example/wide/' || n, $3, t.id, t.id
       from generate_series(1, 60) as n, lateral (select case when n % 2 = 0 then $4::int end as id) t`,
      [made.id, accountId, LINKS, thread?.id],
    )
    const path = `/w/${made.uuid}`
    const seen = new Set<string>()
    for (const from of [`${path}?commentsStart=0`, `${path}?threadId=${thread?.id}`]) {
      let next: string | undefined = from
      while (next !== undefined) {
        const { rawPayload, body } = await page(next)
        expect(rawPayload.length).toBeLessThan(100_000)
        for (const [, id = ''] of body.matchAll(/<li id="comment-(\d+)"/g)) seen.add(id)
        next = /href="([^"]+)">(?:Older|Later)</.exec(body)?.[1]?.replaceAll('&amp;', '&')
      }
    }
    // All comments are on some page, and the long one is complete on its own page.
    expect(seen.size).toBe(61)
    const list = (await page(`${path}?commentsStart=30`)).body
    expect(list).not.toContain('the end')
    expect(list).toContain(`?threadId=${thread?.id}#comment-${thread?.id}">Read all of it</a>`)
    expect((await page(`${path}?threadId=${thread?.id}`)).body).toContain('word the end')
    await server.db.query('delete from video where id = $1', [made.id])
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
  it.each(hostile)('escapes %j everywhere', async (text) => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const made = await makeVideo(server.db, {
      channelId,
      remoteOrigin: `https://${host}`,
      columns: { name: text, description: text, tags: [text.slice(0, 30)], support: text },
      webVideo: { resolution: 240, fileUrl: 'javascript:alert(1)' },
      hls: { resolution: 240, playlistUrl: `https://${host}/"><script>alert(1)</script>/master.m3u8` },
    })
    await server.db.query('update channel set name = $1 where id = $2', [text, channelId])
    await server.db.query(`update actor set url = 'javascript:alert(1)//' || url where id = (select actor_id from channel where id = $1)`, [
      channelId,
    ])
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

describe('the embed page', () => {
  it('supports the parameters of embeds', async () => {
    const plain = (await page(`/videos/embed/${video.uuid}`)).body
    expect(plain).toMatch(/<video [^>]* controls /)
    expect(plain).toMatch(/<p class="banner"><a href="[^"]+" target="_blank" rel="noopener" dir="auto">protocol video/)
    expect(plain).toContain('<meta name="robots" content="noindex">')
    expect(plain).not.toMatch(/autoplay|og:title|twitter:/)
    const query = 'autoplay=1&loop=1&muted=true&controls=0&title=0&peertubeLink=0&start=1m&stop=70&p2p=1&mode=p2p-media-loader'
    const requested = (await page(`/videos/embed/${video.uuid}?${query}&bigPlayBackgroundColor=%23F00&foregroundColor=url(x)`)).body
    expect(requested).toMatch(/<video [^>]*autoplay loop muted /)
    expect(requested).toContain('#t=60,70"')
    expect(requested).toContain('data-stop="70" data-colours="#f00"')
    expect(requested).not.toMatch(/ controls |banner|url\(x\)|class="tools"/)
    expect((await page(`/videos/embed/${video.uuid}?foregroundColor=%23abc`)).body).toContain('data-colours=" #abc"')
  })
})

describe('the pages of a playlist', () => {
  it('play its videos in sequence, and show inaccessible ones as a gap', async () => {
    const { user } = server.users
    const uuid = newUuid()
    const listId = await insert(server.db, 'playlist', {
      uuid,
      url: `${TEST_ORIGIN}/video-playlists/${uuid}`,
      name: 'A <list>',
      type: 1,
      privacy: 1,
      elements_count: 3,
      account_id: user.accountId,
      channel_id: user.channelId,
    })
    const hidden = await makeVideo(server.db, {
      channelId: user.channelId,
      columns: { privacy: 3, name: 'secret name' },
    })
    const last = await makeVideo(server.db, { channelId: user.channelId, webVideo: { resolution: 240 } })
    for (const [index, { id }] of [hidden, video, last].entries()) {
      const moment = { start_timestamp: 1, stop_timestamp: 2 }
      await insert(server.db, 'playlist_element', { playlist_id: listId, video_id: id, position: index + 1, ...moment })
    }
    const short = toShortUuid(uuid)
    for (const path of [`/w/p/${uuid}`, `/w/p/${short}`, `/videos/watch/playlist/${uuid}`]) {
      const before = server.statements()
      const { statusCode, body } = await page(path)
      expect(statusCode).toBe(200)
      expect(server.statements() - before).toBe(3)
      expect(body).toContain('<title>A &lt;list&gt; - Vireo</title>')
      expect(body).toContain(`<link rel="canonical" href="${TEST_ORIGIN}/w/p/${short}">`)
      expect(body).toContain(`content="${TEST_ORIGIN}/video-playlists/embed/${uuid}"`)
      expect(body).toContain('"@type":"ItemList"')
      expect(body).toContain('<h1 dir="auto">protocol video</h1>')
      expect(body).toContain(`data-next="/w/p/${short}?playlistPosition=3&amp;autoplay=1"`)
      expect(body).toContain('data-start="1" data-stop="2"')
      expect(body).not.toContain('secret name')
    }
    const third = await page(`/w/p/${uuid}?playlistPosition=3`)
    expect(third.body).toContain(`data-video="${last.uuid}"`)
    const gap = await page(`/w/p/${uuid}?playlistPosition=1`)
    expect(gap.statusCode).toBe(200)
    expect(gap.body).not.toContain('<video')
    const embed = await page(`/video-playlists/embed/${uuid}?playlistPosition=2`)
    expect(embed.statusCode).toBe(200)
    expect(embed.headers['content-security-policy']).toContain('frame-ancestors *')
    expect(embed.headers).not.toHaveProperty('x-frame-options')
    // No other page of the server may be framed.
    const leading = [...embed.body.matchAll(/<a href="[^"]+"[^>]*>/g)].map(([tag]) => tag)
    expect(leading.filter((tag) => !tag.includes('target="_blank"'))).toEqual([
      `<a href="/video-playlists/embed/${uuid}?playlistPosition=2">`,
      `<a href="/video-playlists/embed/${uuid}?playlistPosition=3">`,
    ])
    expect(embed.body).toContain(`data-next="/video-playlists/embed/${uuid}?playlistPosition=3&amp;autoplay=1"`)
    expect((await page(`/w/p/${listId}`)).statusCode).toBe(200)
    await server.db.query('update playlist set privacy = 2 where id = $1', [listId])
    expect((await page(`/w/p/${listId}`)).statusCode).toBe(404)
    expect((await page(`/w/p/${uuid}`)).body).toContain('<meta name="robots" content="noindex">')
    await server.db.query('update playlist set privacy = 3 where id = $1', [listId])
    for (const path of [`/w/p/${uuid}`, `/video-playlists/embed/${uuid}`, '/w/p/none']) {
      expect((await page(path)).statusCode).toBe(404)
    }
  })
})

const EXPECTED = new Set(
  `html head meta title link script body header nav form input button a main article div video source h1 h2 p time span strong
  ul li img footer svg path label select option bdi dl dt dd details summary textarea section aside ol em code kbd`.split(/\s+/),
)
const tagsIn = (body: string): string[] => [...body.matchAll(/<([a-z][\w-]*)/gi)].map(([, tag = '']) => tag.toLowerCase())

describe('other pages', () => {
  it('are the latest videos and information about the server', async () => {
    const home = await page('/')
    expect(home.body).toContain('protocol video')
    expect(home.body).toContain(`/w/${toShortUuid(video.uuid)}`)
    server.configure({ instance: { terms: `${'word '.repeat(9000)}the end` } })
    const about = (await page('/about')).body
    expect(about).toContain('About <bdi>Vireo</bdi>')
    // Terms are complete.
    expect(about).toContain('word the end')
    server.configure({ services: { twitter: { username: '@vireo' } } })
    expect((await page('/', { ...HTML, 'if-none-match': String(home.headers.etag) })).statusCode).toBe(304)
  })

  it("start with the administrator's announcement, without frames of other sites", async () => {
    const message = 'We **rest** tonight. <script>alert(1)</script>'
    server.configure({ broadcast_message: { enabled: true, message, level: 'warning' } })
    for (const path of ['/', '/login', `/w/${video.uuid}`, '/unknown-page']) {
      const { body } = await page(path)
      expect(body).toMatch(/<main[^>]*>\s*<aside class="notice warning" aria-label="Message of this server">/)
      expect(body).toContain('We <strong>rest</strong> tonight. &lt;script&gt;')
    }
    expect((await page(`/videos/embed/${video.uuid}`)).body).not.toContain('tonight')
    server.configure({ broadcast_message: { enabled: false, message } })
    expect((await page('/')).body).not.toContain('tonight')
    server.configure({ services: { twitter: { username: '@vireo' } } })
  })

  it('are a page for unknown URLs, and a problem body for programs', async () => {
    const missing = await page('/unknown-page')
    // With the status of the remote server, since clients have pages that it does not know.
    expect(missing.statusCode).toBe(200)
    expect(missing.headers['content-type']).toContain('text/html')
    expect(missing.body).toContain('<h1>There is nothing here</h1>')
    expect(missing.body).toContain('<meta name="robots" content="noindex">')
    expect((await page('/unknown-page', { accept: 'application/json' })).statusCode).toBe(406)
    expect((await page('/api/v1/unknown')).headers['content-type']).toContain('problem+json')
  })

  it('are refused, without a body, if HTML is not accepted, and never for any type', async () => {
    for (const path of ['/login', '/about', '/', '/search?search=a']) {
      const refused = await page(path, { accept: 'application/json' })
      expect([path, refused.statusCode, refused.body]).toEqual([path, 406, ''])
      expect(refused.headers['content-length']).toBe('0')
      expect(refused.headers['content-type']).toBeUndefined()
      for (const accept of ['*/*', 'text/*;q=0.5', 'application/json, text/html']) {
        expect([path, accept, (await page(path, { accept })).statusCode]).toEqual([path, accept, 200])
      }
    }
  })

  it('of a video, an account or a channel accept any client, such as preview generators', async () => {
    for (const path of [`/w/${toShortUuid(video.uuid)}`, '/a/videos_user', '/c/videos_user_channel']) {
      for (const accept of ['application/json', 'image/*']) {
        expect([path, accept, (await page(path, { accept })).statusCode]).toEqual([path, accept, 200])
      }
    }
  })
})

describe('URLs with a trailing slash', () => {
  it('are equivalent to those without', async () => {
    for (const path of ['/about', `/w/${toShortUuid(video.uuid)}`, '/c/videos_user_channel', '/@videos_user/videos']) {
      const [bare, slashed] = [await page(`${path}?start=1`), await page(`${path}/?start=1`)]
      expect([path, slashed.statusCode, slashed.body]).toEqual([path, 200, bare.body])
    }
  })
})

describe('pages of lists', () => {
  it.each([
    ['/', 2],
    ['/videos/browse?sort=-likes', 2],
    ['/c/videos_user_channel', 3],
    ['/c/videos_user_channel/about', 1],
    ['/a/videos_user', 2],
    ['/a/videos_user/videos', 3],
    // A search with few results also looks for similar names.
    ['/search?search=protocol&type=channels', 2],
    ['/search?search=protocol', 3],
  ])('need few statements: %s', async (path, most) => {
    const before = server.statements()
    expect((await page(path)).statusCode).toBe(200)
    expect(server.statements() - before).toBeLessThanOrEqual(most)
  })
})

describe('oEmbed', () => {
  const ask = (query: Record<string, string>) => server.app.inject({ url: `/services/oembed?${new URLSearchParams(query)}` })
  const watch = () => `${TEST_ORIGIN}/w/${video.uuid}`

  it('has the recorded members, for both forms of the URL', async () => {
    const expected = shapeOf(recorded('protocol', 'oembed: video').body)
    for (const url of [
      watch(),
      `${TEST_ORIGIN}/videos/watch/${video.uuid}`,
      `${TEST_ORIGIN}/w/${toShortUuid(video.uuid)}`,
      `${TEST_ORIGIN}//videos/watch//${video.uuid}//`,
    ]) {
      const answer = await ask({ url })
      expect(shapeOf(answer.json())).toEqual(expected)
      expect(answer.json().html).toContain(`src="${TEST_ORIGIN}/videos/embed/${video.uuid}"`)
    }
  })

  it('starts at the time of the URL, and takes over no other parameters', async () => {
    const answer = await ask({ url: `${watch()}?start=1m23s&autoplay=1&commentsStart=20&x="><script>` })
    expect(answer.json().html).toContain(`src="${TEST_ORIGIN}/videos/embed/${video.uuid}?start=1m23s&amp;autoplay=1"`)
  })

  it.each([
    ['wide', 1.7778, {}, [560, 315]],
    ['of 4:3', 1.3333, {}, [560, 420]],
    ['very wide', 2.39, {}, [560, 234]],
    ['upright', 0.5625, {}, [315, 560]],
    ['square', 1, {}, [560, 560]],
    ['of sound alone', null, {}, [560, 315]],
    ['wide', 1.7778, { maxwidth: '320' }, [320, 180]],
    ['wide', 1.7778, { maxheight: '90' }, [160, 90]],
    ['wide', 1.7778, { maxwidth: '320', maxheight: '90' }, [160, 90]],
    ['upright', 0.5625, { maxwidth: '90' }, [90, 160]],
    ['upright', 0.5625, { maxwidth: '400', maxheight: '280' }, [158, 280]],
    ['wide', 1.7778, { maxwidth: '2000', maxheight: '2000' }, [560, 315]],
    ['wide', 1.7778, { maxwidth: '1' }, [1, 1]],
  ])('of a video that is %s (%s) keeps its aspect ratio within %o', async (_what, ratio, most, [width, height]) => {
    const { uuid } = await makeVideo(server.db, {
      channelId: server.users.user.channelId,
      columns: { aspect_ratio: ratio },
    })
    const card = (await ask({ url: `${TEST_ORIGIN}/w/${uuid}`, ...(most as Record<string, string>) })).json()
    expect([card.width, card.height]).toEqual([width, height])
    expect(card.html).toContain(`<iframe width="${width}" height="${height}"`)
    if (Object.keys(most).length > 0) return
    const { body } = await page(`/w/${uuid}`)
    for (const name of ['og:video', 'twitter:player']) {
      expect(body).toMatch(new RegExp(`"${name}:width" content="${width}"`))
      expect(body).toMatch(new RegExp(`"${name}:height" content="${height}"`))
    }
    expect(body).toContain(`width=&quot;${width}&quot; height=&quot;${height}&quot;`)
  })

  it('respects the requested maximum size', async () => {
    const answer = await ask({ url: watch(), maxwidth: '50', maxheight: '50', format: 'json' })
    expect(answer.json()).toMatchObject({ width: 50, height: 38 })
    expect(shapeOf(answer.json())).toEqual(shapeOf(recorded('protocol', 'oembed: sizes').body))
  })

  it('is refused with the recorded response', async () => {
    const hidden = await makeVideo(server.db, { channelId: server.users.user.channelId, columns: { privacy: 3 } })
    const requested: Record<string, Record<string, string>> = {
      'oembed: xml': { url: watch(), format: 'xml' },
      'oembed: missing': {},
      'oembed: other host': { url: `https://other.example.com/w/${video.uuid}` },
      'oembed: unknown video': { url: `${TEST_ORIGIN}/w/4da6fde3-88f7-4d16-b119-108df5630b06` },
      'oembed: private video': { url: `${TEST_ORIGIN}/w/${hidden.uuid}` },
      'oembed: bad id': { url: `${TEST_ORIGIN}/w/x` },
    }
    for (const [name, query] of Object.entries(requested)) {
      expect(refusalOf((await ask(query)).json())).toEqual(refusalOf(recorded('protocol', name).body))
    }
  })
})

describe('shared pages of visitors', () => {
  let keeping: VideoServer
  let shown: MadeVideo

  beforeAll(async () => {
    keeping = await startVideoServer({ vireo: { caching: { routes: { videos: '1 hour' } } } }, { keepsPages: true })
    shown = await makeVideo(keeping.db, {
      channelId: keeping.users.user.channelId,
      columns: { name: 'shared video' },
      webVideo: { resolution: 240 },
    })
  })
  afterAll(() => keeping.stop())

  const ask = async (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    const before = keeping.statements()
    const answer = await keeping.app.inject({ method, url, headers: { ...HTML, ...headers } })
    return { ...answer, statements: keeping.statements() - before, headers: answer.headers, body: answer.body }
  }

  it.each([
    ['of a video', () => `/w/${toShortUuid(shown.uuid)}`],
    ['of a video at a second', () => `/w/${shown.uuid}?start=1m&muted=1`],
    ['of its comments', () => `/w/${shown.uuid}?commentsStart=20`],
    ['of a player alone', () => `/videos/embed/${shown.uuid}`],
    ['of the first of all', () => '/'],
    ['of a list', () => '/videos/browse?sort=-views&page=1'],
    ['of a channel', () => '/c/videos_user_channel/videos'],
    ['of an account', () => '/a/videos_user?page=1'],
  ])('need no statement for the second visitor: the page %s', async (_name, urlOf) => {
    const url = urlOf()
    const first = await ask(url)
    expect([first.statusCode, first.statements > 0]).toEqual([200, true])
    const { date, 'x-request-id': id, 'x-ratelimit-remaining': left, ...headers } = first.headers
    for (const method of ['GET', 'HEAD'] as const) {
      const second = await ask(url, { cookie: `vireo-form=${'a'.repeat(32)}; other=1` }, method)
      expect([second.statusCode, second.statements]).toEqual([200, 0])
      expect(second.headers).toMatchObject(headers)
      expect(second.body).toBe(method === 'GET' ? first.body : '')
    }
    const known = await ask(url, { 'if-none-match': String(headers.etag) })
    expect([known.statusCode, known.body, known.statements]).toEqual([304, '', 0])
    expect(known.headers['content-security-policy']).toBe(headers['content-security-policy'])
  })

  it('are keyed by the player parameters of the URL', async () => {
    const plain = await ask(`/w/${shown.uuid}`)
    const later = await ask(`/w/${shown.uuid}?start=90`)
    expect(later.statements).toBe(0)
    expect([plain.body.includes('data-start'), later.body.includes('data-start="90"')]).toEqual([false, true])
    expect((await ask(`/w/${shown.uuid}`)).body).toBe(plain.body)
  })

  it.each([
    ['private', { privacy: 3 }, 404],
    ['internal', { privacy: 4 }, 404],
    ['blocked', { blocked: true }, 404],
    ['with a password', { privacy: 5 }, 403],
    ['of a number', { privacy: 2 }, 404],
  ])('are not cached for a video that is %s', async (name, columns, status) => {
    const hidden = await makeVideo(keeping.db, { channelId: keeping.users.user.channelId, columns })
    for (let time = 0; time < 2; time += 1) {
      const { statusCode, statements } = await ask(`/w/${name === 'of a number' ? hidden.id : hidden.uuid}`)
      expect([statusCode, statements > 0]).toEqual([status, true])
    }
  })

  it('are not served to a browser with a session cookie', async () => {
    const url = `/w/${shown.uuid}?start=7`
    const session = { cookie: `vireo-session=${'b'.repeat(40)}` }
    const visitors = await ask(url)
    const remote = await ask(url, session)
    expect([visitors, remote].map(({ body }) => body.includes('href="/logout"'))).toEqual([false, true])
    expect(remote.headers['cache-control']).toBe('private, max-age=0, no-cache, must-revalidate')
    expect((await ask(url)).body).toBe(visitors.body)
  })
})
