// Parts of a video beside its files, in both directions: captions, chapters, storyboard, live, trackers.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { oracleProblems } from '../support/peertube-oracle.ts'
import { until } from '../support/until.ts'
import { PEER, recordedObject } from '../unit/federation/recordings.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

interface CaptionView {
  language: { id: string; label: string }
  automaticallyGenerated: boolean
  captionPath: string
}
interface Chapter {
  timecode: number
  title: string
}

let local: FederatedNode
let peer: FakePeer
let nora: { account: PeerActor; channel: PeerActor }
let bytes: Buffer

beforeAll(async () => {
  ;[local, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  nora = await introduce(local, peer, 'nora')
  await local.deliver(nora.account, peer.activity(nora.account, 'Follow', `${local.base}/accounts/root`))
  await peer.awaited('the answer', () => peer.of('Accept').length === 1)
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})
beforeEach(() => {
  peer.received.length = 0
  peer.fetched.length = 0
})

const VTT = 'WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nHello\n'
const captionsOf = async (node: FederatedNode, uuid: string) =>
  (await node.client.get<{ data: CaptionView[] }>(`/api/v1/videos/${uuid}/captions`)).data
const chaptersOf = async (node: FederatedNode, uuid: string) =>
  (await node.client.get<{ chapters: Chapter[] }>(`/api/v1/videos/${uuid}/chapters`)).chapters
const setCaption = (node: FederatedNode, uuid: string, language: string, text = VTT) => {
  const form = new FormData()
  form.set('captionfile', new File([text], 'caption.vtt', { type: 'text/vtt' }))
  return node.client.send('PUT', `/api/v1/videos/${uuid}/captions/${language}`, form)
}
const caption = (language: string, url: string, more: JsonObject = {}) => ({
  identifier: language,
  name: 'A language',
  automaticallyGenerated: false,
  url,
  ...more,
})
const storyboard = (href: string, more: JsonObject = {}) => [
  {
    type: 'Image',
    rel: ['storyboard'],
    url: [
      {
        mediaType: 'image/jpeg',
        href,
        width: 1536,
        height: 144,
        tileWidth: 192,
        tileHeight: 144,
        tileDuration: 'PT1S',
        ...more,
      },
    ],
  },
]
const uuidOf = (document: JsonObject) => String(document.uuid)

async function sent(more: JsonObject = {}): Promise<JsonObject & { id: string }> {
  const document = peer.video({ ...nora, more })
  await local.deliver(nora.account, peer.activity(nora.account, 'Create', document))
  return document
}
/** An Update with these changes, by its owner. */
async function changed(document: JsonObject & { id: string }, more: JsonObject): Promise<void> {
  const next = { ...document, ...more, updated: new Date().toISOString() }
  peer.serve(document.id, next)
  await local.deliver(nora.account, peer.activity(nora.account, 'Update', next))
}
async function partsOf({ id }: { id: string }) {
  const [row] = await local.query(
    `select v.is_live, v.tracker_urls,
       (select jsonb_agg(jsonb_build_array(c.language, c.file_url, c.automatically_generated) order by c.language)
        from video_caption c where c.video_id = v.id) as captions,
       (select jsonb_build_array(s.file_url, s.total_width, s.total_height, s.sprite_width, s.sprite_height, s.sprite_duration)
        from storyboard s where s.video_id = v.id) as storyboard,
       (select jsonb_build_array(l.save_replay, l.permanent_live, l.latency_mode) from video_live l where l.video_id = v.id) as live,
       (select jsonb_agg(jsonb_build_array(k.timecode, k.title) order by k.timecode)
        from video_chapter k where k.video_id = v.id) as chapters
     from video v where v.url = $1`,
    [id],
  )
  return row
}
/** Serves a file that is no document. */
const servesFile = (path: string, body: string, type = 'text/vtt') => peer.serve(path, () => ({ type, raw: body }))

describe('a remote video', () => {
  it('is stored with its captions, storyboard, live settings and trackers, and each change replaces them', async () => {
    const [fr, en] = ['fr', 'en'].map((language) => `${peer.base}/captions/${language}.vtt`) as [string, string]
    const board = `${peer.base}/storyboards/1.jpg`
    const trackers = [
      { type: 'Link', name: 'tracker-http', rel: ['tracker', 'http'], href: `${peer.base}/tracker/announce` },
      { type: 'Link', name: 'tracker-websocket', rel: ['tracker', 'websocket'], href: `ws://${peer.host}/tracker` },
    ]
    const document = await sent({
      subtitleLanguage: [caption('fr', fr), caption('en', en, { automaticallyGenerated: true }), caption('fr', board)],
      preview: storyboard(board),
      isLiveBroadcast: true,
      liveSaveReplay: true,
      permanentLive: true,
      latencyMode: 3,
      url: trackers,
    })
    expect(await partsOf(document)).toEqual({
      is_live: true,
      tracker_urls: trackers.map(({ href }) => href),
      captions: [
        ['en', en, true],
        ['fr', fr, false],
      ],
      storyboard: [board, 1536, 144, 192, 144, 1],
      live: [true, true, 3],
      chapters: null,
    })
    expect(await captionsOf(local, uuidOf(document))).toMatchObject([
      { language: { id: 'en', label: 'English' }, automaticallyGenerated: true },
      { language: { id: 'fr', label: 'French' }, automaticallyGenerated: false },
    ])
    expect(await local.client.get(`/api/v1/videos/${document.uuid}`)).toMatchObject({
      isLive: true,
      trackerUrls: trackers.map(({ href }) => href),
    })

    const kept = (await captionsOf(local, uuidOf(document))).find(({ language }) => language.id === 'fr')
    await changed(document, {
      subtitleLanguage: [caption('fr', fr)],
      preview: undefined,
      isLiveBroadcast: false,
      url: [],
    })
    expect(await partsOf(document)).toEqual({
      is_live: false,
      tracker_urls: [],
      captions: [['fr', fr, false]],
      storyboard: null,
      live: null,
      chapters: null,
    })
    expect(await captionsOf(local, uuidOf(document))).toEqual([kept])
    await changed(document, { subtitleLanguage: [caption('fr', `${fr}?new`)] })
    const [renamed] = await captionsOf(local, uuidOf(document))
    expect(renamed?.captionPath).not.toBe(kept?.captionPath)
  })

  it('serves its caption and storyboard through the local server: fetched once, cleaned, and removed with them', async () => {
    const path = '/captions/evil.vtt'
    servesFile(path, `WEBVTT\n\nSTYLE\n::cue{}\n\n00:01.000 --> 00:02.000\n<script>Hello</script>\n`)
    const document = await sent({ subtitleLanguage: [caption('fr', `${peer.base}${path}`)] })
    const [{ captionPath } = { captionPath: '' }] = await captionsOf(local, uuidOf(document))
    for (let time = 0; time < 2; time += 1) {
      const answer = await local.client.raw(captionPath)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toMatch(/^text\/vtt/)
      expect(await answer.text()).toBe('WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n&lt;script>Hello&lt;/script>\n')
    }
    expect(peer.fetched.filter((one) => one === path)).toHaveLength(1)
    await changed(document, { subtitleLanguage: [] })
    expect((await local.client.raw(captionPath)).status).toBe(404)
  })

  it.each([
    ['what is no WebVTT', '<html>', 'text/vtt'],
    ['a picture', '\u0089PNG\u0000', 'image/png'],
  ])('%s is not served as a caption', async (_what, body, type) => {
    const path = `/captions/${Date.now()}.vtt`
    servesFile(path, body, type)
    const document = await sent({ subtitleLanguage: [caption('fr', `${peer.base}${path}`)] })
    const [{ captionPath } = { captionPath: '' }] = await captionsOf(local, uuidOf(document))
    expect((await local.client.raw(captionPath)).status).toBe(404)
  })

  it('shows its storyboard, and serves no file that is not an image', async () => {
    const path = '/storyboards/no-picture.jpg'
    servesFile(path, 'nothing', 'image/jpeg')
    const document = await sent({ preview: storyboard(`${peer.base}${path}`) })
    const { storyboards } = await local.client.get<{ storyboards: { storyboardPath: string }[] }>(
      `/api/v1/videos/${document.uuid}/storyboards`,
    )
    expect(storyboards).toEqual([
      {
        storyboardPath: expect.stringMatching(/^\/lazy-static\/storyboards\/[\w-]+\.jpg$/),
        totalWidth: 1536,
        totalHeight: 144,
        spriteWidth: 192,
        spriteHeight: 144,
        spriteDuration: 1,
      },
    ])
    expect((await local.client.raw(storyboards[0]?.storyboardPath ?? '')).status).toBe(404)
  })

  it('with invalid parts is stored without them, within bounds', async () => {
    const many = Array.from({ length: 500 }, (_, n) => caption(`x-${n}`, `${peer.base}/captions/${n}.vtt`))
    const huge = 10 ** 15
    const document = await sent({
      subtitleLanguage: [
        caption('../../etc', `${peer.base}/a.vtt`),
        caption('fr', 'file:///etc/passwd'),
        caption('en', 'javascript:alert(1)'),
        ...many,
      ],
      preview: storyboard(`${peer.base}/s.jpg`, { width: huge }),
      isLiveBroadcast: true,
      latencyMode: 77,
      views: huge,
      duration: 'PT999999999S',
      hasParts: [
        { name: 'n'.repeat(5000), startOffset: 0, endOffset: 1 },
        { name: 'far', startOffset: 9_999_999, endOffset: 9_999_999 },
        { name: 'no', startOffset: -1, endOffset: 0 },
        'nothing',
      ],
      url: [{ type: 'Link', mediaType: 'video/mp4', href: `${peer.base}/v.mp4`, height: huge, size: 5, fps: huge }],
    })
    const parts = (await partsOf(document)) as {
      captions: string[][]
      live: unknown
      storyboard: unknown
      chapters: unknown[][]
    }
    expect(parts.captions.length).toBeLessThanOrEqual(200)
    expect(parts.captions.every(([language]) => /^x-\d+$/.test(String(language)))).toBe(true)
    expect(parts).toMatchObject({ storyboard: null, live: [false, false, 1] })
    expect(parts.chapters).toEqual([
      [0, 'n'.repeat(100)],
      [9_999_999, 'far'],
    ])
  })

  it('shows everything of the recorded one, with files on yet another server that gets no request', async () => {
    const storage = await startFakePeer()
    const recorded = JSON.parse(
      JSON.stringify(recordedObject('video-public')).replaceAll(`${PEER}/static`, `${storage.base}/static`),
    ) as JsonObject
    const { id: _, uuid: __, attributedTo: ___, cc: ____, hasParts: _____, ...terms } = recorded
    const document = await sent(terms)
    // A repeated activity changes no file name.
    const before = await local.client.get(`/api/v1/videos/${document.uuid}`)
    await local.deliver(nora.account, peer.activity(nora.account, 'Update', document))
    const shown = await local.client.get<JsonObject & { streamingPlaylists: JsonObject[] }>(`/api/v1/videos/${document.uuid}`)
    expect(shown).toEqual(before)
    expect(shown).toMatchObject({
      name: 'object video',
      duration: 8,
      nsfw: true,
      waitTranscoding: true,
      isLive: false,
      isLocal: false,
      description: 'a **description**',
      support: 'support',
      tags: ['one', 'two'],
      aspectRatio: 1.3333,
      category: { id: 2, label: 'Films' },
      licence: { id: 1, label: 'Attribution' },
      language: { id: 'en', label: 'English' },
      privacy: { id: 1, label: 'Public' },
      state: { id: 1 },
      commentsEnabled: true,
      commentsPolicy: { id: 1, label: 'Enabled' },
      downloadEnabled: true,
      trackerUrls: [`${PEER}/tracker/announce`, 'ws://peer.example/tracker/socket'],
    })
    const links = recorded.url as JsonObject[]
    const fileLinks = (all: JsonObject[]) => all.filter(({ mediaType }) => mediaType === 'video/mp4')
    const hls = links.find(({ mediaType }) => mediaType === 'application/x-mpegURL') ?? {}
    const views = (of: unknown) => (of as JsonObject[]).map(({ fileUrl, size, fps }) => ({ href: fileUrl, size, fps }))
    const linked = (all: JsonObject[]) => fileLinks(all).map(({ href, size, fps }) => ({ href, size, fps }))
    expect(views(shown.files)).toEqual(linked(links))
    expect(shown.streamingPlaylists).toMatchObject([{ playlistUrl: hls.href }])
    expect(views(shown.streamingPlaylists[0]?.files)).toEqual(linked(hls.tag as JsonObject[]))
    expect(await captionsOf(local, uuidOf(document))).toMatchObject([{ language: { id: 'fr', label: 'French' } }])
    expect(await local.client.get(`/api/v1/videos/${document.uuid}/storyboards`)).toMatchObject({
      storyboards: [{ totalWidth: 1536, totalHeight: 144, spriteWidth: 192, spriteHeight: 144, spriteDuration: 1 }],
    })
    expect(storage.fetched).toEqual([])
    await storage.close()
  })

  it('keeps the newest state when Updates arrive out of order', async () => {
    const document = await sent()
    const older = {
      ...document,
      updated: '2026-01-15T00:00:00.000Z',
      subtitleLanguage: [caption('fr', `${peer.base}/old.vtt`)],
    }
    await local.deliver(nora.account, peer.activity(nora.account, 'Update', older))
    expect(await partsOf(document)).toMatchObject({ captions: null })
  })
})

describe('the chapters of a remote video', () => {
  const serveChapters = (url: string, names: string[]) =>
    peer.serve(url, {
      id: url,
      hasPart: names.map((name, index) => ({ name, startOffset: index * 3, endOffset: index * 3 + 3 })),
    })
  const becomes = (document: JsonObject, titles: string[]) =>
    until(async () => (await chaptersOf(local, uuidOf(document))).map(({ title }) => title).join() === titles.join(), {
      what: `the chapters ${titles.join()}`,
    })

  it('are fetched from their URL, again after each change, and removed when they are gone', async () => {
    const url = `${peer.base}/chapters/1`
    serveChapters(url, ['one', 'two'])
    const document = await sent({ hasParts: url })
    await becomes(document, ['one', 'two'])
    expect(await chaptersOf(local, uuidOf(document))).toEqual([
      { timecode: 0, title: 'one' },
      { timecode: 3, title: 'two' },
    ])
    serveChapters(url, ['three'])
    await changed(document, { name: 'Changed' })
    await becomes(document, ['three'])
    peer.serve(url, () => ({ status: 404 }))
    await changed(document, { name: 'Changed again' })
    await becomes(document, [])
    expect(await local.query('select 1 from video where chapters_wanted_at is not null and url = $1', [document.id])).toEqual([])
  })

  it('are unchanged when they cannot be read, and delay nothing', async () => {
    const url = `${peer.base}/chapters/2`
    serveChapters(url, ['one'])
    const document = await sent({ hasParts: url })
    await becomes(document, ['one'])
    peer.serve(url, { id: url, hasPart: 'nothing of use', type: 7 })
    await changed(document, { name: 'Broken' })
    await becomes(document, [])
    serveChapters(url, ['two'])
    await changed(document, { name: 'Mended' })
    await becomes(document, ['two'])
    peer.serve(url, () => ({ type: 'text/html', body: '<html>' }))
    await changed(document, { name: 'No document' })
    await until(async () => {
      const [row] = await local.query('select 1 from video where chapters_wanted_at is null and url = $1', [document.id])
      return row
    })
    expect((await chaptersOf(local, uuidOf(document))).map(({ title }) => title)).toEqual(['two'])
  })

  it('at a URL of another server are not fetched', async () => {
    const away = await startFakePeer()
    const document = await sent({ hasParts: `${away.base}/chapters` })
    await until(async () => (await local.query("select 1 from job where state in ('waiting', 'active')")).length === 0)
    expect(away.fetched).toEqual([])
    expect(await chaptersOf(local, uuidOf(document))).toEqual([])
    await away.close()
  })
})

describe('a local video', () => {
  const documentOf = async (uuid: string): Promise<JsonObject> => {
    const answer = await fetch(`${local.base}/videos/watch/${uuid}`, {
      headers: { accept: 'application/activity+json' },
    })
    return (await answer.json()) as JsonObject
  }
  const update = (uuid: string, fits: (object: JsonObject) => boolean) =>
    peer.awaited('the Update', ({ activity }) => {
      const object = activity.object as JsonObject
      return activity.type === 'Update' && object?.uuid === uuid && fits(object)
    })
  /** Ids on loopback lack the domain name that the oracle requires. */
  const named = (document: unknown): unknown =>
    JSON.parse(JSON.stringify(document).replaceAll(local.host, 'vireo.example').replaceAll(peer.host, 'peer.example'))

  it('is sent with its captions and the URL of its chapters', async () => {
    const { uuid, url } = await local.upload(bytes)
    await peer.awaited('the Create', ({ activity }) => activity.type === 'Create')
    await setCaption(local, uuid, 'fr')
    const added = await update(uuid, (object) => (object.subtitleLanguage as unknown[]).length === 1)
    expect(oracleProblems(named(added.activity))).toEqual([])
    const [{ captionPath } = { captionPath: '' }] = await captionsOf(local, uuid)
    expect(added.activity.object).toMatchObject({
      subtitleLanguage: [{ identifier: 'fr', name: 'French', automaticallyGenerated: false, url: `${local.base}${captionPath}` }],
      hasParts: `${url}/chapters`,
    })
    peer.received.length = 0
    await local.client.send('PUT', `/api/v1/videos/${uuid}/chapters`, {
      chapters: [
        { timecode: 2, title: 'end' },
        { timecode: 0, title: 'intro' },
      ],
    })
    await update(uuid, () => true)
    const chapters = await fetch(`${url}/chapters`, { headers: { accept: 'application/activity+json' } })
    expect(chapters.headers.get('content-type')).toMatch(/^application\/activity\+json/)
    expect(await chapters.json()).toMatchObject({
      id: `${url}/chapters`,
      hasPart: [
        { name: 'intro', startOffset: 0, endOffset: 2 },
        { name: 'end', startOffset: 2, endOffset: expect.any(Number) },
      ],
    })
    await local.client.send('DELETE', `/api/v1/videos/${uuid}/captions/fr`)
    await update(uuid, (object) => (object.subtitleLanguage as unknown[]).length === 0)
  })

  it('sends one Update for each change, also with new pictures', async () => {
    const { uuid } = await local.upload(bytes)
    await peer.awaited('the Create', ({ activity }) => activity.type === 'Create')
    const before = (await documentOf(uuid)).icon
    const form = new FormData()
    form.set('thumbnailfile', new File([await readFile(await media('picture.png'))], 'picture.png'))
    await local.client.send('PUT', `/api/v1/videos/${uuid}`, form)
    const { activity } = await update(uuid, () => true)
    expect((activity.object as JsonObject).icon).not.toEqual(before)
    expect(oracleProblems(named(activity))).toEqual([])
  })

  it.each([
    ['unlisted', { privacy: '2' }],
    ['private', { privacy: '3' }],
    ['internal', { privacy: '4' }],
    ['protected by a password', { privacy: '5', 'videoPasswords[0]': 'secret' }],
  ])('that is %s sends nothing of its captions and chapters', async (_what, fields) => {
    const { uuid, url } = await local.upload(bytes, fields)
    await setCaption(local, uuid, 'fr')
    await local.client.send('PUT', `/api/v1/videos/${uuid}/chapters`, { chapters: [{ timecode: 0, title: 'secret' }] })
    const open = await local.upload(bytes, { name: 'The last' })
    await peer.awaited('what was sent last', ({ activity }) => JSON.stringify(activity).includes(open.uuid))
    expect(peer.received.filter(({ activity }) => JSON.stringify(activity).includes(uuid))).toEqual([])
    if (fields.privacy === '2') return
    const [{ captionPath } = { captionPath: '' }] = await captionsOf(local, uuid)
    // The URL has a token; without it nothing is served.
    expect((await fetch(`${local.base}${captionPath}`)).status).toBe(200)
    const strangers = [
      [`${url}/chapters`, 'application/activity+json'],
      [`${local.base}${captionPath.split('?', 1)[0]}`, '*/*'],
      ...['captions', 'chapters', 'storyboards'].map((part) => [`${local.base}/api/v1/videos/${uuid}/${part}`, '*/*']),
    ] as [string, string][]
    for (const [address, accept] of strangers) {
      const { status } = await fetch(address, { headers: { accept } })
      expect([address, [401, 403].includes(status)]).toEqual([address, true])
    }
  })
})

describe('a removed video', () => {
  it('leaves no files behind, neither its own nor cached ones', async () => {
    const path = '/captions/kept.vtt'
    servesFile(path, VTT)
    const remote = await sent({ subtitleLanguage: [caption('fr', `${peer.base}${path}`)] })
    const { uuid } = await local.upload(bytes)
    await setCaption(local, uuid, 'fr')
    const paths: string[] = []
    for (const video of [uuid, uuidOf(remote)]) {
      const [{ captionPath } = { captionPath: '' }] = await captionsOf(local, video)
      expect((await local.client.raw(captionPath)).status).toBe(200)
      paths.push(captionPath)
    }
    await local.client.send('DELETE', `/api/v1/videos/${uuid}`)
    await local.deliver(nora.account, peer.activity(nora.account, 'Delete', remote.id))
    for (const captionPath of paths) {
      expect((await local.client.raw(captionPath)).status).toBe(404)
      const name = captionPath.slice(captionPath.lastIndexOf('/') + 1)
      await until(async () => {
        const rows = await local.query('select 1 from video_caption where filename = $1', [name])
        const files = await local.query("select 1 from pending_file where kind = 'captions' and name = $1", [name])
        const places = ['storage/captions', 'storage/cache/captions']
        const isKept = places.some((folder) => existsSync(join(local.node.dataDir, folder, name)))
        return rows.length === 0 && (files.length === 1 || !isKept)
      })
    }
  })
})

describe('a stale remote video', () => {
  const age = (document: JsonObject & { id: string }) =>
    local.query("update video set refreshed_at = now() - interval '3 days', refresh_tried_at = null where url = $1", [document.id])
  const look = (document: JsonObject) => local.client.raw(`/api/v1/videos/${document.uuid}`)

  it('is refreshed when it is viewed, and not before', async () => {
    const document = await sent()
    await look(document)
    peer.serve(document.id, { ...document, name: 'Read again' })
    expect(peer.fetched).not.toContain(new URL(document.id).pathname)
    await age(document)
    expect((await look(document)).status).toBe(200)
    await until(async () => ((await (await look(document)).json()) as { name: string }).name === 'Read again')
    expect(peer.fetched.filter((path) => path === new URL(document.id).pathname)).toHaveLength(1)
  })

  it('is removed when its server says that it is gone', async () => {
    const document = await sent()
    peer.serve(document.id, () => ({ status: 410 }))
    await age(document)
    await look(document)
    await until(async () => (await look(document)).status === 404)
  })

  it('is unchanged while its server is silent or refuses, and not fetched at each view', async () => {
    for (const status of [500, 403]) {
      const document = await sent()
      peer.serve(document.id, () => ({ status }))
      await age(document)
      await look(document)
      await until(
        async () =>
          (
            await local.query(
              "select 1 from job where type = 'activitypub-refresher' and state = 'failed' and data->>'videoId' = (select id::text from video where url = $1)",
              [document.id],
            )
          ).length > 0,
      )
      for (let time = 0; time < 3; time += 1) expect((await look(document)).status).toBe(200)
      expect(await local.query("select 1 from job where type = 'activitypub-refresher' and state in ('waiting', 'active')")).toEqual([])
    }
  })

  it('is not removed on the word of another server', async () => {
    const away = await startFakePeer()
    const document = await sent()
    const path = new URL(document.id).pathname
    peer.serve(path, () => ({ status: 302, location: `${away.base}/gone` }))
    await age(document)
    await look(document)
    await until(() => away.fetched.includes('/gone'))
    await until(async () => (await local.query("select 1 from job where state in ('waiting', 'active')")).length === 0)
    expect((await look(document)).status).toBe(200)
    await away.close()
  })
})

describe('between two nodes', () => {
  let other: FederatedNode
  beforeAll(async () => {
    other = await startFederatedNode()
    await other.client.send('POST', '/api/v1/server/following', { hosts: [local.host] })
    await until(
      async () =>
        (
          await local.query("select 1 from follow f join actor a on a.id = f.follower_id where f.state = 'accepted' and a.url = $1", [
            other.instance,
          ])
        ).length > 0,
    )
  })
  afterAll(() => other?.stop())

  it('captions and chapters of one node are shown on the other, and vanish there too', async () => {
    const { uuid } = await local.upload(bytes, { description: '00:00 first\n00:01 second' })
    await until(async () => (await other.query('select 1 from video where uuid = $1', [uuid])).length > 0, {})
    const titles = async () => (await chaptersOf(other, uuid)).map(({ title }) => title).join()
    await until(async () => (await titles()) === 'first,second')
    await setCaption(local, uuid, 'fr')
    await local.client.send('PUT', `/api/v1/videos/${uuid}/chapters`, { chapters: [{ timecode: 1, title: 'only' }] })
    const caption = await until(async () => (await captionsOf(other, uuid))[0])
    expect(caption).toMatchObject({ language: { id: 'fr', label: 'French' } })
    const file = await fetch(`${other.base}${caption.captionPath}`)
    expect([file.status, await file.text()]).toEqual([200, VTT])
    await until(async () => (await titles()) === 'only')
    await local.client.send('DELETE', `/api/v1/videos/${uuid}/captions/fr`)
    await local.client.send('PUT', `/api/v1/videos/${uuid}/chapters`, { chapters: [] })
    await until(async () => (await captionsOf(other, uuid)).length === 0)
    await until(async () => (await titles()) === '')
    expect((await fetch(`${other.base}${caption.captionPath}`)).status).toBe(404)
  })
})
