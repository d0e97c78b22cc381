import { describe, expect, it } from '@jest/globals'
import {
  AS_PUBLIC,
  activitiesOf,
  buildCreate,
  buildVideo,
  isPublic,
  type JsonObject,
  parseHandle,
  type Read,
  readAccept,
  readActivity,
  readActor,
  readAnnounce,
  readChapters,
  readCollection,
  readCreate,
  readDelete,
  readFollow,
  readLike,
  readNodeInfoLinks,
  readNote,
  readTombstone,
  readUndo,
  readVideo,
  readWebFinger,
} from '../../../src/federation/wire/index.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { oracleProblems } from '../../support/peertube-oracle.ts'
import { PEER, PUBLIC_PEM, recordedObject } from './recordings.ts'

function taken<T>(read: Read<T>): T {
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

const video = (change: JsonObject = {}): JsonObject => ({ ...recordedObject('video-public'), ...change })
const note = (change: JsonObject = {}): JsonObject => ({ ...recordedObject('comment-reply'), ...change })
const actor = (change: JsonObject = {}): JsonObject => ({ ...recordedObject('channel'), ...change })

const MAPS: JsonObject = {
  name: undefined,
  content: null,
  summary: '',
  nameMap: { fr: 'a name' },
  contentMap: { en: 'some text' },
  summaryMap: { de: 'in short' },
}

describe('documents of other software', () => {
  it("Mastodon's actor", () => {
    const read = taken(
      readActor({
        '@context': ['https://www.w3.org/ns/activitystreams', { toot: 'http://joinmastodon.org/ns#' }],
        id: 'https://mastodon.example/users/ann',
        type: 'Person',
        following: 'https://mastodon.example/users/ann/following',
        followers: 'https://mastodon.example/users/ann/followers',
        inbox: 'https://mastodon.example/users/ann/inbox',
        outbox: 'https://mastodon.example/users/ann/outbox',
        preferredUsername: 'ann',
        name: '',
        summary: '<p>hello</p>',
        url: 'https://mastodon.example/@ann',
        manuallyApprovesFollowers: false,
        discoverable: true,
        indexable: false,
        published: '2020-01-01T00:00:00Z',
        publicKey: {
          id: 'https://mastodon.example/users/ann#main-key',
          owner: 'https://mastodon.example/users/ann',
          publicKeyPem: PUBLIC_PEM,
        },
        tag: [],
        attachment: [{ type: 'PropertyValue', name: 'Site', value: 'x' }],
        endpoints: { sharedInbox: 'https://mastodon.example/inbox' },
        icon: { type: 'Image', mediaType: 'image/png', url: 'https://files.example/a.png' },
        image: { type: 'Image', url: [{ type: 'Link', href: 'https://files.example/b.png' }] },
      }),
    )
    expect(read).toMatchObject({
      username: 'ann',
      name: 'ann',
      sharedInbox: 'https://mastodon.example/inbox',
      indexable: false,
      discoverable: true,
      icons: [{ url: 'https://files.example/a.png', mediaType: 'image/png', width: null, height: null }],
      banners: [{ url: 'https://files.example/b.png' }],
      playlists: null,
    })
  })

  it("Mastodon's comment: HTML, a summary, a single audience, and a page URL apart from the id", () => {
    const read = taken(
      readNote({
        id: 'https://mastodon.example/users/ann/statuses/1',
        type: 'Note',
        summary: null,
        inReplyTo: `${PEER}/videos/watch/x`,
        published: '2020-01-01T00:00:00Z',
        url: 'https://mastodon.example/@ann/1',
        attributedTo: 'https://mastodon.example/users/ann',
        to: 'as:Public',
        cc: ['https://mastodon.example/users/ann/followers', `${PEER}/accounts/bob`],
        sensitive: false,
        content: '<p>Nice <a href="https://x.example">video</a></p>',
        contentMap: { en: '<p>Nice</p>' },
        attachment: [],
        tag: { type: 'Mention', href: `${PEER}/accounts/bob`, name: '@bob@peer.example' },
        replies: { type: 'Collection' },
      }),
    )
    expect(read).toMatchObject({
      to: [AS_PUBLIC],
      mediaType: 'text/html',
      url: 'https://mastodon.example/@ann/1',
      mentions: [{ href: `${PEER}/accounts/bob`, name: '@bob@peer.example' }],
      replyApproval: null,
      updatedAt: null,
    })
    expect(isPublic(read)).toBe(true)
  })

  it("Lemmy's Announce of an activity", () => {
    const announce = {
      id: 'https://lemmy.example/activities/announce/1',
      type: 'Announce',
      actor: 'https://lemmy.example/c/videos',
      to: [AS_PUBLIC],
      object: {
        id: 'https://lemmy.example/activities/like/1',
        type: 'Like',
        actor: 'https://lemmy.example/u/ann',
        object: `${PEER}/videos/watch/x`,
        audience: 'https://lemmy.example/c/videos',
      },
    }
    const read = taken(readAnnounce(announce))
    expect(read.target).toMatchObject({ type: 'Like', id: 'https://lemmy.example/activities/like/1' })
    expect(taken(readLike(read.target.document)).target).toBe(`${PEER}/videos/watch/x`)
  })

  it('references as strings, objects or lists, and types as lists', () => {
    const read = taken(
      readFollow({
        id: 'https://a.example/1',
        type: ['Follow', 'Extra'],
        actor: { id: 'https://a.example/ann', type: 'Person' },
        object: [{ id: `${PEER}/accounts/bob` }],
      }),
    )
    expect(read).toEqual({
      id: 'https://a.example/1',
      actor: 'https://a.example/ann',
      target: `${PEER}/accounts/bob`,
    })
  })

  it('an Accept with the id of the Follow, and one without its id', () => {
    const accept = { id: 'https://a.example/1', type: 'Accept', actor: 'https://a.example/ann' }
    expect(taken(readAccept({ ...accept, object: `${PEER}/follows/1` })).follow).toEqual({
      id: `${PEER}/follows/1`,
      actor: null,
      target: null,
    })
    const follow = { type: 'Follow', actor: `${PEER}/accounts/bob`, object: 'https://a.example/ann' }
    expect(taken(readAccept({ ...accept, object: follow })).follow).toEqual({
      id: null,
      actor: `${PEER}/accounts/bob`,
      target: 'https://a.example/ann',
    })
    expect(readAccept({ ...accept, object: { type: 'Follow' } }).ok).toBe(false)
    expect(readAccept({ ...accept, object: { type: 'Offer', id: 'https://a.example/2' } }).ok).toBe(false)
  })

  it('a Delete with a Tombstone, and one with an id', () => {
    const gone = { id: 'https://a.example/1#delete', type: 'Delete', actor: 'https://a.example/ann' }
    for (const object of ['https://a.example/1', { type: 'Tombstone', id: 'https://a.example/1' }])
      expect(taken(readDelete({ ...gone, object })).target).toBe('https://a.example/1')
    expect(taken(readTombstone({ type: 'Tombstone', id: 'https://a.example/1' })).formerType).toBeNull()
  })

  it('an Undo with the actor of its activity', () => {
    const undo = { id: 'https://a.example/1/undo', type: 'Undo', actor: 'https://a.example/ann' }
    const like = { type: 'Like', id: 'https://a.example/1', actor: 'https://a.example/eve', object: `${PEER}/v` }
    expect(taken(readUndo({ ...undo, object: like }))).toMatchObject({
      undone: { type: 'Like', id: 'https://a.example/1' },
      undoneActor: 'https://a.example/eve',
      undoneTarget: `${PEER}/v`,
    })
    expect(taken(readUndo({ ...undo, object: 'https://a.example/1' })).undoneActor).toBeNull()
    expect(readUndo(undo).ok).toBe(false)
  })

  it('an emoji reaction as a like', () => {
    const like = { id: 'https://a.example/1', actor: 'https://a.example/ann', object: `${PEER}/v` }
    expect(readLike({ ...like, type: 'EmojiReact', content: '🎈' }).ok).toBe(true)
    expect(readLike({ ...like, type: 'Dislike' }).ok).toBe(false)
  })

  it('a video without a Person, an older one, and one of a newer version', () => {
    const older = video({
      attributedTo: [{ type: 'Group', id: `${PEER}/video-channels/c` }],
      commentsPolicy: undefined,
      commentsEnabled: true,
      downloadEnabled: undefined,
      state: undefined,
      sensitive: undefined,
      icon: { type: 'Image', url: `${PEER}/t.jpg`, mediaType: 'image/jpeg', width: 1, height: 1 },
      language: 'en',
      subtitleLanguage: [
        {
          identifier: 'fr',
          name: 'French',
          url: [
            { type: 'Link', mediaType: 'application/x-mpegURL', href: `${PEER}/fr.m3u8` },
            { type: 'Link', mediaType: 'text/vtt', href: `${PEER}/fr.vtt` },
          ],
        },
      ],
    })
    expect(taken(readVideo(older))).toMatchObject({
      attributedTo: [{ id: `${PEER}/video-channels/c`, type: 'Group' }],
      commentsPolicy: 1,
      downloadEnabled: true,
      state: null,
      isSensitive: false,
      language: { identifier: 'en', name: 'en' },
      captions: [{ language: 'fr', label: 'French', automaticallyGenerated: false, url: `${PEER}/fr.vtt` }],
    })
    expect(taken(readVideo(video({ commentsPolicy: undefined, commentsEnabled: undefined }))).commentsPolicy).toBe(2)
    expect(taken(readVideo(video({ hasParts: [{ name: 'a', startOffset: 0, endOffset: 3 }] }))).chapters).toEqual([
      { name: 'a', startOffset: 0, endOffset: 3 },
    ])
  })

  it('text in JSON-LD value objects and in maps by language', () => {
    expect(taken(readVideo(video({ name: { '@value': 'a name', '@language': 'en' } }))).name).toBe('a name')
    expect(taken(readVideo(video({ name: { en: 'a name' } }))).name).toBe('a name')
  })

  it.each([
    ['name and content of a video', readVideo, () => video(MAPS), { name: 'a name', description: 'some text' }],
    ['name and summary of an actor', readActor, () => actor(MAPS), { name: 'a name', summary: 'in short' }],
    ['the content of a comment', readNote, () => note(MAPS), { content: 'some text' }],
  ])('text in a language map only: %s', (_what, read, document, texts) => {
    const found = read(document())
    expect(found).toMatchObject({ ok: true, value: texts })
  })

  it('owners as Links', () => {
    const attributedTo = ['accounts/ann', 'video-channels/films'].map((path) => ({
      type: 'Link',
      href: `${PEER}/${path}`,
    }))
    expect(taken(readVideo(video({ attributedTo }))).attributedTo.map(({ id }) => id)).toEqual(attributedTo.map(({ href }) => href))
  })

  it.each([
    ['PT8S', 8],
    ['PT0S', 0],
    ['PT1M30S', 90],
    ['PT2H', 7200],
    ['P1DT1S', 86_401],
    ['PT12.6S', 13],
  ])('the duration %s is %i seconds', (duration, seconds) => {
    expect(taken(readVideo(video({ duration }))).durationSeconds).toBe(seconds)
  })

  it.each(['', 'P', 'PT', '8', 'PT-1S', 'P1Y', 'PT1e9S', 'PT8S8S', 8, null])('the duration %p is refused', (duration) => {
    expect(readVideo(video({ duration })).ok).toBe(false)
  })
})

describe('hostile documents', () => {
  it('long lists are truncated', () => {
    const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 2000 }, (_, index) => make(index))
    const read = taken(
      readVideo(
        video({
          tag: many((index) => ({ type: 'Hashtag', name: `tag${index}` })),
          subtitleLanguage: many((index) => ({ identifier: `l${index}`, name: 'x', url: `${PEER}/${index}.vtt` })),
          icon: many((index) => ({ type: 'Image', url: `${PEER}/${index}.jpg` })),
          url: many((index) => ({
            type: 'Link',
            mediaType: 'video/mp4',
            href: `${PEER}/${index}.mp4`,
            height: index,
            fps: 1,
          })),
          hasParts: many((index) => ({ name: 'x', startOffset: index, endOffset: index + 1 })),
          to: many((index) => `${PEER}/${index}`),
          attributedTo: many((index) => ({ type: 'Group', id: `${PEER}/video-channels/${index}` })),
        }),
      ),
    )
    expect(read.tags).toHaveLength(100)
    expect(read.captions).toHaveLength(200)
    expect(read.thumbnails).toHaveLength(20)
    expect(read.files).toHaveLength(500)
    expect(read.chapters).toHaveLength(500)
    expect(read.to).toHaveLength(500)
    expect(read.attributedTo).toHaveLength(20)
    const mentions = many((index) => ({ type: 'Mention', href: `${PEER}/${index}`, name: '@x' }))
    expect(taken(readNote(note({ tag: mentions }))).mentions).toHaveLength(100)
    expect(activitiesOf({ type: 'Collection', items: mentions }).activities).toHaveLength(500)
    const items = many((index) => `${PEER}/${index}`)
    const page = { type: 'OrderedCollectionPage', id: `${PEER}/page`, orderedItems: items }
    expect(taken(readCollection(page)).items).toHaveLength(500)
  })

  it('long texts are truncated, without breaking a character', () => {
    expect(taken(readVideo(video({ name: '🎈'.repeat(1000) }))).name).toBe('🎈'.repeat(250))
    expect(taken(readNote(note({ content: 'a'.repeat(1_000_000) }))).content).toHaveLength(100_000)
  })

  it('control characters and lone surrogates are removed from texts', () => {
    const { name } = taken(readVideo(video({ name: 'a\u0000b\u001bc\ud800d\ne' })))
    expect(name).toBe('abc\ufffdd\ne')
    expect(readVideo(video({ name: '\u0000' })).ok).toBe(false)
  })

  it.each(["x'; drop table actor; --", 'x"y', 'x%y', 'x y', 'x\u0000', '\u202eevil', 'ä', '../x', 'x@y', '', 'a'.repeat(201), 1, null])(
    'an invalid username is refused (%#)',
    (preferredUsername) => {
      expect(readActor(actor({ preferredUsername })).ok).toBe(false)
    },
  )

  it.each([
    'javascript:alert(1)',
    'ftp://peer.example/inbox',
    'https://user:password@peer.example/inbox',
    'https://peer.example/in box',
    'https://peer.example/\u0000',
    `https://peer.example/${'a'.repeat(2000)}`,
    'inbox',
    '',
    null,
    1,
    {},
  ])('an invalid inbox is refused (%#)', (inbox) => {
    expect(readActor(actor({ inbox })).ok).toBe(false)
  })

  it('a key of another actor, a missing key, and an invalid key are refused', () => {
    const owner = `${PEER}/video-channels/obj_user_channel`
    const key = { id: `${owner}#main-key`, owner, publicKeyPem: PUBLIC_PEM }
    expect(readActor(actor({ publicKey: key })).ok).toBe(true)
    for (const publicKey of [
      undefined,
      {},
      { ...key, owner: 'https://mallory.example/' },
      { ...key, publicKeyPem: '-----BEGIN PRIVATE KEY-----' },
      { ...key, publicKeyPem: PUBLIC_PEM + 'A'.repeat(1_000_000) },
      { ...key, id: 'nonsense' },
    ])
      expect(readActor(actor({ publicKey })).ok).toBe(false)
  })

  it('keys of another controller are ignored', () => {
    const owner = `${PEER}/video-channels/obj_user_channel`
    const key = { id: `${owner}#key`, type: 'Multikey', controller: owner, publicKeyMultibase: 'z6Mk' }
    const assertionMethod = [key, { ...key, controller: 'https://mallory.example/' }, 'text', null]
    expect(taken(readActor(actor({ assertionMethod }))).multikeys).toEqual([{ id: key.id, controller: owner, publicKeyMultibase: 'z6Mk' }])
  })

  it.each<[string, JsonObject]>([
    ['no id', { id: undefined }],
    ['an id that is no address', { id: 'urn:uuid:1' }],
    ['no uuid', { uuid: undefined }],
    ['a uuid that is none', { uuid: "'; --" }],
    ['another type', { type: 'Article' }],
    ['no name', { name: undefined }],
    ['a name that is a list', { name: [] }],
    ['no views', { views: undefined }],
    ['negative views', { views: -1 }],
    ['views beyond counting', { views: 1e300 }],
    ['no date', { published: undefined }],
    ['a date that is none', { updated: 'yesterday' }],
    ['nobody', { attributedTo: [] }],
    ['nobody readable', { attributedTo: [{ type: 'Person', id: 'javascript:1' }] }],
  ])('a video with %s is refused', (_case, change) => {
    expect(readVideo(video(change)).ok).toBe(false)
  })

  it.each<[string, unknown]>([
    ['a text', 'text'],
    ['null', null],
    ['a list', []],
    ['a number', 5],
    ['nothing', undefined],
    ['an empty object', {}],
  ])('%s is a document of no type', (_case, document) => {
    for (const read of [
      readVideo,
      readNote,
      readActor,
      readActivity,
      readFollow,
      readAccept,
      readAnnounce,
      readCreate,
      readDelete,
      readUndo,
      readLike,
      readTombstone,
      readCollection,
      readChapters,
      readWebFinger,
    ])
      expect(read(document).ok).toBe(false)
  })

  it('invalid links are removed from a video', () => {
    const links = [
      { type: 'Link', mediaType: 'text/html', href: 'javascript:alert(1)' },
      { type: 'Link', mediaType: 'video/mp4', href: 'file:///etc/passwd', height: 1, fps: 1 },
      { type: 'Link', mediaType: 'application/x-mpegURL', href: 'data:x' },
      { type: 'Link', rel: ['tracker', 'websocket'], name: 'x', href: 'https://x.example/' },
      { type: 'Link', rel: ['tracker', 'http'], name: 'x', href: 'udp://x.example/' },
      { type: 'Link', mediaType: 'video/../mp4', href: `${PEER}/a.mp4`, height: 1, fps: 1 },
      'javascript:alert(1)',
      null,
      5,
      [],
    ]
    expect(taken(readVideo(video({ url: links })))).toMatchObject({
      page: null,
      files: [],
      playlists: [],
      trackers: [],
    })
  })

  it('invalid infohashes, and magnets of other schemes, are removed', () => {
    const playlist = {
      type: 'Link',
      mediaType: 'application/x-mpegURL',
      href: `${PEER}/master.m3u8`,
      tag: [
        { type: 'Infohash', name: "'; drop" },
        { type: 'Link', mediaType: 'video/mp4', href: `${PEER}/a.mp4`, height: 1, fps: 1, size: 1 },
        {
          type: 'Link',
          mediaType: 'application/x-bittorrent;x-scheme-handler/magnet',
          href: 'javascript:1',
          height: 1,
          fps: 1,
        },
      ],
    }
    const [found] = taken(readVideo(video({ url: playlist }))).playlists
    expect(found?.infohashes).toEqual([])
    expect(found?.files[0]?.magnetUri).toBeNull()
  })

  it('regular expressions and text cleaning take linear time', () => {
    const spent = startCpuTime()
    readNote(note({ content: '<a'.repeat(50_000) }))
    readVideo(video({ duration: `P${'1'.repeat(40)}`, name: '\u0000'.repeat(100_000) }))
    parseHandle(`acct:${'a'.repeat(100_000)}`)
    parseHandle('@'.repeat(100_000))
    expect(spent()).toBeLessThan(500)
  })
})

