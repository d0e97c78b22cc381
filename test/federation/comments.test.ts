// Comments between servers: approval and rejection, edits and removal, in known and unknown threads.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, type Received, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { oracleProblems } from '../support/peertube-oracle.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

interface Pair {
  account: PeerActor
  channel: PeerActor
}

let node: FederatedNode
/** Follows the local instance and account. */
let near: FakePeer
let far: FakePeer
let nora: Pair
let fred: Pair
let eve: Pair
let bytes: Buffer

const root = () => `${node.base}/accounts/root`
const REQUIRES_APPROVAL = '3'

beforeAll(async () => {
  ;[node, near, far] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  nora = await introduce(node, near, 'nora')
  fred = await introduce(node, far, 'fred')
  eve = await introduce(node, far, 'eve')
  for (const target of [node.instance, root()]) {
    await node.deliver(nora.account, near.activity(nora.account, 'Follow', target))
  }
})
afterAll(async () => {
  await Promise.all([near?.close(), far?.close(), node?.stop()])
})
beforeEach(() => {
  for (const peer of [near, far]) {
    peer.received.length = 0
    peer.fetched.length = 0
    peer.answerPosts(undefined)
  }
})

const objectIdOf = ({ activity }: Received) =>
  typeof activity.object === 'string' ? activity.object : ((activity.object as JsonObject | undefined)?.id ?? null)
const heard = (peer: FakePeer, type: string, url: string) =>
  peer.awaited(`${type} of ${url}`, (one) => one.activity.type === type && objectIdOf(one) === url)
const inboxOf = (actor: PeerActor) => new URL(`${actor.url}/inbox`).pathname

interface CommentRow {
  id: number
  text: string
  held: boolean
  removed: boolean
}
const stored = async (url: string): Promise<CommentRow | undefined> => {
  const [row] = await node.query<CommentRow>(
    `select id, text, held_for_review as held, deleted_at is not null as removed from comment where url = $1`,
    [url],
  )
  return row
}
const becomesStored = (url: string) => until(() => stored(url), { what: `the comment ${url}` })
const noJobs = () =>
  until(
    async () => {
      const [row] = await node.query<{ open: string }>(
        `select count(*) as open from job
         where type in ('comment-thread', 'comments-refresh') and state in ('waiting', 'active')`,
      )
      return row?.open === '0'
    },
    { what: 'the end of the jobs about comments' },
  )

const said = async (by: Pair, inReplyTo: string, more: { content?: string; more?: JsonObject } = {}) => {
  const note = far.note({ author: by.account.url, inReplyTo, ...more })
  const activity = await signedInside(far.activity(by.account, 'Create', note), by.account)
  await node.deliver(by.account, activity)
  return { url: note.id, note, activity }
}
const documentAt = async (url: string) => {
  const answer = await fetch(url, { headers: { accept: 'application/activity+json' } })
  return { status: answer.status, body: answer.status === 200 ? ((await answer.json()) as JsonObject) : null }
}
const withLocalId = (video: { uuid: string; url: string }, comment: CommentRow | undefined) => `${video.url}/comments/${comment?.id}`

