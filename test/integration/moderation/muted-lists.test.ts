// What is muted shows in no list that others look around in: hidden from everybody what the instance mutes, and from its reader
// what a reader mutes, together with the totals. What somebody has to manage stays in sight.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { addUser, openDatabase, type Query } from '../me/users.ts'

const HOST = 'loud.example'
const NAME = 'trumpet'
const HANDLE = `${NAME}@${HOST}`
const CHANNEL = `${NAME}_channel@${HOST}`

type User = Awaited<ReturnType<typeof addUser>>
interface Page {
  total: number
  data: object[]
}

let node: TestNode
let query: Query
let closeDatabase: () => Promise<void>
let root: Client
let reader: User
let other: User
/** A video of the reader's, below which the loud one wrote. */
let commented: MadeVideo
let playlistId: number
let loudChannelId: number

beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  const database = await openDatabase(node)
  query = database.query
  closeDatabase = database.close
  root = await login(node.base, node.username, node.password)
  reader = await addUser(node, query, { username: 'reader' })
  other = await addUser(node, query, { username: 'other' })
  await makeLoud()
}, 60_000)
afterAll(async () => {
  await closeDatabase?.()
  await node?.stop()
})

/** An account of another server that stands in every list, beside others that do too. */
async function makeLoud(): Promise<void> {
  const db = { query }
  const { accountId, channelId } = await makeRemoteChannel(db, { host: HOST, username: NAME })
  loudChannelId = channelId
  const videos: MadeVideo[] = []
  for (let place = 0; place < 6; place += 1) {
    const columns = { name: `loud concert ${place}`, category: 1, tags: ['loud'] }
    videos.push(await makeVideo(db, { channelId, remoteOrigin: `https://${HOST}`, columns }))
  }
  const quiet = await makeVideo(db, { channelId: other.channelId, columns: { name: 'quiet concert' } })
  commented = await makeVideo(db, { channelId: reader.channelId, columns: { name: 'commented' } })

  for (const [owner, name] of [
    [accountId, 'loud playlist'],
    [other.accountId, 'quiet playlist'],
  ] as const) {
    const uuid = newUuid()
    const url = `https://${owner === accountId ? HOST : 'here.example'}/video-playlists/${uuid}`
    const channel = owner === accountId ? channelId : other.channelId
    const id = await insert(db, 'playlist', {
      ...{ uuid, account_id: owner, channel_id: channel, url, name, type: 1, privacy: 1 },
      ...{ remote: owner === accountId, elements_count: 2, refreshed_at: new Date() },
    })
    for (const [index, video] of [videos[0], quiet].entries()) {
      await insert(db, 'playlist_element', { playlist_id: id, video_id: video?.id, position: index + 1 })
    }
    if (owner === other.accountId) playlistId = id
  }

  const comment = (author: number, text: string, thread?: number) =>
    insert(db, 'comment', {
      ...{
        video_id: commented.id,
        account_id: author,
        text,
        url: `https://${author === accountId ? HOST : 'here.example'}/${newUuid()}`,
      },
      ...(thread === undefined ? {} : { thread_id: thread, parent_id: thread }),
    })
  await comment(accountId, 'loud thread')
  const thread = await comment(other.accountId, 'quiet thread')
  await comment(accountId, 'loud reply', thread)

  const [first] = videos
  for (const account of [reader, other]) {
    await query(
      `insert into history (account_id, video_id, seconds, watched_at) select $1::int, id, 3, now() from video where id = any($2)`,
      [account.accountId, [first?.id, quiet.id]],
    )
  }
}

/** A block by the instance ends follows. */
const followAll = () =>
  query(
    `insert into follow (follower_id, target_id, state, url)
     select a.actor_id, c.actor_id, 'accepted', 'https://x.example/' || a.id || '/' || c.id from account a, channel c
     where a.id = any($1) and c.id = any($2) on conflict (follower_id, target_id) do update set state = 'accepted'`,
    [
      [reader.accountId, other.accountId],
      [loudChannelId, other.channelId],
    ],
  )

