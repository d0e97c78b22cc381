// The privacy matrix: the exact response for every privacy and for blocked videos, every part of a video, and every caller.

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import bencode from 'bencode'
import { hlsFile, webVideoFile } from '../../../src/media/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeVideo, makeVideo } from '../../support/builders.ts'
import { media } from '../../support/media.ts'
import { PRIVATE_FILE } from '../../support/private-file-headers.ts'
import { until } from '../../support/until.ts'
import { makeRouteFixtures, type Person, type RouteFixtures } from '../routes/fixtures.ts'
import { type RouteServer, startRouteServer } from '../routes/server.ts'

/** `blocked` is a public video that the instance blocks. */
const privacies = { public: 1, unlisted: 2, private: 3, internal: 4, password: 5, blocked: 1 } as const
type Privacy = keyof typeof privacies

/** How a video got its privacy: it had it from the start, or it was public, was read by everybody, and changed. */
const histories: Record<string, { privacy: Privacy; was?: Privacy; isScheduled?: boolean }> = {
  public: { privacy: 'public' },
  unlisted: { privacy: 'unlisted' },
  private: { privacy: 'private' },
  internal: { privacy: 'internal' },
  'protected by a password': { privacy: 'password' },
  blocked: { privacy: 'blocked' },
  scheduled: { privacy: 'private', isScheduled: true },
  'public, and private now': { privacy: 'private', was: 'public' },
  'public, and internal now': { privacy: 'internal', was: 'public' },
  'public, and protected by a password now': { privacy: 'password', was: 'public' },
  'public, and blocked now': { privacy: 'blocked', was: 'public' },
  'unlisted, and private now': { privacy: 'private', was: 'unlisted' },
  'internal, and private now': { privacy: 'private', was: 'internal' },
  'private, and public now': { privacy: 'public', was: 'private' },
}

/** `owner` is `user` of the fixtures; `+` sends the right password, `-` a wrong one, `0` an empty one. */
const askers = [
  ...(['visitor', 'visitor+', 'visitor-', 'visitor0', 'other', 'other+', 'other-'] as const),
  ...(['owner', 'owner+', 'owner-', 'moderator', 'moderator-', 'admin', 'admin0'] as const),
] as const
type Asker = (typeof askers)[number]

const PASSWORD = 'the password of the video'
const CHANNEL_PLAYLIST = 'A playlist with all of them'

interface Subject extends Required<MadeVideo> {
  privacy: Privacy
  name: string
  caption: string
  storyboard: string
  kept: string
  torrent: string
  infoHash: string
  commentId: number
}

let stage: RouteServer
let fixtures: RouteFixtures
let playlist: { uuid: string }
const tokens = new Map<Person, string>()
const subjects = new Map<string, Subject>()
/** A file token of another private video. */
let foreignToken: string

beforeAll(async () => {
  stage = await startRouteServer()
  fixtures = await makeRouteFixtures(stage)
  for (const person of ['user', 'other', 'moderator', 'admin', 'blocked'] as const) {
    tokens.set(person, (await fixtures.session(person)).access)
  }
  playlist = await makePlaylist()
  for (const history of Object.keys(histories)) subjects.set(history, await makeHistory(history))
  foreignToken = await tokenOf(await makeSubject('private'), 'owner')
})
afterAll(() => stage?.stop())

async function makePlaylist(): Promise<{ uuid: string }> {
  const uuid = newUuid()
  const { user } = fixtures.users
  await insert(fixtures.db, 'playlist', {
    uuid,
    url: `${stage.base}/video-playlists/${uuid}`,
    name: CHANNEL_PLAYLIST,
    privacy: 1,
    type: 1,
    account_id: user.accountId,
    channel_id: user.channelId,
  })
  return { uuid }
}

async function makeHistory(history: string): Promise<Subject> {
  const { privacy, was = privacy, isScheduled } = histories[history] ?? { privacy: 'public' }
  const subject = await makeSubject(was)
  if (isScheduled) {
    const nextYear = new Date(Date.now() + 365 * 86_400_000)
    await fixtures.db.query('insert into video_schedule (video_id, update_at, privacy) values ($1, $2, 1)', [subject.id, nextYear])
  }
  if (privacy === was) return subject
  // Fills every cache with responses from before.
  for (const { request } of artefacts) {
    const { path, init } = request(subject)
    if (!init?.method) await (await ask('visitor', path, init)).arrayBuffer()
  }
  await changeTo(subject, privacy)
  return { ...subject, privacy }
}

