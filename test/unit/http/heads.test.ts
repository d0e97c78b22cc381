// Metadata of pages: recorded names and values, and escaping.

import { describe, expect, it } from '@jest/globals'
import type { ActorProfile } from '../../../src/actors/actor/index.ts'
import { type PlaylistRow, playlistPrivacies } from '../../../src/actors/playlist/index.ts'
import type { VideoDetailsRow } from '../../../src/actors/video/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { descriptionText, headTagsOf, plainHead, type Subject, titleText } from '../../../src/http/pages/heads/index.ts'
import { cut } from '../../../src/http/pages/heads/text.ts'
import { headed, layout } from '../../../src/http/pages/layout.ts'
import { playerOptions, playerQuery, secondsOf } from '../../../src/http/pages/player-options.ts'

const here = makeUrls('https://tube.example')
const site = { name: 'Tube', description: 'All about tubes.', twitter: '@tube', hasSignup: false }
const UUID = '5b2a7a6e-7c1f-4b4e-9d5e-0c5ab2f4d1aa'
const WHEN = new Date('2026-02-03T04:05:06Z')

const profile = (columns: Partial<ActorProfile> = {}): ActorProfile => ({
  id: 4,
  username: 'ann',
  name: 'Ann',
  url: 'https://tube.example/accounts/ann',
  host: null,
  avatars: [],
  user_id: 1,
  description: null,
  support: null,
  followers: 0,
  following: 0,
  banners: [],
  created_at: WHEN.toISOString(),
  updated_at: WHEN.toISOString(),
  ...columns,
})

const videoOf = (columns: Partial<VideoDetailsRow> = {}): VideoDetailsRow => ({
  id: 7,
  uuid: UUID,
  url: `https://tube.example/videos/watch/${UUID}`,
  remote: false,
  listed: true,
  name: 'A film',
  category: null,
  licence: null,
  language: null,
  privacy: 1,
  blocked: false,
  block_reason: null,
  nsfw: false,
  description: 'About *it*.',
  duration: 3,
  aspect_ratio: null,
  views: 1,
  viewers: 0,
  likes: 0,
  dislikes: 0,
  comments: 0,
  state: 'published',
  wait_transcoding: false,
  is_live: false,
  created_at: WHEN,
  updated_at: WHEN,
  published_at: WHEN,
  originally_published_at: null,
  thumbnail: 't.jpg',
  preview: 'p.jpg',
  schedule: null,
  account: profile(),
  channel: profile({ username: 'films' }),
  tags: [],
  support: null,
  comments_policy: 1,
  download_enabled: true,
  owner_account_id: 4,
  refreshed_at: null,
  input_file_updated_at: null,
  tracker_urls: [],
  files: [],
  playlist: null,
  ...columns,
})

const playlistOf = (columns: Partial<PlaylistRow> = {}): PlaylistRow => ({
  id: 3,
  uuid: UUID,
  url: `https://tube.example/video-playlists/${UUID}`,
  remote: false,
  name: 'A list',
  description: null,
  privacy: playlistPrivacies.public,
  type: 1,
  thumbnail: null,
  elements_count: 0,
  account_id: 4,
  refreshed_at: null,
  created_at: WHEN,
  updated_at: WHEN,
  account: profile(),
  channel: null,
  ...columns,
})

const tagsOf = (subject: Subject): string => headTagsOf(subject, { site, here }).tags.text
const schemaOf = (tags: string): Record<string, unknown> =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(tags)?.[1] ?? 'null')

/** Names of the `meta` elements in order, as recorded. */
const namesIn = (tags: string): string[] => [...tags.matchAll(/<meta (?:name|property|itemprop)="([^"]+)"/g)].map(([, name = '']) => name)

const MAIN = 'description og:type og:site_name og:title og:url name twitter:card twitter:site twitter:title'
const PLAYER = 'og:video:url og:video:secure_url og:video:type og:video:width og:video:height twitter:player'
const LIST = 'name description image url numberOfItems thumbnailUrl embedUrl uploadDate'
const VIDEO = 'name description image url embedUrl uploadDate duration thumbnailUrl'
/** As recorded from PeerTube: the names of `meta`, and the type and members of the JSON-LD block. */
const recordedPages: [string, Subject, meta: string, type: string, members: string][] = [
  ['a video', { kind: 'video', video: videoOf() }, `${MAIN} ${PLAYER} og:image image`, 'VideoObject', VIDEO],
  ["a video's embed", { kind: 'video', video: videoOf(), embed: true }, 'robots description name image', 'VideoObject', VIDEO],
  ['a playlist', { kind: 'playlist', playlist: playlistOf() }, `${MAIN} ${PLAYER}`, 'ItemList', LIST],
  ["a playlist's embed", { kind: 'playlist', playlist: playlistOf(), embed: true }, 'robots description name', 'ItemList', LIST],
  ['an account', { kind: 'account', actor: profile() }, MAIN, 'ProfilePage', 'dateCreated dateModified mainEntity'],
  ['a channel', { kind: 'channel', actor: profile() }, MAIN, 'ProfilePage', 'dateCreated dateModified mainEntity'],
]

