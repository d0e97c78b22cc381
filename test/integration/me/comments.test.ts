// Lists of comments: those on one's own videos, and all comments for the staff.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../../scripts/demo/client.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { addUser, openDatabase, type Query } from './users.ts'

interface Comments {
  total: number
  data: { text: string; heldForReview: boolean; threadId: number; inReplyToCommentId: number | null }[]
}

type User = Awaited<ReturnType<typeof addUser>>

let node: TestNode
let query: Query
let close: () => Promise<void>
let owner: User
let guest: User
let moderator: User
let cats: MadeVideo
let dogs: MadeVideo

beforeAll(async () => {
  node = await startTestNode()
  ;({ query, close } = await openDatabase(node))
  owner = await addUser(node, query, { username: 'owner' })
  guest = await addUser(node, query, { username: 'guest' })
  moderator = await addUser(node, query, { username: 'moderator', role: 1 })
  cats = await makeVideo({ query }, { channelId: owner.channelId, columns: { name: 'About cats' } })
  dogs = await makeVideo({ query }, { channelId: owner.channelId, columns: { name: 'Dogs', comments_policy: 3 } })
  const foreign = await makeVideo({ query }, { channelId: guest.channelId })
  const thread = await write(guest.client, cats, 'First of 100%')
  await write(owner.client, cats, 'An answer', thread)
  await write(guest.client, dogs, 'Wait for me')
  await write(guest.client, foreign, 'Not here')
  const removed = await write(guest.client, cats, 'Removed')
  await guest.client.send('DELETE', `/api/v1/videos/${cats.uuid}/comments/${removed}`)
})
afterAll(async () => {
  await close?.()
  await node?.stop()
})

async function write(client: Client, video: MadeVideo, text: string, parent?: number): Promise<number> {
  const path = parent === undefined ? 'comment-threads' : `comments/${parent}`
  const { comment } = await client.send<{ comment: { id: number } }>('POST', `/api/v1/videos/${video.uuid}/${path}`, {
    text,
  })
  return comment.id
}
const list = (query: string, client = owner.client) => client.get<Comments>(`/api/v1/users/me/videos/comments?${query}`)
const texts = async (query: string) => (await list(query)).data.map(({ text }) => text)
const status = async (query: string, client: Client) => (await client.raw(`/api/v1/users/me/videos/comments?${query}`)).status

it('are those on all own videos, newest first, including pending ones', async () => {
  const all = await list('')
  expect(all.total).toBe(3)
  expect(all.data.map(({ text, heldForReview }) => [text, heldForReview])).toEqual([
    ['Wait for me', true],
    ['An answer', false],
    ['First of 100%', false],
  ])
  expect(all.data[1]).toMatchObject({
    threadId: all.data[2]?.threadId,
    inReplyToCommentId: all.data[2]?.threadId,
    automaticTags: [],
    videoId: cats.id,
    video: { id: cats.id, uuid: cats.uuid, name: 'About cats' },
    account: { name: 'owner' },
  })
})

it.each([
  ['search=answer', ['An answer']],
  ['search=CATS', ['An answer', 'First of 100%']],
  ['search=100%25', ['First of 100%']],
  ['search=1%25%25', []],
  ['searchAccount=guest', ['Wait for me', 'First of 100%']],
  ['searchVideo=dogs', ['Wait for me']],
  ['isHeldForReview=true', ['Wait for me']],
  ['isHeldForReview=false&sort=createdAt', ['First of 100%', 'An answer']],
  ['autoTagOneOf=external-link', []],
  ['sort=name&count=1', ['First of 100%']],
  ['sort=-name&count=1', ['Wait for me']],
  ['start=1&count=1', ['An answer']],
  ['count=0', []],
])('are filtered by %s', async (query, expected) => {
  expect(await texts(query)).toEqual(expected)
})

