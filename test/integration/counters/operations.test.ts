// Random sequences of operations by users: every counter equals the count of its source rows afterwards.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { type MadeVideo, makeVideo } from '../../support/builders.ts'
import { wrongCounters } from '../../support/counters.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import fc from '../../support/properties.ts'
import { until } from '../../support/until.ts'
import { addUser, type Query } from '../me/users.ts'

const SEEDS = [1, 2, 3]
const OPERATIONS = 120
const USERS = 4
const VIDEOS = 5

type User = Awaited<ReturnType<typeof addUser>>

let node: TestNode
let query: Query
let closeDatabase: () => Promise<void>
let root: Client
/** How often each operation succeeded. */
const done = new Map<string, number>()

beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  const pool = new pg.Pool({ connectionString: node.databaseUrl, max: 3 })
  query = async <T>(sql: string, values: readonly unknown[] = []) => (await pool.query(sql, [...values])).rows as T[]
  closeDatabase = () => pool.end()
  root = await login(node.base, node.username, node.password)
})
afterAll(async () => {
  await closeDatabase?.()
  await node?.stop()
})

interface World {
  users: User[]
  videos: MadeVideo[]
}

async function newWorld(seed: number): Promise<World> {
  const users: User[] = []
  for (let place = 0; place < USERS; place += 1) {
    const user = await addUser(node, query, { username: `user_${seed}_${place}` })
    await send(user.client, 'make a channel', 'POST', 'video-channels', { name: secondOf(user), displayName: 'Second' })
    users.push(user)
  }
  const videos: MadeVideo[] = []
  for (let place = 0; place < VIDEOS; place += 1) {
    const { accountId } = users[place % 3] as User
    const channelId = (await one<{ id: number }>('select id from channel where account_id = $1 order by id', [accountId], place))?.id ?? 0
    videos.push(await makeVideo({ query }, { channelId, columns: { comments_policy: place === 0 ? 3 : 1 } }))
  }
  return { users, videos }
}

/** The numbers select among existing objects; an operation may be refused, but never fails with a server error. */
interface Choice {
  operation: string
  user: number
  video: number
  other: number
}

type Operation = (chosen: { user: User; video: MadeVideo; other: number; world: World }) => Promise<unknown>