async function changeTo({ uuid }: Pick<Subject, 'uuid'>, privacy: Privacy): Promise<void> {
  const passwords = privacy === 'password' ? { videoPasswords: [PASSWORD] } : {}
  const answer =
    privacy === 'blocked'
      ? await ask('moderator', `/api/v1/videos/${uuid}/blacklist`, json('POST', {}))
      : await ask('owner', `/api/v1/videos/${uuid}`, json('PUT', { privacy: privacies[privacy], ...passwords }))
  expect([uuid, privacy, answer.status]).toEqual([uuid, privacy, 204])
}

async function makeSubject(privacy: Privacy): Promise<Subject> {
  const { db, store, users } = fixtures
  const uuid = newUuid()
  const [name, url] = [`matrix ${privacy} ${uuid}`, `${stage.base}/videos/watch/${uuid}`]
  const video = await makeVideo(db, {
    channelId: users.user.channelId,
    columns: { uuid, url, name, privacy: privacies[privacy], description: 'words', blocked: privacy === 'blocked' },
    ...(privacy === 'password' ? { passwords: [PASSWORD] } : {}),
    webVideo: { resolution: 240 },
    hls: { resolution: 240 },
  })
  const { webVideo, hls } = video
  if (!webVideo || !hls) throw new Error('The video has no files.')
  const isHidden = privacies[privacy] > 2 || privacy === 'blocked'
  const [caption, storyboard] = [`${newUuid()}-fr.vtt`, `${newUuid()}.jpg`]
  await store.put(webVideoFile(webVideo.filename, isHidden), Buffer.from('a web video'))
  await store.put(hlsFile(uuid, hls.master, isHidden), Buffer.from(`#EXTM3U\n${hls.playlist}\n`))
  await store.put(hlsFile(uuid, hls.fragmented, isHidden), Buffer.from('a fragmented video'))
  await store.put({ kind: 'captions', name: caption }, Buffer.from('WEBVTT'))
  await store.put({ kind: 'storyboards', name: storyboard }, Buffer.from('a picture'))
  await store.put({ kind: 'thumbnails', name: video.thumbnail }, Buffer.from('a miniature'))
  await store.put({ kind: 'previews', name: video.preview }, Buffer.from('a large picture'))
  const [torrent, infoHash] = [`${newUuid()}-240.torrent`, randomBytes(20).toString('hex')]
  await store.put({ kind: 'torrents', name: torrent }, Buffer.from('a torrent'))
  await db.query('update video_file set torrent_filename = $2, info_hash = $3 where id = $1', [webVideo.id, torrent, infoHash])
  await db.query("insert into video_caption (video_id, language, filename) values ($1, 'fr', $2)", [video.id, caption])
  await db.query("insert into video_chapter (video_id, timecode, title) values ($1, 0, 'The start')", [video.id])
  const kept = `${newUuid()}.mp4`
  await store.put({ kind: 'original_video_files', name: kept }, Buffer.from('an upload'))
  await db.query("insert into video_source (video_id, input_filename, kept_filename, size) values ($1, 'small.mp4', $2, 1)", [
    video.id,
    kept,
  ])
  await db.query(
    `insert into storyboard (video_id, filename, total_width, total_height, sprite_width, sprite_height, sprite_duration)
     values ($1, $2, 576, 144, 192, 144, 1)`,
    [video.id, storyboard],
  )
  await db.query(
    `insert into playlist_element (playlist_id, video_id, position)
     select p.id, $1, (select count(*) + 1 from playlist_element e where e.playlist_id = p.id) from playlist p where p.uuid = $2`,
    [video.id, playlist.uuid],
  )
  const commentId = await insert(db, 'comment', {
    video_id: video.id,
    account_id: users.user.accountId,
    url: `${url}/comments/${newUuid()}`,
    text: 'words',
  })
  await db.query('update comment set url = $2 where id = $1', [commentId, `${url}/comments/${commentId}`])
  return { ...video, url, webVideo, hls, privacy, name, caption, storyboard, kept, torrent, infoHash, commentId }
}

