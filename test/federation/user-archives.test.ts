// A user moves from one node to another with an archive: the REST API shows the same user there, field by field, except for the
// differences listed here. A repeated import, or an import at the origin, changes nothing.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { type FullUser, makeFullUser } from '../integration/user-exports/full-user.ts'
import { importArchive } from '../support/archive.ts'
import { until } from '../support/until.ts'
import { arrives, QUICK_FEDERATION, startNodes } from './nodes.ts'
import { type FederatedNode, newcomer, uploadBy } from './support.ts'

type Json = { [key: string]: unknown }
interface Paged<T = Json> {
  total: number
  data: T[]
}
interface Person {
  node: FederatedNode
  client: Client
  id: number
}

const NAME = 'mover'

let [from, to]: (FederatedNode | undefined)[] = []
let before: Person
let after: Person
let archive: Buffer

beforeAll(async () => {
  ;[from, to] = await startNodes(2, { ...QUICK_FEDERATION, storyboards: { enabled: true } })
  if (!from || !to) throw new Error('There are no nodes.')
  const mover = await makeFullUser(from.node, from.client, NAME)
  before = { node: from, client: mover.client, id: mover.userId }
  const client = await newcomer(to, NAME)
  after = { node: to, client, id: (await client.get<{ id: number }>('/api/v1/users/me')).id }
  await doTheRest(mover, to)
})
afterAll(async () => {
  await Promise.all([from?.stop(), to?.stop()])
})

/** Irrelevant for archives of a single server. */
async function doTheRest({ client, bytes, first, second, other }: FullUser, foreign: FederatedNode): Promise<void> {
  const send = (method: string, path: string, body?: unknown) => client.send<never>(method, `/api/v1${path}`, body)
  const dated = { originallyPublishedAt: '2019-05-06T07:08:09.000Z' }
  await send('PUT', `/videos/${first.uuid}`, { ...dated, support: 'buy me a tea', nsfw: true, downloadEnabled: false })
  await send('PUT', `/videos/${second.uuid}`, { commentsPolicy: 3, waitTranscoding: true, tags: ['hidden'] })
  await uploadBy(client, bytes, { name: 'Nobody sees it', privacy: '3', commentsPolicy: '2' })
  const secret = { name: 'With a word', privacy: '5', 'videoPasswords[0]': 'open', 'videoPasswords[1]': 'sesame' }
  await uploadBy(client, bytes, secret)
  const remote = await uploadBy(foreign.client, bytes, { name: 'Of the other server' })
  const { id } = await arrives(before.node, remote.uuid)
  await arrives(foreign, other.uuid)
  await send('PUT', `/videos/${id}/rate`, { rating: 'dislike' })
  await send('PUT', `/videos/${id}/watching`, { currentTime: 1 })
  await send('PUT', `/videos/${first.uuid}/watching`, { currentTime: 1 })
  await send('POST', `/videos/${remote.uuid}/comment-threads`, { text: 'from afar' })
  await send('POST', '/users/me/subscriptions', { uri: `root_channel@${foreign.host}` })
  await send('POST', '/users/me/blocklist/accounts', { accountName: `root@${foreign.host}` })
  const { data } = await client.get<Paged<{ id: number; type: { id: number } }>>(`/api/v1/accounts/${NAME}/video-playlists?playlistType=2`)
  await send('POST', `/video-playlists/${data[0]?.id}/videos`, { videoId: other.id })
  const { videoPlaylist } = await client.send<{ videoPlaylist: { id: number } }>(
    ...(['POST', '/api/v1/video-playlists', formOf({ displayName: 'Mixed', description: 'of three' })] as const),
  )
  for (const element of [{ videoId: id, startTimestamp: 1, stopTimestamp: 2 }, { videoId: second.id }]) {
    await send('POST', `/video-playlists/${videoPlaylist.id}/videos`, element)
  }
  await send('PUT', `/automatic-tags/policies/accounts/${NAME}/comments`, { review: ['external-link', 'rude'] })
  const settings = { nsfwPolicy: 'blur', autoPlayNextVideo: true, p2pEnabled: false, videoLanguages: ['fr', 'en'] }
  await send('PUT', '/users/me', { ...settings, autoPlayVideo: false, emailPublic: true })
  const { notificationSettings } = await client.get<{ notificationSettings: Json }>('/api/v1/users/me')
  await send('PUT', '/users/me/notification-settings', {
    ...notificationSettings,
    newCommentOnMyVideo: 3,
    newFollow: 0,
  })
  // Follows that nobody has accepted are not in the archive.
  const waiting = () => before.node.query("select 1 from follow where state = 'pending'")
  await until(async () => (await waiting()).length === 0, { what: 'both subscriptions' })
}

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

/** All items of a list, as one page. */
const listed = async <T = Json>({ client }: Person, path: string): Promise<T[]> =>
  (await client.get<Paged<T>>(`/api/v1${path}${path.includes('?') ? '&' : '?'}count=100`)).data