describe('a remote comment on a local video', () => {
  it('is approved at once: its author gets the approval in the personal inbox, and the approval can be fetched', async () => {
    const video = await node.upload(bytes)
    const { url } = await said(fred, video.url)
    const approval = await heard(far, 'ApproveReply', url)
    const id = `${withLocalId(video, await stored(url))}/approve-reply`
    expect(approval).toMatchObject({
      path: inboxOf(fred.account),
      activity: { type: 'ApproveReply', id, actor: root(), inReplyTo: video.url, object: url },
    })
    const { body } = await documentAt(id)
    expect(body).toMatchObject({ type: 'ApproveReply', id, actor: root(), inReplyTo: video.url, object: url })
  })

  it('pending review is visible to nobody until the owner approves it, then it is forwarded unchanged', async () => {
    const video = await node.upload(bytes, { commentsPolicy: REQUIRES_APPROVAL })
    const { url, activity } = await said(fred, video.url)
    const comment = await stored(url)
    const here = withLocalId(video, comment)
    expect(comment).toMatchObject({ held: true })
    expect((await documentAt(`${here}/approve-reply`)).status).toBe(404)
    expect((await documentAt(`${video.url}/comments`)).body).toMatchObject({ totalItems: 0 })

    await node.client.send('POST', `/api/v1/videos/${video.uuid}/comments/${comment?.id}/approve`)
    expect(await heard(far, 'ApproveReply', url)).toMatchObject({
      path: inboxOf(fred.account),
      activity: { id: `${here}/approve-reply`, actor: root(), object: url, inReplyTo: video.url },
    })
    expect((await heard(near, 'Create', url)).activity).toEqual(activity)
    expect((await documentAt(`${video.url}/comments?page=1`)).body).toMatchObject({ orderedItems: [url] })
    const again = await node.client.raw(`/api/v1/videos/${video.uuid}/comments/${comment?.id}/approve`, {
      method: 'POST',
    })
    expect(again.status).toBe(400)
  })

  it('pending review is rejected, and only its author is notified', async () => {
    const video = await node.upload(bytes, { commentsPolicy: REQUIRES_APPROVAL })
    const { url } = await said(fred, video.url)
    const comment = await stored(url)
    const here = withLocalId(video, comment)
    await node.client.send('DELETE', `/api/v1/videos/${video.uuid}/comments/${comment?.id}`)
    expect(await heard(far, 'RejectReply', url)).toMatchObject({
      path: inboxOf(fred.account),
      activity: { id: `${here}/reject-reply`, actor: root(), object: url, inReplyTo: video.url },
    })
    expect(await heard(far, 'Delete', url)).toMatchObject({
      path: '/inbox',
      activity: { id: `${here}/delete`, actor: root() },
    })
    await said(fred, (await node.upload(bytes, { name: 'Afterwards' })).url)
    expect(near.received.filter((one) => objectIdOf(one) === url)).toEqual([])
  })

  it('removed by the video owner is deleted at its author’s server and at followers, once each', async () => {
    const video = await node.upload(bytes)
    const { url } = await said(fred, video.url)
    await heard(near, 'Create', url)
    const comment = await stored(url)
    await node.client.send('DELETE', `/api/v1/videos/${video.uuid}/comments/${comment?.id}`)
    for (const peer of [near, far]) {
      const { activity } = await heard(peer, 'Delete', url)
      expect(activity).toMatchObject({ actor: root(), id: `${withLocalId(video, comment)}/delete` })
      expect(oracleProblemsOf(activity)).toEqual([])
    }
  })

  it('is edited by its author; the edit is forwarded, and an older edit is ignored', async () => {
    const video = await node.upload(bytes)
    const { url, note } = await said(fred, video.url)
    const edited = (content: string, updated: string) =>
      signedInside(far.activity(fred.account, 'Update', { ...note, content, updated }), fred.account)
    const soon = new Date(Date.now() - 10).toISOString()
    const update = await edited('Better said', soon)
    await node.deliver(fred.account, update)
    expect(await stored(url)).toMatchObject({ text: 'Better said', held: false })
    expect((await heard(near, 'Update', url)).activity).toEqual(update)
    await node.deliver(fred.account, await edited('Said before', '2026-01-01T00:00:00.000Z'))
    expect(await stored(url)).toMatchObject({ text: 'Better said' })
  })

  it('that was approved is pending again after an edit', async () => {
    const video = await node.upload(bytes, { commentsPolicy: REQUIRES_APPROVAL })
    const { url, note } = await said(fred, video.url)
    const path = `/api/v1/videos/${video.uuid}/comments/${(await stored(url))?.id}/approve`
    await node.client.send('POST', path)
    await heard(near, 'Create', url)
    const update = await signedInside(far.activity(fred.account, 'Update', { ...note, content: 'Spam' }), fred.account)
    await node.deliver(fred.account, update)
    expect(await stored(url)).toMatchObject({ text: 'Spam', held: true })
    expect(near.of('Update').filter((one) => objectIdOf(one) === url)).toEqual([])
    await node.client.send('POST', path)
    expect((await heard(near, 'Update', url)).activity).toEqual(update)
  })
})