const personOf = (asker: Asker): Person | undefined => {
  const name = asker.replace(/[+\-0]$/, '')
  return name === 'visitor' ? undefined : name === 'owner' ? 'user' : (name as Person)
}

async function ask(asker: Asker, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  const person = personOf(asker)
  if (person) headers.set('authorization', `Bearer ${tokens.get(person)}`)
  if (asker.endsWith('+')) headers.set('x-peertube-video-password', PASSWORD)
  if (asker.endsWith('-')) headers.set('x-peertube-video-password', 'something else')
  if (asker.endsWith('0')) headers.set('x-peertube-video-password', '')
  return await fetch(new URL(path, stage.base), { redirect: 'manual', ...init, headers })
}

async function tokenOf({ uuid }: Subject, asker: Asker): Promise<string> {
  const answer = await ask(asker, `/api/v1/videos/${uuid}/token`, { method: 'POST' })
  return ((await answer.json()) as { files?: { token: string } }).files?.token ?? 'none'
}

const isSignedIn = (asker: Asker): boolean => personOf(asker) !== undefined
const isInsider = (asker: Asker): boolean => /^(owner|moderator|admin)/.test(asker)
/** A wrong password is refused for every caller. */
const isWrong = (asker: Asker): boolean => /[-0]$/.test(asker)
const isOpen = (privacy: Privacy): boolean => privacy === 'public' || privacy === 'unlisted'

/** Callers that may see a video by its UUID. */
function sees(asker: Asker, privacy: Privacy): boolean {
  switch (privacy) {
    case 'public':
    case 'unlisted':
      return true
    case 'private':
    case 'blocked':
      return isInsider(asker)
    case 'internal':
      return isSignedIn(asker)
    case 'password':
      return !isWrong(asker) && (isInsider(asker) || asker.endsWith('+'))
  }
}

const refusal = (asker: Asker, privacy: Privacy): number => (privacy === 'password' || isSignedIn(asker) ? 403 : 401)

type Expected = (asker: Asker, privacy: Privacy) => number
const seen =
  (status = 200): Expected =>
  (asker, privacy) =>
    sees(asker, privacy) ? status : refusal(asker, privacy)
/** Routes that need a session for any video. */
const seenSignedIn =
  (status = 200): Expected =>
  (asker, privacy) =>
    isSignedIn(asker) ? seen(status)(asker, privacy) : 401
const managed: Expected = (asker) => (isInsider(asker) ? 200 : isSignedIn(asker) ? 403 : 401)
const openOr =
  (status: number): Expected =>
  (_asker, privacy) =>
    isOpen(privacy) ? 200 : status

/** Pages ask for the password, and ignore API sessions. */
const pageExpected: Expected = (asker, privacy) => (privacy === 'password' ? 403 : openOr(404)(asker, privacy))

interface Artefact {
  name: string
  request(subject: Subject): { path: string; init?: RequestInit }
  expected: Expected
}

const json = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const activityPub: RequestInit = { headers: { accept: 'application/activity+json' } }
const page: RequestInit = { headers: { accept: 'text/html' } }

const api = (path: (subject: Subject) => string, expected: Expected, init?: RequestInit) => ({
  request: (subject: Subject) => ({
    path: `/api/v1/videos/${subject.uuid}${path(subject)}`,
    ...(init ? { init } : {}),
  }),
  expected,
})
const document = (path: string): Pick<Artefact, 'request' | 'expected'> => ({
  request: ({ uuid, commentId }) => ({
    path: `/videos/watch/${uuid}${path.replace('{comment}', String(commentId))}`,
    init: activityPub,
  }),
  expected: (_asker, privacy) => (isOpen(privacy) ? 200 : privacy === 'password' ? 403 : 401),
})
const folder = ({ privacy }: Subject): string => (isOpen(privacy) ? '' : 'private/')
/** Players cannot log in on demand: visitors are refused at once. */
const fileExpected: Expected = (asker, privacy) => {
  if (isOpen(privacy) || sees(asker, privacy)) return 200
  return privacy === 'password' || isSignedIn(asker) || asker === 'visitor' ? 403 : 401
}