const named = (one: unknown): string => String((one as Json | null)?.name)
const handleOf = ({ name, host }: Json): string => `${name}@${host}`
const subscriptions = async (of: Person): Promise<string[]> => (await listed(of, '/users/me/subscriptions')).map(handleOf).toSorted()

/** Each request to the API, with the members that may differ on another server. */
interface Read {
  read(of: Person): Promise<unknown>
  differs: readonly string[]
}

// Ids, URLs of the server, and activity of others.
const ROW = ['id', 'uuid', 'shortUUID', 'url', 'host', 'createdAt', 'updatedAt', 'isLocal', 'embedPath']
const COUNTS = ['followersCount', 'followingCount', 'views', 'viewers', 'likes', 'dislikes', 'comments']
/** File names. */
const FILES = ['path', 'fileUrl', 'thumbnailPath', 'previewPath', 'filename', 'url', 'captionPath', 'm3u8Url']
const LINKS = ['torrentUrl', 'torrentDownloadUrl', 'fileDownloadUrl', 'magnetUri', 'metadataUrl', 'playlistUrl']
const ACTOR = [...ROW, ...COUNTS, ...FILES]
const VIDEO = [...ACTOR, ...LINKS, 'descriptionPath', 'publishedAt', 'trackerUrls', 'userHistory', 'blacklisted', 'blacklistedReason']

const videosOf = async (of: Person) =>
  (await listed<{ id: number; name: string }>(of, '/users/me/videos')).toSorted((a, b) => a.name.localeCompare(b.name))

const ofVideos =
  (read: (of: Person, video: { id: number; name: string }) => Promise<unknown>) =>
  async (of: Person): Promise<unknown> =>
    Object.fromEntries(await Promise.all((await videosOf(of)).map(async (video) => [video.name, await read(of, video)] as const)))

const reads: Record<string, Read> = {
  me: {
    read: (of) => of.client.get('/api/v1/users/me'),
    // Counted on this server, or private to its user.
    differs: [...ACTOR, 'lastLoginDate', 'email', 'videoQuotaUsed', 'videoQuotaUsedDaily', 'userId', 'specialPlaylists'],
  },
  account: { read: (of) => of.client.get(`/api/v1/accounts/${NAME}`), differs: [...ACTOR, 'userId'] },
  channels: {
    read: async (of) =>
      (await listed(of, `/accounts/${NAME}/video-channels?sort=createdAt`)).toSorted((a, b) => named(a).localeCompare(named(b))),
    differs: ACTOR,
  },
  videos: {
    read: ofVideos(async (of, { id }) => {
      const video = await of.client.get<Json>(`/api/v1/videos/${id}`)
      // A video without an original date gets that of its first publication.
      return { ...video, originallyPublishedAt: video.originallyPublishedAt ?? video.publishedAt }
    }),
    differs: [...VIDEO, 'userId'],
  },
  captions: {
    read: ofVideos(async (of, { id }) => {
      const captions = await listed<Json & { captionPath: string }>(of, `/videos/${id}/captions`)
      const text = async (path: string) => (await of.client.raw(path)).text()
      return await Promise.all(captions.map(async (one) => ({ ...one, text: await text(one.captionPath) })))
    }),
    differs: [...ROW, ...FILES],
  },
  chapters: { read: ofVideos((of, { id }) => of.client.get(`/api/v1/videos/${id}/chapters`)), differs: [] },
  passwords: {
    read: async (of) => {
      const guarded = (await videosOf(of)).find(({ name }) => name === 'With a word')
      return await listed(of, `/videos/${guarded?.id}/passwords?sort=createdAt`)
    },
    differs: [...ROW, 'videoId'],
  },
  sources: {
    read: ofVideos((of, { id }) => of.client.get(`/api/v1/videos/${id}/source`)),
    differs: [...ROW, 'fileDownloadUrl'],
  },
  ratings: {
    read: async (of) =>
      (await listed<{ rating: string; video: Json }>(of, `/accounts/${NAME}/ratings`))
        .map(({ rating, video }) => [named(video), rating])
        .toSorted(),
    differs: [],
  },
  history: {
    read: async (of) =>
      (await listed<{ name: string; userHistory: Json }>(of, '/users/me/history/videos')).map(({ name, userHistory }) => [
        name,
        userHistory,
      ]),
    differs: [],
  },
  playlists: {
    read: async (of) =>
      (await listed(of, `/accounts/${NAME}/video-playlists`)).toSorted((a, b) =>
        String(a.displayName).localeCompare(String(b.displayName)),
      ),
    differs: ACTOR,
  },
  elements: {
    read: async (of) => {
      const lists = await listed<{ id: number; displayName: string }>(of, `/accounts/${NAME}/video-playlists`)
      const elements = lists.map(async ({ id, displayName }) => {
        const all = await listed<Json>(of, `/video-playlists/${id}/videos`)
        return [displayName, all.map((one) => ({ ...one, video: named(one.video) }))]
      })
      return Object.fromEntries(await Promise.all(elements))
    },
    differs: ['id'],
  },
  subscriptions: { read: subscriptions, differs: [] },
  'blocked servers': {
    read: async (of) => (await listed<{ blockedServer: Json }>(of, '/users/me/blocklist/servers')).map((one) => one.blockedServer),
    differs: [],
  },
  'blocked accounts': {
    read: async (of) =>
      (await listed<{ blockedAccount: Json }>(of, '/users/me/blocklist/accounts')).map((one) => handleOf(one.blockedAccount)),
    differs: [],
  },
  'watched words': { read: (of) => listed(of, `/watched-words/accounts/${NAME}/lists`), differs: ROW },
  'tag policies': {
    read: (of) => of.client.get(`/api/v1/automatic-tags/policies/accounts/${NAME}/comments`),
    differs: [],
  },
}

