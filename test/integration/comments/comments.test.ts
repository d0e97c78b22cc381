// Local and remote comments: what is stored, who may remove it, and concurrent changes.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { userRoles } from '../../../src/actors/user/index.ts'
import { DEEPEST_LEVEL } from '../../../src/http/comments/views.ts'
import { type MadeUser, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { as, type CommentServer, startCommentServer } from './server.ts'

let server: CommentServer
let owner: MadeUser
let author: MadeUser
let remote: { accountId: number; actorId: number; channelId: number; host: string }

beforeAll(async () => {
  server = await startCommentServer()
  owner = await server.addUser('owner')
  author = await server.addUser('author')
  await server.addUser('stranger')
  await server.addUser('moderator', 1)
  remote = await remoteAccount()
})
afterAll(() => server.stop())

async function remoteAccount() {
  const made = await makeRemoteChannel(server.db)
  const [account] = await server.db.query<{ actorId: number }>('select actor_id as "actorId" from account where id = $1', [made.accountId])
  return { ...made, actorId: account?.actorId ?? 0 }
}

const newVideo = (columns: Record<string, unknown> = {}) => makeVideo(server.db, { channelId: owner.channelId, bare: true, columns })

const newRemoteVideo = () => makeVideo(server.db, { channelId: remote.channelId, bare: true, remoteOrigin: `https://${remote.host}` })

async function post(videoId: number, text: string, options: { by?: string; to?: number } = {}) {
  const { by = 'author', to } = options
  const path = to === undefined ? 'comment-threads' : `comments/${to}`
  const url = `/api/v1/videos/${videoId}/${path}`
  const answer = await server.app.inject({ method: 'POST', url, headers: as(by), payload: { text } })
  return { status: answer.statusCode, comment: answer.json().comment }
}

const remove = async (videoId: number, commentId: number, by: string): Promise<number> =>
  (
    await server.app.inject({
      method: 'DELETE',
      url: `/api/v1/videos/${videoId}/comments/${commentId}`,
      headers: as(by),
    })
  ).statusCode

async function threads(videoId: number, by?: string) {
  const url = `/api/v1/videos/${videoId}/comment-threads`
  return (await server.app.inject({ url, headers: by ? as(by) : {} })).json()
}

const unfolded = async (videoId: number): Promise<number> => {
  const [row] = await server.db.query<{ n: number }>('select coalesce(sum(comments), 0)::int as n from video_delta where video_id = $1', [
    videoId,
  ])
  return row?.n ?? 0
}

let serial = 0
function fromRemote(videoId: number, content: string, options: { url?: string; parentUrl?: string; at?: Date } = {}) {
  serial += 1
  const { url = `https://${remote.host}/notes/${serial}`, parentUrl = null, at = new Date('2024-01-01') } = options
  const { accountId } = remote
  return { url, videoId, accountId, parentUrl, content, mediaType: 'text/html', createdAt: at }
}

const idOf = async (url: string): Promise<number> => {
  const [row] = await server.db.query<{ id: number }>('select id from comment where url = $1', [url])
  return row?.id ?? 0
}

describe('a local comment', () => {
  it('has its id in its URL, is counted, and sent once', async () => {
    const video = await newVideo()
    await server.events()
    const { comment } = await post(video.id, 'hello')
    expect(comment.url).toBe(`${video.url}/comments/${comment.id}`)
    expect(await unfolded(video.id)).toBe(1)
    expect(await server.events()).toEqual([{ name: 'CommentCreated', payload: { commentId: comment.id } }])
  })

  it('may reply on a remote video', async () => {
    const video = await newRemoteVideo()
    const { status, comment } = await post(video.id, 'from here')
    expect(status).toBe(200)
    expect(comment.url).toBe(`http://localhost:9000/videos/watch/${video.uuid}/comments/${comment.id}`)
  })

  it('is refused with 404 on a video that is being removed, or is gone', async () => {
    const video = await newVideo()
    await server.db.query("update video set state = 'removed' where id = $1", [video.id])
    const late = { videoId: video.id, by: { accountId: author.accountId, role: userRoles.user }, text: 'late' }
    await expect(server.comments.add(late)).rejects.toMatchObject({ kind: 'not_found' })
    await server.db.query('delete from video where id = $1', [video.id])
    await expect(server.comments.add(late)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('is refused on the thread of another video, and with characters that cannot be stored', async () => {
    const [one, other] = [await newVideo(), await newVideo()]
    const { comment } = await post(one.id, 'here')
    expect((await post(other.id, 'there', { to: comment.id })).status).toBe(400)
    expect((await post(one.id, 'a\0b')).status).toBe(400)
    expect(await unfolded(other.id)).toBe(0)
  })

  it('can be replied to, and is visible to its author, even if the instance mutes the author or the author mutes its parent', async () => {
    const video = await newVideo()
    const { comment } = await post(video.id, 'by the stranger', { by: 'stranger' })
    await server.db.query(
      `insert into account_block (owner_id, target_id) select null::int, $1::int union all
       select $1, account_id from comment where id = $2`,
      [author.accountId, comment.id],
    )
    const said = await post(video.id, 'by the muted')
    expect(said).toMatchObject({ status: 200, comment: { text: 'by the muted' } })
    expect(await post(video.id, 'an answer', { to: comment.id })).toMatchObject({ status: 200 })
    const textsFor = async (by?: string) => (await threads(video.id, by)).data.map((row: { text: string }) => row.text)
    expect(await textsFor('author')).toEqual(['by the muted'])
    expect(await textsFor('owner')).toEqual(['by the stranger'])
    await server.db.query('delete from account_block')
  })

  it('is trimmed, and refused when nothing else is left', async () => {
    const video = await newVideo()
    for (const text of ['   ', ' \n\t', '\u0001\u0002']) expect((await post(video.id, text)).status).toBe(400)
    expect((await post(video.id, '\n two words  ')).comment.text).toBe('two words')
    expect(await unfolded(video.id)).toBe(1)
  })
})

describe('comments pending review', () => {
  it('are not created by the owner and the staff; on a remote video its owner approves them', async () => {
    const video = await newVideo({ comments_policy: 3 })
    const held = async (by: string) => (await post(video.id, 'hi', { by })).comment.heldForReview
    expect([await held('author'), await held('owner'), await held('moderator')]).toEqual([true, false, false])
    const foreign = await newRemoteVideo()
    await server.db.query('update video set comments_policy = 3 where id = $1', [foreign.id])
    expect((await post(foreign.id, 'hi')).comment.heldForReview).toBe(true)
  })

  it('can be replied to only by those who see them, and hide their replies', async () => {
    const video = await newVideo({ comments_policy: 3 })
    const { comment } = await post(video.id, 'may I?')
    expect((await post(video.id, 'hm', { by: 'stranger', to: comment.id })).status).toBe(404)
    expect((await post(video.id, 'early', { by: 'owner', to: comment.id })).status).toBe(200)
    expect(await threads(video.id)).toEqual({ total: 0, data: [], totalNotDeletedComments: 0 })
    expect((await threads(video.id, 'owner')).totalNotDeletedComments).toBe(2)
  })

  it('are removed without a Delete', async () => {
    const video = await newVideo({ comments_policy: 3 })
    const { comment } = await post(video.id, 'may I?')
    await server.events()
    expect(await remove(video.id, comment.id, 'owner')).toBe(204)
    expect(await server.events()).toEqual([])
    expect(await unfolded(video.id)).toBe(0)
  })
})

it('a video with comments disabled since then shows none', async () => {
  const video = await newVideo()
  const { comment } = await post(video.id, 'hello')
  await server.db.query('update video set comments_policy = 2 where id = $1', [video.id])
  expect(await threads(video.id)).toEqual({ total: 0, data: [], totalNotDeletedComments: 0 })
  expect((await server.app.inject(`/api/v1/videos/${video.id}/comment-threads/${comment.id}`)).statusCode).toBe(404)
})

describe('a remote comment', () => {
  it('is stored once, however often it is received', async () => {
    const video = await newVideo()
    await server.events()
    const comment = fromRemote(video.id, '<p>hello</p>')
    const receive = server.comments.receiveComment
    const answers = await Promise.all([receive(comment), receive(comment)])
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(await receive({ ...comment, content: 'other words' })).toEqual({ isNew: false, isPendingReview: false })
    const { accountId } = await remoteAccount()
    await expect(receive({ ...comment, accountId })).rejects.toMatchObject({ kind: 'forbidden' })
    const { total, data } = await threads(video.id)
    expect(total).toBe(1)
    expect(data[0]).toMatchObject({ url: comment.url, text: 'hello', account: { host: remote.host } })
    expect(await unfolded(video.id)).toBe(1)
    expect(await server.events()).toEqual([{ name: 'CommentCreated', payload: { commentId: data[0].id } }])
  })

  it('is stored beside others of the same batch, of which some are refused', async () => {
    const [video, other] = [await newVideo(), await newVideo()]
    const closed = await newVideo({ comments_policy: 2 })
    await server.events()
    const { accountId } = await remoteAccount()
    const first = fromRemote(video.id, 'first')
    const arriving = [
      first,
      fromRemote(closed.id, 'not here'),
      { ...first, accountId },
      fromRemote(video.id, 'reply', { parentUrl: 'https://nowhere.example/1' }),
      fromRemote(video.id, '<p></p>'),
      fromRemote(0, 'below nothing'),
      fromRemote(other.id, 'second'),
      fromRemote(video.id, 'third'),
    ]
    const answers = await Promise.allSettled(arriving.map(server.comments.receiveComment))
    expect(answers.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.kind))).toEqual([
      { isNew: true, isPendingReview: false },
      'conflict',
      'forbidden',
      'not_found',
      'unprocessable',
      'not_found',
      { isNew: true, isPendingReview: false },
      { isNew: true, isPendingReview: false },
    ])
    expect([await unfolded(video.id), await unfolded(other.id), await unfolded(closed.id)]).toEqual([2, 1, 0])
    const ids = await Promise.all([0, 6, 7].map((at) => idOf(arriving[at]?.url ?? '')))
    expect(await server.events()).toEqual(ids.map((commentId) => ({ name: 'CommentCreated', payload: { commentId } })))
  })

  it('is stored alone when another one of the same batch fails', async () => {
    const video = await newVideo()
    await server.events()
    let tries = 0
    const broken = {
      ...fromRemote(video.id, 'broken'),
      passOn: async () => {
        tries += 1
        throw new Error('cannot be passed on')
      },
    }
    const receive = server.comments.receiveComment
    const answers = await Promise.allSettled([receive(fromRemote(video.id, 'one')), receive(broken), receive(fromRemote(video.id, 'two'))])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(tries).toBe(2)
    expect(await unfolded(video.id)).toBe(2)
    expect(await server.events()).toHaveLength(2)
    await receive({ ...broken, passOn: async () => {} })
    expect(await unfolded(video.id)).toBe(3)
  })

  it('does not wait for a locked video, unless it is below that one', async () => {
    const [held, free] = [await newVideo(), await newVideo()]
    const answered: string[] = []
    const receive = async (videoId: number, text: string) => {
      const { isNew } = await server.comments.receiveComment(fromRemote(videoId, text))
      answered.push(`${text} ${isNew}`)
    }
    let below: Promise<void> | undefined
    await server.db.transaction(async ({ query }) => {
      await query('select 1 from video where id = $1 for update', [held.id])
      below = receive(held.id, 'held')
      await receive(free.id, 'free')
      await receive(free.id, 'later')
      expect(answered).toEqual(['free true', 'later true'])
    })
    await below
    expect(answered).toEqual(['free true', 'later true', 'held true'])
  })

  it.each([
    ['<p>one</p><p>two<br>three</p>', 'one\n\ntwo\nthree'],
    ['<script>alert(1)</script>safe <img src=x onerror=alert(1)>', 'safe'],
    ['1 &lt; 2 &amp;&amp; 3 &gt; 2', '1 < 2 && 3 > 2'],
    ['see <a href="https://a.example/b">this</a>', 'see this (https://a.example/b)'],
    ['<a href="javascript:alert(1)">click</a>', 'click'],
    ['<p><span class="h-card"><a href="https://a.example/@b">@<span>b</span></a></span> hi</p>', '@b hi'],
  ])('loses its markup: %s', async (content, text) => {
    const video = await newVideo()
    await server.comments.receiveComment(fromRemote(video.id, content))
    expect((await threads(video.id)).data[0].text).toBe(text)
  })

  it('is refused without text, under an unknown comment, or under a comment of another video', async () => {
    const [one, other] = [await newVideo(), await newVideo()]
    const known = fromRemote(other.id, 'known')
    await server.comments.receiveComment(known)
    const receive = server.comments.receiveComment
    await expect(receive(fromRemote(one.id, '<p></p>'))).rejects.toMatchObject({ kind: 'unprocessable' })
    const unknown = { parentUrl: 'https://nowhere.example/1' }
    await expect(receive(fromRemote(one.id, 'hi', unknown))).rejects.toMatchObject({ kind: 'not_found' })
    const elsewhere = { parentUrl: known.url }
    await expect(receive(fromRemote(one.id, 'hi', elsewhere))).rejects.toMatchObject({ kind: 'not_found' })
    expect((await threads(one.id)).total).toBe(0)
  })

  it('is refused on a private video, and where comments are disabled', async () => {
    const receive = server.comments.receiveComment
    const hidden = await newVideo({ privacy: 3 })
    await expect(receive(fromRemote(hidden.id, 'hi'))).rejects.toMatchObject({ kind: 'forbidden' })
    const closed = await newVideo({ comments_policy: 2 })
    await expect(receive(fromRemote(closed.id, 'hi'))).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('is pending where comments need approval, and is not counted until then', async () => {
    const video = await newVideo({ comments_policy: 3 })
    const received = fromRemote(video.id, 'may I?')
    expect(await server.comments.receiveComment(received)).toEqual({ isNew: true, isPendingReview: true })
    expect((await threads(video.id)).total).toBe(0)
    expect((await threads(video.id, 'owner')).data[0].heldForReview).toBe(true)
    expect(await unfolded(video.id)).toBe(0)
  })

  it('is not sorted first because of a future date', async () => {
    const video = await newVideo()
    await server.comments.receiveComment(fromRemote(video.id, 'first!', { at: new Date('2999-01-01') }))
    const { comment } = await post(video.id, 'later')
    const { data } = await threads(video.id)
    expect(data.map((one: { id: number }) => one.id)[0]).toBe(comment.id)
  })

  it('is truncated to the maximum length', async () => {
    const video = await newVideo()
    await server.comments.receiveComment(fromRemote(video.id, 'x'.repeat(20_000)))
    expect((await threads(video.id)).data[0].text).toHaveLength(10_000)
  })
})

describe('removal', () => {
  it('by the owner of a local video sends the Delete of a remote comment in the name of the owner', async () => {
    const video = await newVideo()
    const received = fromRemote(video.id, 'rude')
    await server.comments.receiveComment(received)
    await server.events()
    const commentId = await idOf(received.url)
    expect(await remove(video.id, commentId, 'stranger')).toBe(403)
    expect(await remove(video.id, commentId, 'owner')).toBe(204)
    const gone = { commentId, url: received.url, actorId: owner.actorId, videoId: video.id, parentUrl: video.url }
    expect(await server.events()).toEqual([{ name: 'CommentRemoved', payload: gone }])
    expect(await unfolded(video.id)).toBe(0)
  })

  it('by the staff of a remote comment on a remote video is local', async () => {
    const video = await newRemoteVideo()
    const received = fromRemote(video.id, 'rude')
    await server.comments.receiveComment(received)
    await server.events()
    expect(await remove(video.id, await idOf(received.url), 'moderator')).toBe(204)
    // Its Delete is for its author to send.
    expect(await server.events()).toMatchObject([{ payload: { actorId: remote.actorId } }])
    expect((await threads(video.id)).total).toBe(0)
  })

  it('is possible for the author even if the video is private now', async () => {
    const video = await newVideo()
    const { comment } = await post(video.id, 'mine')
    await server.db.query('update video set privacy = 3 where id = $1', [video.id])
    expect(await remove(video.id, comment.id, 'stranger')).toBe(403)
    expect(await remove(video.id, comment.id, 'author')).toBe(204)
  })

  it('by another server requires the author, or the owner of a video of that server', async () => {
    const local = await newVideo()
    const received = fromRemote(local.id, 'hello')
    await server.comments.receiveComment(received)
    const other = await remoteAccount()
    const removeReceived = server.comments.removeReceived
    await expect(removeReceived({ url: received.url, actorId: other.actorId })).rejects.toMatchObject({
      kind: 'forbidden',
    })
    const gone = { url: received.url, actorId: remote.actorId }
    expect(await removeReceived(gone)).toEqual({ videoId: local.id })
    expect(await removeReceived(gone)).toBeUndefined()
    expect(await unfolded(local.id)).toBe(0)
    expect(await removeReceived({ ...gone, url: 'https://nowhere.example/1' })).toBeUndefined()

    const foreign = await newRemoteVideo()
    const { comment } = await post(foreign.id, 'on your video')
    expect(await removeReceived({ url: comment.url, actorId: remote.actorId })).toEqual({ videoId: foreign.id })
    const { comment: here } = await post(local.id, 'on ours')
    await expect(removeReceived({ url: here.url, actorId: remote.actorId })).rejects.toMatchObject({
      kind: 'forbidden',
    })
  })

  it('is not undone when the comment is received again', async () => {
    const video = await newVideo()
    const received = fromRemote(video.id, 'hello')
    await server.comments.receiveComment(received)
    await server.comments.removeReceived({ url: received.url, actorId: remote.actorId })
    await server.comments.receiveComment(received)
    expect((await threads(video.id)).total).toBe(0)
    expect(await unfolded(video.id)).toBe(0)
  })

  it('twice at once happens once', async () => {
    const video = await newVideo()
    for (let round = 0; round < 5; round += 1) {
      const { comment } = await post(video.id, 'short-lived')
      const answers = await Promise.all([
        remove(video.id, comment.id, 'author'),
        remove(video.id, comment.id, 'owner'),
        remove(video.id, comment.id, 'moderator'),
      ])
      expect(answers.toSorted()).toEqual([204, 409, 409])
    }
    expect(await unfolded(video.id)).toBe(0)
  })

  it('during a reply keeps the reply', async () => {
    const video = await newVideo()
    for (let round = 0; round < 5; round += 1) {
      const { comment } = await post(video.id, 'question')
      const [answer, removed] = await Promise.all([
        post(video.id, 'answer', { by: 'owner', to: comment.id }),
        remove(video.id, comment.id, 'author'),
      ])
      expect([answer.status, removed]).toEqual([200, 204])
    }
    const { total, totalNotDeletedComments } = await threads(video.id)
    expect({ total, totalNotDeletedComments }).toEqual({ total: 5, totalNotDeletedComments: 5 })
    expect(await unfolded(video.id)).toBe(5)
  })
})

describe('a thread', () => {
  interface Tree {
    comment: { id: number; inReplyToCommentId: number | null }
    children: Tree[]
  }
  const depthOf = ({ children }: Tree): number => 1 + Math.max(0, ...children.map(depthOf))
  const sizeOf = ({ children }: Tree): number => children.reduce((sum, child) => sum + sizeOf(child), 1)

  it('of thousands of nested replies is readable', async () => {
    const video = await newVideo()
    const { comment } = await post(video.id, 'start')
    await server.db.query(
      `insert into comment (id, video_id, account_id, thread_id, parent_id, url, text)
       select $1::int + n, $2, $3, $1::int, $1::int + n - 1, 'https://deep.example/' || n, 'deeper'
       from generate_series(1, 3000) n`,
      [comment.id, video.id, author.accountId],
    )
    await server.db.query(`alter table comment alter column id restart with ${comment.id + 3001}`)
    const answer = await server.app.inject(`/api/v1/videos/${video.id}/comment-threads/${comment.id}`)
    expect(answer.statusCode).toBe(200)
    const tree: Tree = answer.json()
    expect(sizeOf(tree)).toBe(3001)
    expect(depthOf(tree)).toBe(DEEPEST_LEVEL)
  })

  it('shows a reply that is dated before its parent', async () => {
    const video = await newVideo()
    const { comment } = await post(video.id, 'question')
    await server.comments.receiveComment(fromRemote(video.id, 'answer', { parentUrl: comment.url, at: new Date('2001-01-01') }))
    const tree: Tree = (await server.app.inject(`/api/v1/videos/${video.id}/comment-threads/${comment.id}`)).json()
    expect(tree.comment.id).toBe(comment.id)
    expect(tree.children.map((child) => child.comment.inReplyToCommentId)).toEqual([comment.id])
  })

  it('is listed page by page without overlap, in both orders', async () => {
    const video = await newVideo()
    for (let index = 0; index < 5; index += 1) {
      const { comment } = await post(video.id, `thread ${index}`)
      for (let reply = 0; reply < index % 3; reply += 1) await post(video.id, 'reply', { to: comment.id })
    }
    for (const sort of ['-createdAt', 'createdAt', '-totalReplies', 'totalReplies']) {
      const seen: number[] = []
      for (const start of [0, 2, 4]) {
        const url = `/api/v1/videos/${video.id}/comment-threads?sort=${sort}&start=${start}&count=2`
        const { total, data } = (await server.app.inject(url)).json()
        expect(total).toBe(5)
        seen.push(...data.map((one: { id: number }) => one.id))
      }
      expect(new Set(seen).size).toBe(5)
    }
  })
})