const artefacts: Artefact[] = [
  { name: 'details', ...api(() => '', seen()) },
  {
    name: 'details by number',
    request: ({ id }) => ({ path: `/api/v1/videos/${id}` }),
    expected: (asker, privacy) => seen()(asker, privacy === 'unlisted' ? 'private' : privacy),
  },
  { name: 'description', ...api(() => '/description', seen()) },
  { name: 'threads', ...api(() => '/comment-threads', seen()) },
  { name: 'a thread', ...api(({ commentId }) => `/comment-threads/${commentId}`, seen()) },
  { name: 'a new comment', ...api(() => '/comment-threads', seenSignedIn(), json('POST', { text: 'hello' })) },
  { name: 'captions', ...api(() => '/captions', seen()) },
  { name: 'chapters', ...api(() => '/chapters', seen()) },
  { name: 'storyboards', ...api(() => '/storyboards', seen()) },
  { name: 'metadata of a file', ...api(({ webVideo }) => `/metadata/${webVideo.id}`, seen()) },
  {
    name: 'metadata of a file by number',
    request: ({ id, webVideo }) => ({ path: `/api/v1/videos/${id}/metadata/${webVideo.id}` }),
    expected: (asker, privacy) => seen()(asker, privacy === 'unlisted' ? 'private' : privacy),
  },
  { name: 'a rating', ...api(() => '/rate', seenSignedIn(204), json('PUT', { rating: 'like' })) },
  {
    name: 'a view',
    ...api(
      () => '/views',
      // A page that waits for the password reports too, which is not counted.
      (asker, privacy) => (privacy === 'password' && /^(visitor|other)$/.test(asker) ? 204 : seen(204)(asker, privacy)),
      json('POST', { currentTime: 0 }),
    ),
  },
  {
    name: 'a token for files',
    ...api(
      () => '/token',
      (asker, privacy) => (asker === 'visitor' && isOpen(privacy) ? 400 : seen()(asker, privacy)),
      { method: 'POST' },
    ),
  },
  { name: 'source', ...api(() => '/source', managed) },
  {
    name: 'passwords',
    ...api(
      () => '/passwords',
      (asker, privacy) => (isInsider(asker) && privacy !== 'password' ? 400 : managed(asker, privacy)),
    ),
  },
  { name: 'statistics', ...api(() => '/stats/overall', managed) },
  {
    name: 'web video',
    request: (subject) => ({ path: `/static/web-videos/${folder(subject)}${subject.webVideo.filename}` }),
    expected: fileExpected,
  },
  {
    name: 'web video in the open folder',
    request: ({ webVideo }) => ({ path: `/static/web-videos/${webVideo.filename}` }),
    expected: openOr(404),
  },
  {
    name: 'master playlist',
    request: (subject) => ({
      path: `/static/streaming-playlists/hls/${folder(subject)}${subject.uuid}/${subject.hls.master}`,
    }),
    expected: fileExpected,
  },
  {
    name: 'fragmented file in the open folder',
    request: ({ uuid, hls }) => ({ path: `/static/streaming-playlists/hls/${uuid}/${hls.fragmented}` }),
    expected: openOr(404),
  },
  {
    name: 'download of a web video',
    request: ({ uuid }) => ({ path: `/download/web-videos/${uuid}-240.mp4` }),
    expected: fileExpected,
  },
  {
    name: 'download of an HLS file',
    request: ({ uuid }) => ({ path: `/download/streaming-playlists/hls/videos/${uuid}-240-fragmented.mp4` }),
    expected: fileExpected,
  },
  {
    name: 'download of the upload',
    request: ({ kept }) => ({ path: `/download/original-video-files/${kept}` }),
    expected: (asker) => (isInsider(asker) ? 200 : 403),
  },
  {
    name: 'generated download',
    request: ({ uuid, webVideo }) => ({ path: `/download/videos/generate/${uuid}?videoFileIds=${webVideo.id}` }),
    expected: fileExpected,
  },
  {
    name: 'generated download by number',
    request: ({ id, webVideo }) => ({ path: `/download/videos/generate/${id}?videoFileIds=${webVideo.id}` }),
    expected: (asker, privacy) => (privacy === 'unlisted' ? seen()(asker, 'private') : fileExpected(asker, privacy)),
  },
  {
    name: 'caption file',
    request: ({ caption }) => ({ path: `/lazy-static/video-captions/${caption}` }),
    expected: seen(),
  },
  {
    name: 'storyboard file',
    request: ({ storyboard }) => ({ path: `/lazy-static/storyboards/${storyboard}` }),
    expected: seen(),
  },
  {
    name: 'thumbnail',
    request: ({ thumbnail }) => ({ path: `/lazy-static/thumbnails/${thumbnail}` }),
    expected: seen(),
  },
  { name: 'preview', request: ({ preview }) => ({ path: `/lazy-static/previews/${preview}` }), expected: seen() },
  { name: 'torrent', request: ({ torrent }) => ({ path: `/lazy-static/torrents/${torrent}` }), expected: seen() },
  {
    name: 'download of a torrent',
    request: ({ torrent }) => ({ path: `/download/torrents/${torrent}` }),
    expected: seen(),
  },
  {
    name: 'oEmbed',
    request: ({ url }) => ({ path: `/services/oembed?url=${encodeURIComponent(url)}` }),
    expected: openOr(403),
  },
  {
    name: 'feed of its comments',
    request: ({ uuid }) => ({ path: `/feeds/video-comments.xml?videoId=${uuid}` }),
    // Readers of feeds are anonymous.
    expected: (asker, privacy) => {
      if (isOpen(privacy)) return 200
      return privacy !== 'password' ? 401 : asker.endsWith('+') ? 200 : 403
    },
  },
  { name: 'watch page', request: ({ uuid }) => ({ path: `/w/${uuid}`, init: page }), expected: pageExpected },
  { name: 'embed', request: ({ uuid }) => ({ path: `/videos/embed/${uuid}`, init: page }), expected: pageExpected },
  { name: 'ActivityPub: video', ...document('') },
  { name: 'ActivityPub: comments', ...document('/comments') },
  { name: 'ActivityPub: a comment', ...document('/comments/{comment}') },
  { name: 'ActivityPub: likes', ...document('/likes') },
  { name: 'ActivityPub: dislikes', ...document('/dislikes') },
  { name: 'ActivityPub: shares', ...document('/announces') },
  { name: 'ActivityPub: chapters', ...document('/chapters') },
]