/** Removes the members that may differ, at any depth; null and empty values have to be the same. */
function without(value: unknown, keys: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, keys))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (!keys.has(key)) return [key, without(inner, keys)]
      return [key, inner === null ? null : typeof inner]
    }),
  )
}

/** The token in a picture URL of a private video changes every second. */
const withoutToken = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/(\.jpg\?videoFileToken=)[\w.-]+$/, '$1*') : value

const everything = async (of: Person): Promise<Json> => {
  const entries = Object.entries(reads).map(async ([name, { read }]) => [name, await read(of)] as const)
  return JSON.parse(JSON.stringify(Object.fromEntries(await Promise.all(entries)), withoutToken)) as Json
}

async function exported({ client, id }: Person): Promise<Buffer> {
  const address = `/api/v1/users/${id}/exports`
  await client.send('POST', `${address}/request`, { withVideoFiles: true })
  const url = await until(
    async () => (await client.get<Paged<{ privateDownloadUrl: string | null }>>(address)).data[0]?.privateDownloadUrl,
    { what: 'the archive' },
  )
  return Buffer.from(await (await fetch(url)).arrayBuffer())
}

/** Waits until counters are folded and videos are published. */
const settled = (of: Person) =>
  until(
    async () => {
      const [row] = await of.node.query<{ open: number }>(
        `select (select count(*) from video_delta)::int + (select count(*) from outbox)::int
           + (select count(*) from video where not remote and state <> 'published')::int
           + (select count(*) from job where state in ('waiting', 'active'))::int as open`,
      )
      return row?.open === 0
    },
    { what: 'quiet' },
  )

describe('a user who moves to another server', () => {
  it('is the same there', async () => {
    archive = await exported(before)
    const stats = await importArchive(after.client, after.id, archive)
    expect(Object.entries(stats).filter(([, { errors }]) => errors > 0)).toEqual([])
    // The default channel exists already.
    expect(Object.fromEntries(Object.entries(stats).map(([name, { success }]) => [name, success]))).toEqual({
      account: 1,
      userSettings: 1,
      channels: 1,
      watchedWordsLists: 1,
      commentAutoTagPolicies: 2,
      blocklist: 1,
      following: 2,
      videos: 4,
      videoPlaylists: 3,
      likes: 1,
      dislikes: 2,
      userVideoHistory: 3,
    })
    await until(async () => (await subscriptions(after)).length === 2, { what: 'both subscriptions' })
    await Promise.all([settled(before), settled(after)])
    const [here, there] = [await everything(before), await everything(after)]
    const fixed = (all: Json) =>
      Object.fromEntries(Object.entries(reads).map(([name, { differs }]) => [name, without(all[name], new Set(differs))]))
    expect(fixed(there)).toEqual(fixed(here))
  })

  it.each(['the archive is brought in once more', 'it is brought back to where it is from'])('is unchanged when %s', async (about) => {
    const who = about.includes('back') ? before : after
    const [known, archivesBefore] = [await everything(who), await counts(who)]
    const stats = await importArchive(who.client, who.id, archive)
    expect(Object.entries(stats).filter(([, { success, errors }]) => success + errors > 0)).toEqual([])
    await settled(who)
    expect(await everything(who)).toEqual(known)
    expect(await counts(who)).toEqual(archivesBefore)
  })
})

/** Rows that an import could duplicate, and files that it could leave behind. */
const counts = ({ node }: Person) =>
  node.query(
    `select (select count(*) from video) as videos, (select count(*) from channel) as channels,
       (select count(*) from playlist) as playlists, (select count(*) from playlist_element) as elements,
       (select count(*) from rating) as ratings, (select count(*) from history) as history,
       (select count(*) from follow) as follows, (select count(*) from video_caption) as captions,
       (select count(*) from actor_image) as pictures, (select count(*) from thumbnail) as thumbnails,
       (select count(*) from pending_file) as pending, (select count(*) from imported_object) as objects,
       (select count(*) from comment) as comments, (select count(*) from watched_words_list) as lists`,
  )
