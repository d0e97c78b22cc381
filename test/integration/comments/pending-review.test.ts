// Replies to a comment pending review: hidden with it, then counted and sent when it is approved.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { foldDeltas, reconcileCounters } from '../../../src/actors/video/index.ts'
import { type MadeUser, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { as, type CommentServer, startCommentServer } from './server.ts'

interface View {
  id: number
  text: string
  isDeleted: boolean
  heldForReview: boolean
  totalReplies: number
}

let server: CommentServer
let owner: MadeUser

beforeAll(async () => {
  server = await startCommentServer()
  owner = await server.addUser('owner')
  await server.addUser('author')
})
afterAll(() => server.stop())

const newVideo = () => makeVideo(server.db, { channelId: owner.channelId, bare: true, columns: { comments_policy: 3 } })

const ask = async (method: 'GET' | 'POST' | 'DELETE', videoId: number, path: string, by?: string, text?: string) => {
  const url = `/api/v1/videos/${videoId}/${path}`
  const answer = await server.app.inject({
    method,
    url,
    headers: by ? as(by) : {},
    ...(text === undefined ? {} : { payload: { text } }),
  })
  return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() }
}

async function say(videoId: number, by: string, text: string, to?: number): Promise<number> {
  const { body } = await ask('POST', videoId, to === undefined ? 'comment-threads' : `comments/${to}`, by, text)
  return body.comment.id
}
const approve = async (videoId: number, id: number) =>
  expect((await ask('POST', videoId, `comments/${id}/approve`, 'owner')).status).toBe(204)
const remove = async (videoId: number, id: number) => expect((await ask('DELETE', videoId, `comments/${id}`, 'owner')).status).toBe(204)

const threads = async (videoId: number, by?: string): Promise<{ data: View[]; totalNotDeletedComments: number }> =>
  (await ask('GET', videoId, 'comment-threads', by)).body

/** The counters, including unfolded deltas, after a reconciliation. */
async function counted(videoId: number): Promise<{ kept: number; right: number }> {
  const kept = async () => {
    const [row] = await server.db.query<{ n: number }>(
      `select comments + (select coalesce(sum(comments), 0) from video_delta where video_id = $1)::int as n
       from video where id = $1`,
      [videoId],
    )
    return row?.n ?? 0
  }
  const before = await kept()
  while ((await foldDeltas(server.db)) > 0);
  await reconcileCounters(server.db)
  return { kept: before, right: await kept() }
}
const both = (n: number) => ({ kept: n, right: n })
const sent = async () => (await server.events()).map(({ name, payload }) => [name, Object.values(payload)[0]])

/** A pending comment, a reply of the video owner, an approved reply of the comment's author to that, and another pending reply. */
async function thread() {
  const video = await newVideo()
  const top = await say(video.id, 'author', 'May I?')
  const answer = await say(video.id, 'owner', 'Soon', top)
  const approved = await say(video.id, 'author', 'Thanks', answer)
  const waiting = await say(video.id, 'author', 'Well?', top)
  await approve(video.id, approved)
  await server.events()
  return { video, top, answer, approved, waiting }
}