const subjectOf = (history: string): Subject => {
  const subject = subjects.get(history)
  if (!subject) throw new Error(`There is no ${history} video.`)
  return subject
}

/** URLs that browsers load without credentials, as the API returns them. */
async function addressesFor(asker: Asker, { uuid }: Subject): Promise<string[]> {
  const read = async <T>(path: string): Promise<T> => (await (await ask(asker, `/api/v1/videos/${uuid}${path}`)).json()) as T
  const video = await read<Record<'thumbnailPath' | 'previewPath', string> & { files: Record<string, string>[] }>('')
  const captions = await read<{ data: { captionPath: string }[] }>('/captions')
  const { storyboards } = await read<{ storyboards: { storyboardPath: string }[] }>('/storyboards')
  return [
    video.thumbnailPath,
    video.previewPath,
    ...video.files.flatMap(({ torrentUrl = '', torrentDownloadUrl = '' }) => [torrentUrl, torrentDownloadUrl]),
    ...captions.data.map(({ captionPath }) => captionPath),
    ...storyboards.map(({ storyboardPath }) => storyboardPath),
  ]
}

async function failureOf(action: 'announce' | 'scrape', infoHash: string): Promise<string | undefined> {
  const bytes = infoHash.replaceAll(/../g, '%$&')
  const more = action === 'announce' ? '&peer_id=-VI0001-abcdefghijkl&port=6881&left=0&compact=1' : ''
  const answer = await ask('visitor', `/tracker/${action}?info_hash=${bytes}${more}`)
  const decoded = bencode.decode(Buffer.from(await answer.arrayBuffer())) as Record<string, Uint8Array | object>
  const failure = decoded['failure reason']
  return failure instanceof Uint8Array ? Buffer.from(failure).toString() : undefined
}