/** The oracle requires domain names. */
const oracleProblemsOf = (activity: JsonObject): string[] =>
  oracleProblems(JSON.parse(JSON.stringify(activity).replaceAll(/127\.0\.0\.1:\d+/g, 'peer.example')))

describe('a local comment on a remote video', () => {
  const remoteVideo = async (more: JsonObject = {}) => {
    const document = far.video({ ...fred, more })
    await node.deliver(fred.account, far.activity(fred.account, 'Create', document))
    const [row] = await node.query<{ id: number }>('select id from video where url = $1', [document.id])
    return { url: document.id, id: row?.id ?? 0 }
  }
  const comment = async (videoId: number, text = 'From afar') => {
    const answer = await node.client.send<{ comment: { id: number; url: string; heldForReview: boolean } }>(
      'POST',
      `/api/v1/videos/${videoId}/comment-threads`,
      { text },
    )
    return answer.comment
  }
  const review = (by: PeerActor, type: string, url: string, inReplyTo: string) => far.activity(by, type, url, { inReplyTo })

  it('is pending until the video owner approves it, and visible then', async () => {
    const video = await remoteVideo({ commentsPolicy: 3 })
    const { url, heldForReview } = await comment(video.id)
    expect(heldForReview).toBe(true)
    await heard(far, 'Create', url)
    for (const stranger of [eve.account, nora.account]) {
      await node.deliver(stranger, review(stranger, 'ApproveReply', url, video.url))
      expect(await stored(url)).toMatchObject({ held: true })
    }
    const approval = review(fred.account, 'ApproveReply', url, video.url)
    await node.deliver(fred.account, approval)
    expect(await stored(url)).toMatchObject({ held: false, removed: false })
    expect((await documentAt(url)).body).toMatchObject({ type: 'Note', replyApproval: approval.id })
  })

  it('is removed when the video owner rejects or deletes it', async () => {
    const video = await remoteVideo({ commentsPolicy: 3 })
    const refused = await comment(video.id)
    await node.deliver(eve.account, review(eve.account, 'RejectReply', refused.url, video.url))
    expect(await stored(refused.url)).toMatchObject({ held: true, removed: false })
    await node.deliver(fred.account, review(fred.account, 'RejectReply', refused.url, video.url))
    expect(await stored(refused.url)).toMatchObject({ removed: true })

    // PeerTube builds the id of this Delete from that of the comment, which belongs to the local server.
    const open = await remoteVideo()
    const removed = await comment(open.id)
    const activity = { ...far.activity(fred.account, 'Delete', removed.url), id: `${removed.url}/delete` }
    await node.deliver(eve.account, { ...activity, actor: eve.account.url })
    expect(await stored(removed.url)).toMatchObject({ removed: false })
    await node.deliver(fred.account, activity)
    expect(await stored(removed.url)).toMatchObject({ removed: true })
  })

  it('mentions actors: they are tagged, addressed, and notified', async () => {
    const video = await remoteVideo()
    const { url } = await comment(video.id, `Look, @nora@${near.host}! And @nobody@${near.host}, mail@example.com`)
    const { activity } = await heard(near, 'Create', url)
    expect(activity).toMatchObject({ cc: expect.arrayContaining([nora.account.url]) })
    expect(activity.object).toMatchObject({
      cc: expect.arrayContaining([nora.account.url]),
      tag: [{ type: 'Mention', href: nora.account.url, name: `@nora@${near.host}` }],
    })
  })
})