describe('below a pending comment', () => {
  it('nothing is counted or visible, whatever is approved there', async () => {
    const { video } = await thread()
    expect(await threads(video.id)).toMatchObject({ data: [], totalNotDeletedComments: 0 })
    expect(await counted(video.id)).toEqual(both(0))
  })

  it('replies that are not pending are counted once it is approved, and sent after it, parents first', async () => {
    const { video, top, answer, approved, waiting } = await thread()
    await approve(video.id, top)
    expect(await sent()).toEqual([
      ['CommentApproved', top],
      ['CommentShown', answer],
      ['CommentShown', approved],
    ])
    expect(await threads(video.id)).toMatchObject({ data: [{ id: top, totalReplies: 2 }], totalNotDeletedComments: 3 })
    expect(await counted(video.id)).toEqual(both(3))
    await approve(video.id, waiting)
    expect(await sent()).toEqual([['CommentApproved', waiting]])
    expect(await counted(video.id)).toEqual(both(4))
  })

  it('many replies are sent in batches, each once, and no more once it is pending again', async () => {
    const video = await newVideo()
    const top = await say(video.id, 'author', 'May I?')
    const answers = await server.db.query<{ id: number }>(
      `insert into comment (url, video_id, account_id, text, thread_id, parent_id)
       select 'http://x/many/' || $1::int || '/' || n, $2, $3, 'One of many', $1, $1 from generate_series(1, 230) n
       returning id`,
      [top, video.id, owner.accountId],
    )
    await server.events()
    await approve(video.id, top)
    const waiting = await server.db.query(
      `select event, count(*)::int as n from outbox where event in ('CommentApproved', 'CommentShown', 'AnswersShown')
       group by 1 order by 1`,
    )
    expect(waiting).toEqual([
      { event: 'AnswersShown', n: 1 },
      { event: 'CommentApproved', n: 1 },
      { event: 'CommentShown', n: 100 },
    ])
    expect(await sent()).toEqual([['CommentApproved', top], ...answers.map(({ id }) => ['CommentShown', id])])
    expect(await counted(video.id)).toEqual(both(231))

    await server.db.query('update comment set held_for_review = true where id = $1', [top])
    await approve(video.id, top)
    await server.db.query('update comment set held_for_review = true where id = $1', [top])
    expect(await sent()).toHaveLength(101)
  })

  it('replies remain when it is rejected; it becomes a placeholder', async () => {
    const { video, top, answer, approved } = await thread()
    await remove(video.id, top)
    expect(await sent()).toEqual([
      ['CommentShown', answer],
      ['CommentShown', approved],
    ])
    for (const by of [undefined, 'owner']) {
      const { data } = await threads(video.id, by)
      expect(data).toMatchObject([{ id: top, text: '', isDeleted: true, heldForReview: false }])
    }
    expect((await threads(video.id)).totalNotDeletedComments).toBe(2)
    expect(await counted(video.id)).toEqual(both(2))
  })

  it('removed replies were never counted', async () => {
    const { video, top, answer } = await thread()
    await remove(video.id, answer)
    expect(await counted(video.id)).toEqual(both(0))
    await approve(video.id, top)
    expect(await counted(video.id)).toEqual(both(2))
  })

  it('a reply at the moment of its approval is counted once', async () => {
    const video = await newVideo()
    const top = await say(video.id, 'author', 'May I?')
    const answers = Array.from({ length: 6 }, (_, n) => say(video.id, 'owner', `Answer ${n}`, top))
    await Promise.all([...answers, approve(video.id, top)])
    expect(await counted(video.id)).toEqual(both(7))
  })
})

it('an edited comment is pending again, with its replies', async () => {
  const video = await newVideo()
  const remote = await makeRemoteChannel(server.db)
  const url = `https://${remote.host}/notes/edited`
  await server.comments.receiveComment({
    url,
    videoId: video.id,
    accountId: remote.accountId,
    parentUrl: null,
    content: 'One',
    mediaType: 'text/plain',
    createdAt: new Date('2024-01-01'),
  })
  const [row] = await server.db.query<{ id: number; actorId: number }>(
    'select m.id, a.actor_id as "actorId" from comment m join account a on a.id = m.account_id where m.url = $1',
    [url],
  )
  const { id, actorId } = row ?? { id: 0, actorId: 0 }
  await approve(video.id, id)
  await say(video.id, 'owner', 'Fine', id)
  expect(await counted(video.id)).toEqual(both(2))
  const edit = { commentId: id, actorId, content: 'Two', mediaType: 'text/plain', updatedAt: null, activity: null }
  await server.reviews.receiveEdit(edit)
  expect((await threads(video.id)).totalNotDeletedComments).toBe(0)
  expect(await counted(video.id)).toEqual(both(0))
  await approve(video.id, id)
  expect(await counted(video.id)).toEqual(both(2))
})