describe.each(Object.keys(histories))('of a video that is %s', (history) => {
  const privacy = histories[history]?.privacy ?? 'public'

  it.each(artefacts.map(({ name }) => name))('%s: each caller gets the response of the matrix', async (name) => {
    const artefact = artefacts.find((one) => one.name === name)
    if (!artefact) throw new Error('No such artefact.')
    const subject = subjectOf(history)
    const answers: Record<string, number> = {}
    const leaks: string[] = []
    for (const asker of askers) {
      const { path, init } = artefact.request(subject)
      const answer = await ask(asker, path, init)
      answers[asker] = answer.status
      if (answer.status >= 400 && (await answer.text()).includes(subject.name)) leaks.push(asker)
    }
    const expected = Object.fromEntries(askers.map((asker) => [asker, artefact.expected(asker, privacy)]))
    expect(answers).toEqual(expected)
    expect(leaks).toEqual([])
  })

  it("a file token opens its own video's files for its user, and no others", async () => {
    const subject = subjectOf(history)
    if (isOpen(privacy)) return
    const paths = [
      `/static/web-videos/private/${subject.webVideo.filename}`,
      `/static/streaming-playlists/hls/private/${subject.uuid}/${subject.hls.master}`,
      `/lazy-static/video-captions/${subject.caption}`,
      `/lazy-static/storyboards/${subject.storyboard}`,
      `/lazy-static/thumbnails/${subject.thumbnail}`,
      `/lazy-static/previews/${subject.preview}`,
      `/lazy-static/torrents/${subject.torrent}`,
      `/download/torrents/${subject.torrent}`,
      `/download/web-videos/${subject.uuid}-240.mp4`,
      `/download/streaming-playlists/hls/videos/${subject.uuid}-240-fragmented.mp4`,
    ]
    for (const asker of askers) {
      const token = await tokenOf(subject, asker)
      expect({ asker, isGiven: token !== 'none' }).toEqual({ asker, isGiven: sees(asker, privacy) })
      for (const path of paths) {
        const status = (await ask('visitor', `${path}?videoFileToken=${token}`)).status
        expect({ asker, path, status }).toEqual({ asker, path, status: sees(asker, privacy) ? 200 : 403 })
        expect((await ask(asker, `${path}?videoFileToken=${foreignToken}`)).status).toBe(403)
      }
    }
  })

  it('the URLs of its pictures, captions and torrents open as returned by the API, and are not cached by others', async () => {
    const subject = subjectOf(history)
    for (const asker of askers) {
      if (!sees(asker, privacy)) continue
      for (const address of await addressesFor(asker, subject)) {
        const { status, headers } = await ask('visitor', address)
        const isKept = headers.get('cache-control')?.startsWith('public') && !headers.has('x-accel-expires')
        expect({ asker, address, status, isKept }).toEqual({ asker, address, status: 200, isKept: isOpen(privacy) })
        expect(new URL(address, stage.base).searchParams.has('videoFileToken')).toBe(!isOpen(privacy))
      }
    }
  })

  it('the tracker has its swarm only while it is public', async () => {
    const { infoHash } = subjectOf(history)
    expect(await failureOf('announce', infoHash)).toBe(isOpen(privacy) ? undefined : 'unknown info_hash')
  })

  it.each([
    ['/api/v1/videos?count=100', 'list'],
    ['/api/v1/search/videos?count=100&search=matrix', 'search'],
    ['/api/v1/video-playlists/{playlist}/videos?count=100', 'playlist'],
    ['/', 'home page'],
    ['/feeds/videos.json', 'feed'],
    ['/feeds/video-comments.atom', 'feed'],
    ['/feeds/podcast/videos.xml?videoChannelId={channel}', 'feed'],
  ])('%s contains it only for authorized callers', async (path, kind) => {
    const { name } = subjectOf(history)
    const url = path.replace('{playlist}', playlist.uuid).replace('{channel}', String(fixtures.users.user.channelId))
    const named = await Promise.all(askers.map(async (asker) => [asker, (await (await ask(asker, url)).text()).includes(name)]))
    const isFor = (asker: Asker): boolean => {
      if (privacy === 'public') return true
      // Staff sees private videos in its own lists, not in playlists of others.
      if (kind === 'playlist' && privacy !== 'internal') return privacy === 'unlisted' || personOf(asker) === 'user'
      return kind !== 'home page' && kind !== 'feed' && privacy === 'internal' && isSignedIn(asker)
    }
    expect(Object.fromEntries(named)).toEqual(Object.fromEntries(askers.map((asker) => [asker, isFor(asker)])))
  })
})