const who = { reader: () => reader.client, other: () => other.client } as const
type Asking = keyof typeof who | 'nobody'

async function get<T>(asking: Asking, path: string): Promise<T> {
  const answer = asking === 'nobody' ? await fetch(node.base + path) : await who[asking]().raw(path)
  expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  return (await answer.json()) as T
}

/** How many of the loud one's things a page shows, and how many all of its pages count. */
type Seen = { loud: number; total: number }
const seenIn = ({ total, data }: Page): Seen => ({
  loud: data.filter((one) => JSON.stringify(one).includes(HOST)).length,
  total,
})
const listed = (path: string) => async (asking: Asking) => seenIn(await get<Page>(asking, path))

interface ListCase {
  list: string
  seen: (asking: Asking) => Promise<Seen>
  /** Things of the loud one in it, and in the total, while nothing is muted. */
  loud: number
  /** What one must be signed in for. */
  personal?: boolean
}

const lists: ListCase[] = [
  { list: 'all channels', seen: listed('/api/v1/video-channels'), loud: 1 },
  { list: 'channels with a word', seen: listed('/api/v1/video-channels?search=trumpet'), loud: 1 },
  { list: 'found channels', seen: listed('/api/v1/search/video-channels?search=channel'), loud: 1 },
  { list: 'channels by handle', seen: listed(`/api/v1/search/video-channels?handles=${CHANNEL}`), loud: 1 },
  { list: 'channels of the account', seen: listed(`/api/v1/accounts/${HANDLE}/video-channels`), loud: 1 },
  { list: 'all accounts', seen: listed('/api/v1/accounts'), loud: 1 },
  { list: 'all playlists', seen: listed('/api/v1/video-playlists'), loud: 1 },
  { list: 'found playlists', seen: listed('/api/v1/search/video-playlists?search=playlist'), loud: 1 },
  { list: 'playlists of the account', seen: listed(`/api/v1/accounts/${HANDLE}/video-playlists`), loud: 1 },
  { list: 'playlists of the channel', seen: listed(`/api/v1/video-channels/${CHANNEL}/video-playlists`), loud: 1 },
  { list: 'all videos', seen: listed('/api/v1/videos'), loud: 6 },
  { list: 'found videos', seen: listed('/api/v1/search/videos?search=concert'), loud: 6 },
  { list: 'videos of the account', seen: listed(`/api/v1/accounts/${HANDLE}/videos`), loud: 6 },
  { list: 'videos of the channel', seen: listed(`/api/v1/video-channels/${CHANNEL}/videos`), loud: 6 },
  { list: 'history', seen: listed('/api/v1/users/me/history/videos'), loud: 1, personal: true },
  {
    list: 'new videos of followed channels',
    seen: listed('/api/v1/users/me/subscriptions/videos'),
    loud: 6,
    personal: true,
  },
  {
    list: 'threads',
    loud: 1,
    seen: (asking) => listed(`/api/v1/videos/${commented.uuid}/comment-threads`)(asking),
  },
  {
    list: 'comments in the totals of threads and replies',
    loud: 2,
    async seen(asking) {
      const page = await get<{ totalNotDeletedComments: number; data: { text: string; totalReplies: number }[] }>(
        asking,
        `/api/v1/videos/${commented.uuid}/comment-threads`,
      )
      const replies = page.data.reduce((sum, { totalReplies }) => sum + totalReplies, 0)
      const threads = page.data.filter(({ text }) => text.startsWith('loud')).length
      return { loud: threads + replies, total: page.totalNotDeletedComments }
    },
  },
  {
    list: 'the overview',
    loud: 18,
    async seen(asking) {
      const overview = await get<Record<string, { videos: object[] }[]>>(asking, '/api/v1/overviews/videos')
      const data = Object.values(overview).flatMap((samples) => samples.flatMap(({ videos }) => videos))
      return seenIn({ data, total: data.length })
    },
  },
]