describe('a reply to unknown comments', () => {
  const chain = (video: string, path: string, length: number) => {
    for (let n = 0; n < length; n += 1) {
      const inReplyTo = n === length - 1 ? video : `${far.base}/${path}/${n + 1}`
      const id = `${far.base}/${path}/${n}`
      far.serve(id, { ...far.note({ author: fred.account.url, inReplyTo, content: `Number ${n}` }), id, url: id })
    }
    return `${far.base}/${path}/0`
  }

  it('is stored below them once they are fetched, and other activities of its author do not wait', async () => {
    const video = await node.upload(bytes)
    const parent = chain(video.url, 'thread', 5)
    const { url, activity } = await said(fred, parent)
    const next = await said(fred, video.url)
    expect(await stored(next.url)).toBeDefined()
    await becomesStored(url)
    expect((await heard(near, 'Create', url)).activity).toEqual(activity)
    const texts = await node.query<{ text: string }>(
      `with recursive above as (
         select id, parent_id, text from comment where url = $1
         union all select c.id, c.parent_id, c.text from above join comment c on c.id = above.parent_id
       ) select text from above`,
      [url],
    )
    expect(texts.map(({ text }) => text)).toEqual(['Well said', 'Number 0', 'Number 1', 'Number 2', 'Number 3', 'Number 4'])
    await until(async () => (await node.query('select 1 from waiting_comment')).length === 0)
  })

  it('keeps its place below a deleted comment', async () => {
    const video = await node.upload(bytes)
    const gone = `${far.base}/notes/gone`
    far.serve(gone, {
      '@context': 'https://www.w3.org/ns/activitystreams',
      type: 'Tombstone',
      id: gone,
      formerType: 'Note',
      inReplyTo: video.url,
      published: '2026-01-01T00:00:00.000Z',
      deleted: '2026-01-02T00:00:00.000Z',
    })
    const { url } = await said(fred, gone)
    await becomesStored(url)
    expect(await stored(gone)).toMatchObject({ text: '', removed: true })
  })

  const pathTo = async (url: string) =>
    await node.query<{ url: string; removed: boolean }>(
      `with recursive above as (
         select id, parent_id, url, deleted_at from comment where url = $1
         union all select c.id, c.parent_id, c.url, c.deleted_at from above join comment c on c.id = above.parent_id
       ) select url, deleted_at is not null as removed from above`,
      [url],
    )

  it.each<[string, JsonObject]>([
    ['a picture', { type: 'Image', content: undefined }],
    ['a poll', { type: 'Question', oneOf: [{ type: 'Note', name: 'Yes' }] }],
    ['an article', { type: 'Article' }],
    ['a note without content', { content: undefined }],
    ['a note whose content is a picture', { content: '<p></p>', mediaType: 'text/html', attachment: [{ type: 'Image' }] }],
    ['a note of nobody of its server', { attributedTo: 'https://nobody.example/ann' }],
  ])('keeps its place below %s, which is hidden', async (_what, more) => {
    const video = await node.upload(bytes)
    const top = await said(fred, video.url)
    const untaken = far.note({ author: fred.account.url, inReplyTo: top.url, more })
    far.serve(untaken.id, { ...untaken, ...more })
    const { url } = await said(fred, untaken.id)
    const below = await said(eve, url)
    await becomesStored(below.url)
    expect(await pathTo(below.url)).toEqual([
      { url: below.url, removed: false },
      { url, removed: false },
      { url: untaken.id, removed: true },
      { url: top.url, removed: false },
    ])
  })

  it('is stored below a parent that is not public', async () => {
    const video = await node.upload(bytes)
    const top = await said(fred, video.url)
    const hidden = far.note({
      author: fred.account.url,
      inReplyTo: top.url,
      more: { to: [`${fred.account.url}/followers`] },
    })
    const { url } = await said(fred, hidden.id)
    await becomesStored(url)
    expect(await pathTo(url)).toEqual([
      { url, removed: false },
      { url: top.url, removed: false },
    ])
  })

  it('is rendered as HTML for other servers, with mentioned actors in cc and Markdown as its source', async () => {
    const video = await node.upload(bytes)
    const handle = `eve@${far.host}`
    const text = `**Hello** @${handle}, and @nobody@${far.host}: <b>look</b> at https://example.org/@${handle}`
    const write = async (body: string) => {
      const { comment } = await node.client.send<{ comment: { url: string } }>('POST', `/api/v1/videos/${video.uuid}/comment-threads`, {
        text: body,
      })
      return comment.url
    }
    const url = await write(text)
    const note = {
      content: `<p><strong>Hello</strong> <a href="${eve.account.url}" class="u-url mention">@${handle}</a>, and @nobody@${far.host}: &lt;b&gt;look&lt;/b&gt; at <a href="https://example.org/@${handle}" rel="nofollow noopener noreferrer">https://example.org/@${handle}</a></p>`,
      mediaType: 'text/html',
      source: { content: text, mediaType: 'text/markdown' },
      cc: expect.arrayContaining([eve.account.url]),
      tag: [{ type: 'Mention', href: eve.account.url, name: `@${handle}` }],
    }
    expect((await documentAt(url)).body).toMatchObject(note)
    expect((await heard(far, 'Create', url)).activity).toMatchObject({ object: note, cc: note.cc })
    // PeerTube accepts at most this many characters.
    const long = await write('a\n\n'.repeat(3300))
    const { body } = await documentAt(long)
    expect(body).toMatchObject({ content: 'a\n\n'.repeat(3300).trim(), mediaType: 'text/markdown' })
    expect(body).not.toHaveProperty('source')
  })

  it('finds its parent by another URL of it', async () => {
    const video = await node.upload(bytes)
    const top = await said(fred, video.url)
    const page = `${far.base}/@fred/1`
    far.serve(page, top.note)
    const { url } = await said(fred, page)
    await becomesStored(url)
    expect(await pathTo(url)).toEqual([
      { url, removed: false },
      { url: top.url, removed: false },
    ])
  })

  it.each<[string, JsonObject, string]>([
    ['without a date', { published: undefined }, 'Well said'],
    ['with its content by language alone', { content: undefined, contentMap: { fr: 'Bien dit' } }, 'Bien dit'],
    [
      'with the Markdown of its content',
      {
        content: '<p>Well <strong>said</strong></p>',
        mediaType: 'text/html',
        source: { content: 'Well **said**', mediaType: 'text/markdown; charset=utf-8' },
      },
      'Well **said**',
    ],
    [
      'with a source in another language',
      {
        content: '<p>Well <b>said</b></p>',
        mediaType: 'text/html',
        source: { content: '$[x2 y]', mediaType: 'text/x.misskeymarkdown' },
      },
      'Well said',
    ],
    ['with a source that is none', { content: '<p>Said</p>', mediaType: 'text/html', source: 'Said' }, 'Said'],
    ['with nothing in its first language', { content: '', contentMap: { de: ' ', fr: 'Bien dit' } }, 'Bien dit'],
  ])('%s is a comment', async (_what, more, text) => {
    const video = await node.upload(bytes)
    const before = new Date()
    const { url } = await said(fred, video.url, { more })
    expect(await stored(url)).toMatchObject({ text })
    const [{ created_at: at = new Date(0) } = {}] = await node.query<{ created_at: Date }>(
      'select created_at from comment where url = $1',
      [url],
    )
    expect(at.getTime()).toBeGreaterThanOrEqual(before.getTime() - 1000)
  })

  it('is not stored when its author removed it before', async () => {
    const video = await node.upload(bytes)
    const parent = chain(video.url, 'slow', 1)
    const note = far.note({ author: fred.account.url, inReplyTo: parent })
    far.serve(parent, () => ({ status: 503 }))
    await node.deliver(fred.account, far.activity(fred.account, 'Create', note))
    await node.deliver(fred.account, far.activity(fred.account, 'Delete', note.id))
    expect(await node.query('select 1 from waiting_comment where url = $1', [note.id])).toEqual([])
    expect(await stored(note.id)).toBeUndefined()
  })

  it('in a circular or endless thread is refused after a bounded number of fetches', async () => {
    const [one, two] = [`${far.base}/notes/one`, `${far.base}/notes/two`]
    // Other jobs fetch from the server meanwhile.
    const fetches = (folder: string) => far.fetched.filter((path) => path.includes(folder)).length
    const note = (id: string, inReplyTo: string) => ({ ...far.note({ author: fred.account.url, inReplyTo }), id })
    far.serve(one, note(one, two))
    far.serve(two, note(two, one))
    await said(fred, one)
    await noJobs()
    expect(fetches('/notes/')).toBeLessThanOrEqual(100)
    const endless = chain('https://nowhere.example/', 'deep', 150)
    far.fetched.length = 0
    await said(fred, endless)
    await noJobs()
    expect(fetches('/deep/')).toBeGreaterThan(50)
    expect(fetches('/deep/')).toBeLessThanOrEqual(101)
    const found = await node.query("select 1 from comment where url like '%/deep/%' or url like '%/notes/one'")
    expect(found).toEqual([])
  })
})