describe('a file token', () => {
  it('ends with the password, with its user, and with the privacy that it was issued for', async () => {
    const subject = await makeSubject('password')
    const path = `/static/web-videos/private/${subject.webVideo.filename}?videoFileToken=`
    const statusOf = async (token: string) => (await ask('visitor', path + token)).status
    const [byPassword, byModerator, byOther] = [
      await tokenOf(subject, 'visitor+'),
      await tokenOf(subject, 'moderator'),
      await tokenOf(subject, 'other+'),
    ]
    for (const token of [byPassword, byModerator, byOther]) expect(await statusOf(token)).toBe(200)
    expect(await statusOf(`${byPassword}x`)).toBe(403)

    await fixtures.db.query("update users set state = 'blocked' where id = $1", [fixtures.users.moderator.id])
    expect(await statusOf(byModerator)).toBe(403)
    await fixtures.db.query("update users set state = 'active' where id = $1", [fixtures.users.moderator.id])

    const passwords = json('PUT', { passwords: ['another one', 'and one more'] })
    expect((await ask('owner', `/api/v1/videos/${subject.uuid}/passwords`, passwords)).status).toBe(204)
    expect([await statusOf(byPassword), await statusOf(byOther), await statusOf(byModerator)]).toEqual([403, 403, 200])

    // Internal is for every user, including the owner of the token.
    expect((await ask('owner', `/api/v1/videos/${subject.uuid}`, json('PUT', { privacy: 4 }))).status).toBe(204)
    expect([await statusOf(byPassword), await statusOf(byOther)]).toEqual([403, 200])
    expect((await ask('owner', `/api/v1/videos/${subject.uuid}`, json('PUT', { privacy: 3 }))).status).toBe(204)
    expect([await statusOf(byPassword), await statusOf(byOther), await statusOf(byModerator)]).toEqual([403, 403, 200])
  })

  it('is added to the URLs of a playlist on request', async () => {
    const subject = subjectOf('private')
    const token = await tokenOf(subject, 'owner')
    const path = `/static/streaming-playlists/hls/private/${subject.uuid}/${subject.hls.master}`
    const answer = await ask('visitor', `${path}?videoFileToken=${token}&reinjectVideoFileToken=true`)
    expect(answer.headers.get('content-type')).toContain('application/vnd.apple.mpegurl')
    expect(Object.fromEntries(answer.headers)).toMatchObject(PRIVATE_FILE)
    expect(await answer.text()).toBe(`#EXTM3U\n${subject.hls.playlist}?videoFileToken=${token}&reinjectVideoFileToken=true\n`)
    expect(await (await ask('visitor', `${path}?videoFileToken=${token}`)).text()).toBe(`#EXTM3U\n${subject.hls.playlist}\n`)
  })
})

describe('a video that was public', () => {
  it('leaves its swarm at once when it becomes private', async () => {
    const subject = await makeSubject('public')
    const { infoHash } = subject
    expect(await failureOf('announce', infoHash)).toBeUndefined()
    await changeTo(subject, 'private')
    expect(await failureOf('announce', infoHash)).toBe('unknown info_hash')
  })

  it('is not accessible once it is removed', async () => {
    const subject = await makeSubject('public')
    const token = await tokenOf(subject, 'owner')
    expect((await ask('owner', `/api/v1/videos/${subject.uuid}`, { method: 'DELETE' })).status).toBe(204)
    const isOfApi = /^\/(api|lazy-static|download|videos|w|services|feeds)\//
    for (const { name, request } of artefacts) {
      const { path, init } = request(subject)
      if (!isOfApi.test(path) || init?.method) continue
      for (const asker of ['visitor', 'owner', 'admin'] as const) {
        const { status } = await ask(asker, path, init)
        // Some routes authenticate first.
        const isRefused = status === 404 || status === 410 || (asker === 'visitor' && status === 401)
        expect({ name, asker, status, isRefused }).toMatchObject({ name, asker, isRefused: true })
      }
      if (path.startsWith('/lazy-static/')) {
        expect((await ask('visitor', `${path}?videoFileToken=${token}`)).status).toBe(404)
      }
    }
    expect(await failureOf('announce', subject.infoHash)).toBe('unknown info_hash')
  })

  it('keeps its privacy when its owner is blocked', async () => {
    const [open, hidden] = [await makeSubject('public'), await makeSubject('private')]
    await fixtures.db.query("update users set state = 'blocked' where id = $1", [fixtures.users.user.id])
    try {
      // Sessions are cached for a second.
      await until(async () => (await ask('owner', '/api/v1/users/me')).status === 401)
      for (const { path } of ['thumbnail', 'preview', 'torrent', 'caption file'].map(
        (name) => artefacts.find((one) => one.name === name)?.request(hidden) ?? { path: '' },
      )) {
        expect([(await ask('visitor', path)).status, (await ask('owner', path)).status]).toEqual([401, 401])
        expect((await ask('moderator', path)).status).toBe(200)
      }
      expect((await ask('visitor', `/lazy-static/thumbnails/${open.thumbnail}`)).status).toBe(200)
    } finally {
      await fixtures.db.query("update users set state = 'active' where id = $1", [fixtures.users.user.id])
    }
  })
})