describe('optional members', () => {
  it('the approval policies of comments are written in the form of the reference', () => {
    const input = taken(readVideo(video()))
    for (const commentsPolicy of [1, 2, 3] as const) {
      const built = buildVideo({ ...input, commentsPolicy })
      expect(oracleProblems(built)).toEqual([])
      expect(built).toMatchObject({
        commentsEnabled: commentsPolicy !== 2,
        canReply: commentsPolicy === 1 ? null : AS_PUBLIC,
        commentsPolicy,
      })
    }
  })

  it('a video without torrents, storyboard, captions or live has none in its document', () => {
    const input = taken(readVideo(video()))
    const bare = (files: typeof input.files) => files.map((file) => ({ ...file, torrentUrl: null, magnetUri: null, metadataUrl: null }))
    const built = buildVideo({
      ...input,
      files: bare(input.files),
      playlists: input.playlists.map((one) => ({ ...one, infohashes: [], files: bare(one.files) })),
      trackers: [],
      storyboard: null,
      captions: [],
      category: null,
      uploadedAt: new Date('2026-01-01T00:00:00Z'),
    })
    expect(oracleProblems(built)).toEqual([])
    expect(JSON.stringify(built)).not.toMatch(/bittorrent|magnet|tracker|"name":"[0-9a-f]{40}"/)
    expect(built).not.toHaveProperty('preview')
    expect(built).not.toHaveProperty('category')
    expect(built.uploadDate).toBe('2026-01-01T00:00:00.000Z')
  })

  it('an embedded document loses its own context', () => {
    const object = buildVideo(taken(readVideo(video())))
    const create = buildCreate({ id: `${PEER}/1`, actor: `${PEER}/accounts/a`, object, to: [AS_PUBLIC], cc: [] })
    expect(create['@context']).toEqual(object['@context'])
    expect(create.object).not.toHaveProperty('@context')
    expect(oracleProblems(create)).toEqual([])
  })

  it('the oracle finds what the reference drops silently', () => {
    const create = buildCreate({
      id: `${PEER}/1`,
      actor: `${PEER}/accounts/a`,
      object: video(),
      to: [AS_PUBLIC],
      cc: [],
    })
    expect(oracleProblems({ ...create, to: AS_PUBLIC })).toContain('to')
    expect(oracleProblems({ ...create, id: 'urn:uuid:1' })).toContain('id')
    expect(oracleProblems({ ...create, type: ['Create'] })).not.toEqual([])
    expect(oracleProblems(note({ to: [], cc: [] }))).toContain('public')
    expect(oracleProblems(video({ icon: [] }))).toContain('icon')
    expect(oracleProblems(video({ duration: 'PT1M' }))).toContain('duration')
    expect(oracleProblems(actor({ attributedTo: [{ type: 'Person', id: 'https://other.example/a' }] }))).toContain('owner')
  })

  it('handles are parsed in all common forms', () => {
    const expected = { name: 'ann', host: 'video.example' }
    for (const text of ['acct:ann@video.example', '@ann@video.example', 'ann@Video.Example', 'acct:@ann@video.example'])
      expect(parseHandle(text)).toEqual(expected)
    expect(parseHandle('ann@127.0.0.1:9000')).toEqual({ name: 'ann', host: '127.0.0.1:9000' })
    for (const text of ['ann', '@ann', 'ann@', 'ann@a/b', 'ann@a?b', 'a@b@c', 'ann @x', '']) expect(parseHandle(text)).toBeUndefined()
  })

  it('WebFinger without a link to an actor is refused, and NodeInfo without one is not', () => {
    const subject = 'acct:ann@video.example'
    expect(readWebFinger({ subject, links: [] }).ok).toBe(false)
    expect(readWebFinger({ subject, links: [{ rel: 'self', type: 'text/html', href: 'https://a.example' }] }).ok).toBe(false)
    const self = {
      rel: 'self',
      type: 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
      href: 'https://a.example/ann',
    }
    expect(taken(readWebFinger({ subject, links: [self, { rel: 'x', href: 'javascript:1' }] }))).toEqual({
      subject,
      actor: 'https://a.example/ann',
      subscribeTemplate: null,
    })
    expect(taken(readNodeInfoLinks({ links: [{ rel: 'x', href: 'y' }] }))).toEqual({
      nodeInfo: null,
      instanceActor: null,
    })
  })
})