describe('the comments of a remote video', () => {
  it('are fetched from its server when somebody views them, at most once per interval', async () => {
    const document = far.video({ ...fred, more: { commentsPolicy: 3 } })
    const collection = `${document.id}/comments`
    const notes = [0, 1, 2].map((n) =>
      far.note({ author: n === 2 ? eve.account.url : fred.account.url, inReplyTo: document.id, content: `No ${n}` }),
    )
    const reply = far.note({ author: eve.account.url, inReplyTo: notes[0]?.id ?? '', content: 'A reply' })
    // The reply precedes its parent.
    const listed = [reply, ...notes].map(({ id }) => id)
    far.serve(collection, (query) => ({
      body:
        query.get('page') === null
          ? { type: 'OrderedCollection', id: collection, totalItems: 4, first: `${collection}?page=1` }
          : {
              type: 'OrderedCollectionPage',
              id: `${collection}?page=${query.get('page')}`,
              orderedItems: query.get('page') === '1' ? listed.slice(0, 2) : listed.slice(2),
              ...(query.get('page') === '1' ? { next: `${collection}?page=2` } : {}),
            },
    }))
    await node.deliver(fred.account, far.activity(fred.account, 'Create', document))
    const [row] = await node.query<{ id: number }>('select id from video where url = $1', [document.id])
    const threads = () =>
      node.client.get<{ total: number; data: { text: string; totalReplies: number }[] }>(`/api/v1/videos/${row?.id}/comment-threads`)
    await threads()
    const found = await until(async () => {
      const page = await threads()
      return page.total === 3 && (await stored(reply.id)) ? page : undefined
    })
    expect(found.data.map(({ text }) => text).toSorted()).toEqual(['No 0', 'No 1', 'No 2'])
    await noJobs()
    far.fetched.length = 0
    await threads()
    await noJobs()
    // Other jobs may fetch the video itself.
    expect(far.fetched.filter((path) => path.includes('/comments') || path.includes('/notes/'))).toEqual([])
  })

  it('are fetched even if their parent is unavailable', async () => {
    const document = far.video({ ...fred })
    const lost = `${far.base}/notes/lost`
    const reply = far.note({ author: eve.account.url, inReplyTo: lost, content: 'A reply' })
    const id = `${document.id}/comments`
    far.serve(id, { type: 'OrderedCollection', id, totalItems: 1, orderedItems: [reply.id] })
    await node.deliver(fred.account, far.activity(fred.account, 'Create', document))
    const [row] = await node.query<{ id: number }>('select id from video where url = $1', [document.id])
    await node.client.get(`/api/v1/videos/${row?.id}/comment-threads`)
    await becomesStored(reply.id)
    expect(await stored(lost)).toMatchObject({ text: '', removed: true })
  })

  it("are pending, if they need approval, until the video's server lists them", async () => {
    const document = far.video({ ...fred, more: { commentsPolicy: 3 } })
    await node.deliver(fred.account, far.activity(fred.account, 'Create', document))
    const note = near.note({ author: nora.account.url, inReplyTo: document.id })
    await node.deliver(nora.account, near.activity(nora.account, 'Create', note))
    expect(await stored(note.id)).toMatchObject({ held: true })
    const collection = `${document.id}/comments`
    far.serve(collection, { type: 'OrderedCollection', id: collection, totalItems: 1, orderedItems: [note.id] })
    await node.query("update job set due_at = now() where type = 'comments-refresh' and state = 'delayed'")
    await until(async () => (await stored(note.id))?.held === false, { what: 'the approval' })
  })
})