describe('the passwords of a protected video', () => {
  const wrong: [string, string[] | null | undefined][] = [
    ['none at all', undefined],
    ['nothing', null],
    ['an empty list', []],
    ['an empty one', ['']],
    ['a short one', ['a']],
    ['a long one', ['x'.repeat(100)]],
    ['the same twice', ['one password', 'another', 'one password']],
    ['too many', Array.from({ length: 101 }, (_, index) => `password ${index}`)],
  ]
  const fields = (videoPasswords: string[] | null | undefined) => ({
    name: 'A protected one',
    channelId: fixtures.users.user.channelId,
    privacy: 5,
    ...(videoPasswords === undefined ? {} : { videoPasswords }),
  })

  async function upload(passwords: string[] | null | undefined): Promise<Response> {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields(undefined))) form.set(name, String(value))
    passwords?.forEach((password, index) => {
      form.set(`videoPasswords[${index}]`, password)
    })
    form.set('videofile', new Blob([await readFile(await media('small.mp4'))]), 'small.mp4')
    return await ask('owner', '/api/v1/videos/upload', { method: 'POST', body: form })
  }

  it.each(wrong)('are refused on create, import and change when they are %s', async (_what, passwords) => {
    const [open, locked] = [await makeSubject('public'), await makeSubject('password')]
    const post = (path: string, body: object, headers: Record<string, string> = {}) => {
      const init = json('POST', body)
      return ask('owner', path, { ...init, headers: { ...init.headers, ...headers } as Record<string, string> })
    }
    const session = { 'x-upload-content-length': '1000', 'x-upload-content-type': 'video/mp4' }
    const change = fields(passwords)
    const answers = {
      upload: await upload(passwords),
      resumable: await post('/api/v1/videos/upload-resumable', { ...change, filename: 'small.mp4' }, session),
      import: await post('/api/v1/videos/imports', { ...change, targetUrl: 'https://site.example/film' }),
      'change of an open one': await ask('owner', `/api/v1/videos/${open.uuid}`, json('PUT', change)),
      'change of a protected one': await ask('owner', `/api/v1/videos/${locked.uuid}`, json('PUT', change)),
      replacement: await ask('owner', `/api/v1/videos/${locked.uuid}/passwords`, json('PUT', { passwords })),
    }
    const statuses = Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]))
    expect(statuses).toEqual(Object.fromEntries(Object.keys(answers).map((name) => [name, 400])))
    // It is unchanged.
    expect((await ask('visitor+', `/api/v1/videos/${locked.uuid}`)).status).toBe(200)
  })

  it('are unchanged when a change does not contain the privacy', async () => {
    const { uuid } = await makeSubject('password')
    expect((await ask('owner', `/api/v1/videos/${uuid}`, json('PUT', { name: 'Another name' }))).status).toBe(204)
    expect((await ask('visitor+', `/api/v1/videos/${uuid}`)).status).toBe(200)
    expect((await ask('owner', `/api/v1/videos/${uuid}`, json('PUT', { videoPasswords: [] }))).status).toBe(400)
  })

  it('are checked for every caller who sends one, and an empty one is wrong', async () => {
    const { uuid } = subjectOf('protected by a password')
    for (const asker of askers.filter((one) => isWrong(one))) {
      const answer = await ask(asker, `/api/v1/videos/${uuid}`)
      expect([asker, answer.status, await answer.json()]).toEqual([
        asker,
        403,
        expect.objectContaining({ code: 'incorrect_video_password' }),
      ])
    }
    const missing = await ask('visitor', `/api/v1/videos/${uuid}`)
    expect([missing.status, await missing.json()]).toEqual([403, expect.objectContaining({ code: 'video_requires_password' })])
  })
})