async function send(client: Client, operation: string, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await client.raw(`/api/v1/${path}`, {
    method,
    ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  expect({ operation, status: answer.status, isServersFault: answer.status >= 500 }).toMatchObject({
    isServersFault: false,
  })
  if (answer.ok) done.set(operation, (done.get(operation) ?? 0) + 1)
  return answer.ok && text !== '' ? JSON.parse(text) : undefined
}

async function one<T>(sql: string, values: unknown[], which: number): Promise<T | undefined> {
  const rows = await query<T & object>(sql, values)
  return rows[which % Math.max(1, rows.length)]
}

const commentOf = ({ id }: MadeVideo, which: number, where = 'true') =>
  one<{ id: number }>(`select id from comment where video_id = $1 and ${where} order by id`, [id], which)
const playlistOf = ({ accountId }: User, which: number) =>
  one<{ id: number }>('select id from playlist where account_id = $1 order by id', [accountId], which)
const ownerOf = async ({ id }: MadeVideo, { users }: World): Promise<User | undefined> => {
  const [row] = await query<{ accountId: number }>(
    'select c.account_id as "accountId" from video v join channel c on c.id = v.channel_id where v.id = $1',
    [id],
  )
  return users.find(({ accountId }) => accountId === row?.accountId)
}

const operations: Record<string, { weight: number; run: Operation }> = {
  'write a thread': {
    weight: 6,
    run: ({ user, video }) => send(user.client, 'write a thread', 'POST', `videos/${video.uuid}/comment-threads`, { text: 'a' }),
  },
  reply: {
    weight: 6,
    async run({ user, video, other }) {
      const comment = await commentOf(video, other, 'deleted_at is null')
      if (comment) await send(user.client, 'reply', 'POST', `videos/${video.uuid}/comments/${comment.id}`, { text: 'b' })
    },
  },
  'remove a comment': {
    weight: 4,
    async run({ user, video, other, world }) {
      const comment = await commentOf(video, other)
      const by = other % 2 === 0 ? await ownerOf(video, world) : user
      if (comment && by) await send(by.client, 'remove a comment', 'DELETE', `videos/${video.uuid}/comments/${comment.id}`)
    },
  },
  'approve a comment': {
    weight: 4,
    async run({ video, other }) {
      const comment = await commentOf(video, other, 'held_for_review')
      const path = `videos/${video.uuid}/comments/${comment?.id}/approve`
      if (comment) await send(root, 'approve a comment', 'POST', path)
    },
  },
  rate: {
    weight: 8,
    run: ({ user, video, other }) =>
      send(user.client, 'rate', 'PUT', `videos/${video.uuid}/rate`, { rating: ['like', 'dislike', 'none'][other % 3] }),
  },
  subscribe: {
    weight: 4,
    run: ({ user, other, world }) => send(user.client, 'subscribe', 'POST', 'users/me/subscriptions', { uri: channelOf(world, other) }),
  },
  unsubscribe: {
    weight: 3,
    run: ({ user, other, world }) => send(user.client, 'unsubscribe', 'DELETE', `users/me/subscriptions/${channelOf(world, other)}`),
  },
  'make a playlist': {
    weight: 2,
    run: ({ user }) => send(user.client, 'make a playlist', 'POST', 'video-playlists', { displayName: 'Mine', privacy: 3 }),
  },
  'add to a playlist': {
    weight: 6,
    async run({ user, video, other }) {
      const playlist = await playlistOf(user, other)
      const path = `video-playlists/${playlist?.id}/videos`
      if (playlist) await send(user.client, 'add to a playlist', 'POST', path, { videoId: video.uuid })
    },
  },
  'take from a playlist': {
    weight: 3,
    async run({ user, other }) {
      const element = await one<{ id: number; playlistId: number }>(
        `select e.id, e.playlist_id as "playlistId" from playlist_element e join playlist p on p.id = e.playlist_id
         where p.account_id = $1 order by e.id`,
        [user.accountId],
        other,
      )
      const path = `video-playlists/${element?.playlistId}/videos/${element?.id}`
      if (element) await send(user.client, 'take from a playlist', 'DELETE', path)
    },
  },
  'remove a playlist': {
    weight: 1,
    async run({ user, other }) {
      const playlist = await playlistOf(user, other)
      if (playlist) await send(user.client, 'remove a playlist', 'DELETE', `video-playlists/${playlist.id}`)
    },
  },
  'change a video': {
    weight: 6,
    run: ({ video, other }) =>
      send(root, 'change a video', 'PUT', `videos/${video.uuid}`, {
        privacy: [1, 2, 3, 4][other % 4],
        nsfw: other % 3 === 0,
        commentsPolicy: [1, 3, 1][other % 3],
      }),
  },
  'block a video': {
    weight: 2,
    run: ({ video }) => send(root, 'block a video', 'POST', `videos/${video.uuid}/blacklist`, { reason: 'a reason' }),
  },
  'unblock a video': {
    weight: 3,
    run: ({ video }) => send(root, 'unblock a video', 'DELETE', `videos/${video.uuid}/blacklist`),
  },
  'give a video away': {
    weight: 3,
    async run({ user, video, world }) {
      const owner = await ownerOf(video, world)
      if (!owner) return
      await send(owner.client, 'offer a video', 'POST', `videos/${video.uuid}/give-ownership`, {
        username: user.username,
      })
      const offer = await one<{ id: number }>(
        "select id from ownership_change where video_id = $1 and receiver_id = $2 and state = 'waiting'",
        [video.id, user.accountId],
        0,
      )
      const path = `videos/ownership/${offer?.id}/accept`
      if (offer) await send(user.client, 'give a video away', 'POST', path, { channelId: user.channelId })
    },
  },
  'remove comments of somebody': {
    weight: 1,
    run: ({ user, other, world }) =>
      send(root, 'remove comments of somebody', 'POST', 'bulk/remove-comments-of', {
        accountName: world.users[other % USERS]?.username ?? user.username,
        scope: 'instance',
      }),
  },
  'remove a video': {
    weight: 1,
    run: ({ video }) => send(root, 'remove a video', 'DELETE', `videos/${video.uuid}`),
  },
}

const secondOf = ({ username }: User): string => `${username}_second`

const channelOf = ({ users }: World, which: number): string => `${users[which % users.length]?.username}_channel@${new URL(node.base).host}`

/** Waits until the outbox is empty. */
async function quiet(): Promise<void> {
  await until(
    async () => {
      const [row] = await query<{ waiting: number }>(
        `select ((select count(*) from outbox) + (select count(*) from job where state in ('waiting', 'active')))::int as waiting`,
      )
      return row?.waiting === 0
    },
    { what: 'the end of what follows' },
  )
}

const choices = fc.array(
  fc.record({
    operation: fc.oneof(...Object.entries(operations).map(([name, { weight }]) => ({ weight, arbitrary: fc.constant(name) }))),
    user: fc.nat({ max: USERS - 1 }),
    video: fc.nat({ max: VIDEOS - 1 }),
    other: fc.nat({ max: 11 }),
  }),
  { minLength: OPERATIONS, maxLength: OPERATIONS },
)

it.each(SEEDS)(
  'counters are right after many operations in the order of seed %s, and after removals of a channel and of users',
  async (seed) => {
    const world = await newWorld(seed)
    const [chosen = []] = fc.sample<Choice[]>(choices, { seed, numRuns: 1 })
    // Some run at once.
    for (let start = 0; start < chosen.length; start += 3) {
      await Promise.all(
        chosen.slice(start, start + 3).map(async ({ operation, user, video, other }) => {
          const at = { user: world.users[user], video: world.videos[video] }
          if (at.user && at.video) await operations[operation]?.run({ user: at.user, video: at.video, other, world })
        }),
      )
    }
    await quiet()
    expect(await wrongCounters({ query })).toEqual([])

    const [first, second, third] = world.users as [User, User, User, User]
    await send(first.client, 'remove a channel', 'DELETE', `video-channels/${secondOf(first)}`)
    await quiet()
    expect(await wrongCounters({ query })).toEqual([])

    await send(second.client, 'remove oneself', 'DELETE', 'users/me')
    await send(root, 'remove a user', 'DELETE', `users/${third.id}`)
    await quiet()
    expect(await wrongCounters({ query })).toEqual([])
  },
)

it('every operation succeeded at least once', () => {
  const never = Object.keys(operations).filter((operation) => !done.has(operation))
  expect({
    never,
    removals: ['remove a channel', 'remove oneself', 'remove a user'].map((name) => done.get(name)),
  }).toEqual({
    never: [],
    removals: SEEDS.map(() => SEEDS.length),
  })
})