const owners = [
  { owner: 'the instance', path: '/api/v1/server/blocklist', by: () => root },
  { owner: 'the reader', path: '/api/v1/users/me/blocklist', by: () => reader.client },
] as const
const targets = [
  { what: 'account', body: { accountName: HANDLE }, gone: HANDLE },
  { what: 'server', body: { host: HOST }, gone: HOST },
] as const
const cases = owners.flatMap((owner) => targets.map((target) => ({ ...owner, ...target })))

describe.each(cases)('when $owner mutes the $what', ({ owner, path, by, what, body, gone }) => {
  const seen = new Map<string, Seen>()
  const asking: Asking[] = ['reader', 'other', 'nobody']
  const mayAsk = (one: ListCase, who: Asking) => !(one.personal && who === 'nobody')

  beforeAll(async () => {
    await followAll()
    for (const one of lists) {
      for (const who of asking) if (mayAsk(one, who)) seen.set(`${one.list} ${who}`, await one.seen(who))
    }
    await by().send('POST', `${path}/${what}s`, body)
  })
  afterAll(() => by().send('DELETE', `${path}/${what}s/${gone}`))

  it.each(lists)('$list: shown to those alone who do not mute it, with totals to match', async (one) => {
    for (const who of asking.filter((who) => mayAsk(one, who))) {
      const before = seen.get(`${one.list} ${who}`)
      expect({ who, loud: before?.loud }).toEqual({ who, loud: one.loud })
      const isHidden = owner === 'the instance' || who === 'reader'
      const expected = isHidden ? { loud: 0, total: (before?.total ?? 0) - one.loud } : before
      expect({ who, ...(await one.seen(who)) }).toEqual({ who, ...expected })
    }
  })

  it('the place in a playlist stays, and says nothing of the video', async () => {
    for (const who of asking) {
      const { total, data } = await get<{ total: number; data: { type: number; video: { name: string } | null }[] }>(
        who,
        `/api/v1/video-playlists/${playlistId}/videos`,
      )
      const shown = data.map(({ type, video }) => ({ type, name: video?.name }))
      const isHidden = owner === 'the instance' || who === 'reader'
      expect({ who, total, shown }).toEqual({
        ...{ who, total: 2 },
        shown: [
          isHidden ? { type: 3, name: undefined } : { type: 0, name: 'loud concert 0' },
          { type: 0, name: 'quiet concert' },
        ],
      })
    }
  })

  it('what is to be managed stays: subscriptions, comments below own videos, and all comments for the staff', async () => {
    if (owner === 'the reader') {
      const subscriptions = await get<Page>('reader', '/api/v1/users/me/subscriptions')
      expect(seenIn(subscriptions)).toEqual({ loud: 1, total: 2 })
    }
    const below = await get<Page>('reader', '/api/v1/users/me/videos/comments')
    expect(seenIn(below)).toEqual({ loud: 2, total: 3 })
    expect(seenIn(await root.get<Page>('/api/v1/videos/comments'))).toEqual({ loud: 2, total: 3 })
    expect(seenIn(await root.get<Page>(`/api/v1/accounts/${HANDLE}/video-channels`))).toEqual({ loud: 1, total: 1 })
    expect(seenIn(await root.get<Page>(`/api/v1/accounts/${HANDLE}/video-playlists`))).toEqual({ loud: 1, total: 1 })
  })
})

it('an account of ours that the instance mutes still sees its own channels, playlists and videos', async () => {
  const path = '/api/v1/server/blocklist/accounts'
  await root.send('POST', path, { accountName: 'other' })
  const own = ['accounts/other/video-channels', 'accounts/other/video-playlists', 'users/me/videos']
  for (const list of own) expect((await get<Page>('other', `/api/v1/${list}`)).total).toBeGreaterThan(0)
  for (const list of own.slice(0, 2)) expect((await get<Page>('nobody', `/api/v1/${list}`)).total).toBe(0)
  const { data } = await get<{ data: { type: number }[] }>('other', `/api/v1/video-playlists/${playlistId}/videos`)
  expect(data.map(({ type }) => type)).toEqual([0, 0])
  await root.send('DELETE', `${path}/other`)
})