it('on one video or channel are for its owner', async () => {
  expect(await texts(`videoId=${dogs.id}&videoChannelId=${owner.channelId}`)).toEqual(['Wait for me'])
  expect(await texts(`videoId=${dogs.id}&search=answer`)).toEqual([])
  expect(await status(`videoId=${dogs.id}`, guest.client)).toBe(403)
  expect(await status(`videoChannelId=${owner.channelId}`, guest.client)).toBe(403)
  expect(await list(`videoId=${dogs.id}`, moderator.client)).toEqual({ total: 0, data: [] })
  expect(await status('videoId=424242', owner.client)).toBe(404)
  expect(await status('videoChannelId=424242', owner.client)).toBe(404)
})

it('are refused with all invalid filters', async () => {
  const answer = await owner.client.raw(
    '/api/v1/users/me/videos/comments?sort=x&isHeldForReview=maybe&videoId=x&videoChannelId=-1&count=1000',
  )
  expect(answer.status).toBe(400)
  expect(Object.keys((await answer.json())['invalid-params']).sort()).toEqual(
    ['count', 'isHeldForReview', 'sort', 'videoChannelId', 'videoId'].sort(),
  )
})

describe('all comments', () => {
  const all = async (query: string) => {
    const { total, data } = await moderator.client.get<Comments>(`/api/v1/videos/comments?${query}`)
    return { total, texts: data.map(({ text }) => text) }
  }
  beforeAll(async () => {
    const away = await makeRemoteChannel({ query }, { host: 'away.example' })
    const remote = await makeVideo(
      { query },
      { channelId: away.channelId, remoteOrigin: 'https://away.example', columns: { name: 'From away' } },
    )
    const rows = [
      [remote.id, guest.accountId, 'Said there'],
      [dogs.id, away.accountId, 'Said from there'],
    ]
    for (const [videoId, accountId, text] of rows) {
      await query(
        `insert into comment (video_id, account_id, url, text, held_for_review, created_at)
         values ($1, $2, 'https://away.example/' || $3::text, $3, false, now() - interval '1 hour')`,
        [videoId, accountId, text],
      )
    }
  })

  it('are listed with pending and without removed ones, newest first', async () => {
    expect(await all('')).toEqual({
      total: 6,
      texts: ['Not here', 'Wait for me', 'An answer', 'First of 100%', 'Said from there', 'Said there'],
    })
    expect(await all('sort=createdAt&count=1&start=1')).toEqual({ total: 6, texts: ['Said from there'] })
    expect(await all('start=50')).toEqual({ total: 6, texts: [] })
  })

  it.each([
    ['isLocal=false', ['Said from there']],
    ['isLocal=true&search=said', ['Said there']],
    ['onLocalVideo=false', ['Said there']],
    ['onLocalVideo=true&searchAccount=guest', ['Not here', 'Wait for me', 'First of 100%']],
    ['isHeldForReview=true', ['Wait for me']],
    ['search=FROM AWAY', ['Said there']],
    ['search=100%25', ['First of 100%']],
    ['searchVideo=cats', ['An answer', 'First of 100%']],
    ['autoTagOneOf=external-link', []],
  ])('are filtered by %s', async (query, texts) => {
    expect(await all(query)).toEqual({ total: texts.length, texts })
  })

  it('on one video or channel are found by its id', async () => {
    expect((await all(`videoId=${cats.id}`)).texts).toEqual(['An answer', 'First of 100%'])
    expect((await all(`videoChannelId=${guest.channelId}`)).texts).toEqual(['Not here'])
    expect((await moderator.client.raw('/api/v1/videos/comments?videoId=424242')).status).toBe(404)
  })

  it('on a video that is being removed are not listed', async () => {
    await query("update video set state = 'removed' where id = $1", [cats.id])
    expect((await all('')).total).toBe(4)
    expect((await all('')).texts).toHaveLength(4)
    expect((await list('')).total).toBe(2)
    await query("update video set state = 'published' where id = $1", [cats.id])
  })

  it('are for the staff', async () => {
    expect((await owner.client.raw('/api/v1/videos/comments')).status).toBe(403)
    expect((await fetch(`${node.base}/api/v1/videos/comments`)).status).toBe(401)
  })
})