describe('the head of a page', () => {
  it.each(recordedPages)('of %s has the recorded names and members', (_name, subject, meta, type, members) => {
    const head = headTagsOf(subject, { site, here })
    expect(namesIn(headed(head).head?.text ?? '')).toEqual(expect.arrayContaining(meta.split(' ')))
    const schema = schemaOf(head.tags.text)
    expect(schema['@type']).toBe(type)
    expect(Object.keys(schema)).toEqual(expect.arrayContaining(members.split(' ')))
  })

  it('links the page, its embed and its feeds', () => {
    const tags = tagsOf({ kind: 'video', video: videoOf() })
    expect(tags).toContain('<meta property="og:video:url" content="https://tube.example/videos/embed/')
    expect(tags).toContain('<link rel="canonical" href="https://tube.example/w/')
    expect(tags).toContain('href="https://tube.example/feeds/videos.xml?videoChannelId=4"')
    expect(tags).not.toContain('noindex')
    expect(tagsOf({ kind: 'account', actor: profile() })).toContain('https://tube.example/a/ann/video-channels')
    expect(tagsOf({ kind: 'home' })).toContain('href="https://tube.example/feeds/videos.xml"')
  })

  it('excludes private and remote pages from search engines', () => {
    const url = 'https://other.example/videos/watch/1'
    for (const columns of [{ privacy: 2 }, { blocked: true }, { remote: true, url }]) {
      expect(tagsOf({ kind: 'video', video: videoOf(columns) })).toContain('<meta name="robots" content="noindex">')
    }
    expect(tagsOf({ kind: 'video', video: videoOf({ remote: true, url }) })).toContain(`<link rel="canonical" href="${url}">`)
    const remote = profile({ host: 'other.example', url: 'https://other.example/accounts/ann' })
    expect(tagsOf({ kind: 'account', actor: remote })).toContain('noindex')
    expect(tagsOf({ kind: 'account', actor: remote })).toContain('https://tube.example/a/ann@other.example/video-channels')
    expect(plainHead(site, 'Nothing', { isIndexed: false }).tags.text).toContain('noindex')
  })

  const hostile = [
    '"><script>alert(1)</script>',
    '</script><script>alert(1)</script>',
    '</title><img src=x onerror=alert(1)>',
    '<!--<script>',
    'javascript:alert(1)',
    'a\u2028b\u2029c\u0000d',
    '\u202eevil\u2066',
    "' autofocus onfocus='alert(1)",
    'x'.repeat(10_000),
    '😀'.repeat(5000),
  ]
  it.each(hostile.map((text) => [text.slice(0, 30), text]))('escapes %j', (_short, text) => {
    const actor = profile({ name: text, description: text, url: 'javascript:alert(1)', host: 'other.example' })
    const video = videoOf({ name: text, description: text, account: actor, channel: actor, remote: true, url: text })
    const playlist = playlistOf({ name: text, description: text, remote: true, url: 'javascript:alert(1)' })
    const subjects: Subject[] = [
      { kind: 'video', video },
      { kind: 'playlist', playlist },
      { kind: 'account', actor },
      { kind: 'channel', actor },
    ]
    for (const subject of subjects) {
      const head = headTagsOf(subject, { site, here })
      const page = layout({ ...headed(head), body: plainHead(site).tags }, site, { style: '/s.css' })
      expect(page.length).toBeLessThan(20_000)
      // Empty properties would be invalid HTML.
      expect(page).toMatch(/<html [^>]*itemscope/)
      expect([...page.matchAll(/<([a-z]+)/gi)].every(([, tag = '']) => HEAD.has(tag))).toBe(true)
      expect([...page.matchAll(/<script([^>]*)>/g)].map(([, more]) => more)).toEqual([' type="application/ld+json"'])
      expect(page).not.toMatch(/(?:href|src)="javascript:/)
      expect(page).not.toMatch(/[\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
      expect(page.includes('\0')).toBe(false)
      expect(page.isWellFormed()).toBe(true)
      expect(schemaOf(head.tags.text)['@type']).toBeDefined()
    }
  })
})

const HEAD = new Set('html head meta title link script body a header bdi form input button nav main footer span'.split(' '))

describe('texts in a head', () => {
  it('are truncated after a word, or within a long one', () => {
    expect(cut('short', 10)).toBe('short')
    expect(cut('one two three four', 12)).toBe('one two...')
    expect(cut('one two three', 10)).toBe('one two...')
    expect(cut('x'.repeat(20), 10)).toBe('xxxxxxx...')
    expect(descriptionText('**Bold** [link](https://a.example)\n\nmore')).toBe('Bold link more')
    expect(descriptionText(null)).toBe('')
    expect(titleText(' a \n b ')).toBe('a b')
  })
})

describe('the URL of a player', () => {
  it('has start and stop times', () => {
    const times = {
      '90': 90,
      '90s': 90,
      '1m30s': 90,
      '1h': 3600,
      '1h2m3s': 3723,
      '1:30': 90,
      '1:02:03': 3723,
      '2.5': 2.5,
    }
    for (const [text, seconds] of Object.entries(times)) expect(secondsOf(text)).toBe(seconds)
    for (const text of ['', 'x', '-1', '1e9', '1m1h', 'NaN', '1:2:3:4', undefined]) expect(secondsOf(text)).toBeUndefined()
  })

  it('is parsed as far as possible', () => {
    const options = playerOptions(
      playerQuery.parse({ autoplay: ['1', '0'], muted: 'yes', controlBar: '0', subtitle: 'x'.repeat(500), stop: '0' }),
    )
    expect(options).toEqual({
      start: 0,
      stop: undefined,
      autoplay: true,
      loop: false,
      muted: false,
      controls: false,
      title: true,
      link: true,
      subtitle: undefined,
      play: undefined,
      foreground: undefined,
    })
  })
})
