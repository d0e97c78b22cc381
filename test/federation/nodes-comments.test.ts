// Three real nodes: comments of one on a video of another, as all three show them, and moderation by the video owner.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { arrives, type CommentView, commentSeen, commentsOn, startNodes, takeTurns, videoOn } from './nodes.ts'
import { type FederatedNode, newcomer } from './support.ts'

const REQUIRES_APPROVAL = '3'

let nodes: FederatedNode[] = []
let bytes: Buffer
beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  nodes = await startNodes(3)
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

const say = async (node: FederatedNode, uuid: string, text: string, to?: CommentView): Promise<CommentView> => {
  const path = to ? `comments/${to.id}` : 'comment-threads'
  return (await node.client.send<{ comment: CommentView }>('POST', `/api/v1/videos/${uuid}/${path}`, { text })).comment
}
const remove = (node: FederatedNode, uuid: string, { id }: { id: number }) =>
  node.client.send('DELETE', `/api/v1/videos/${uuid}/comments/${id}`)
const seen = (node: FederatedNode, uuid: string, text: string, host: string) =>
  commentSeen(node, uuid, (one) => one.text === text && one.account?.host === host, `"${text}" of ${host}`)
const isGone = (node: FederatedNode, uuid: string, text: string) =>
  until(async () => !(await commentsOn(node, uuid)).some((one) => one.text === text), {
    what: `the end of "${text}" on ${node.base}`,
  })
/** Activities about an object that a node sent. */
const toldOf = (node: FederatedNode, url: string) =>
  node.query<{ type: string }>('select type from document where body like $1', [`%${url}%`])
const published = async (on: FederatedNode, others: FederatedNode[], fields: Record<string, string> = {}) => {
  const video = await on.upload(bytes, fields)
  await Promise.all(others.map((node) => arrives(node, video.uuid)))
  return video
}
/** Comments that the video owner reviews. */
const waiting = (node: FederatedNode, text: string) =>
  until(
    async () =>
      (await node.client.get<{ data: CommentView[] }>('/api/v1/users/me/videos/comments?isHeldForReview=true')).data.find(
        (one) => one.text === text,
      ),
    { what: `"${text}" in the queue of ${node.base}` },
  )

describe('on a video of another node', () => {
  const pair = takeTurns(() => nodes)

  it("a thread and its replies are shown on every node with their authors, sent by the video owner's node alone", async () => {
    const { from: owner, to: author, third } = pair()
    const { uuid } = await published(owner, [author, third])
    const thread = await say(author, uuid, 'A thread')
    const onOwner = await seen(owner, uuid, 'A thread', author.host)
    const onThird = await seen(third, uuid, 'A thread', author.host)
    expect([onOwner.url, onThird.url]).toEqual([thread.url, thread.url])
    await say(owner, uuid, 'An answer of the owner', onOwner)
    await seen(author, uuid, 'An answer of the owner', owner.host)
    const answer = await seen(third, uuid, 'An answer of the owner', owner.host)
    const last = await say(third, uuid, 'An answer to the answer', answer)
    await seen(owner, uuid, 'An answer to the answer', third.host)
    await seen(author, uuid, 'An answer to the answer', third.host)
    for (const node of [owner, author, third]) {
      expect((await commentsOn(node, uuid)).map(({ text, account }) => [text, account?.host])).toEqual([
        ['A thread', author.host],
        ['An answer of the owner', owner.host],
        ['An answer to the answer', third.host],
      ])
    }
    // Stored there, and forwarded to nobody.
    expect(await toldOf(third, thread.url)).toEqual([])
    expect((await toldOf(author, last.url)).map(({ type }) => type)).toEqual([])
  })

  it('a comment of maximum length is complete on every node', async () => {
    const { from: owner, to: author, third } = pair()
    const { uuid } = await published(owner, [author, third])
    const text = '😀'.repeat(10_000)
    await say(author, uuid, ` ${text}\n`)
    for (const node of [owner, third]) await seen(node, uuid, text, author.host)
  })

  it('a comment removed by its author is a tombstone with its replies on every node', async () => {
    const { from: owner, to: author, third } = pair()
    const { uuid } = await published(owner, [author, third])
    const thread = await say(author, uuid, 'Better not said')
    await say(third, uuid, 'Too late', await seen(third, uuid, 'Better not said', author.host))
    await seen(author, uuid, 'Too late', third.host)
    await remove(author, uuid, thread)
    for (const node of [owner, author, third]) {
      await isGone(node, uuid, 'Better not said')
      const tombstone = await commentSeen(node, uuid, (one) => one.isDeleted, 'the tombstone')
      expect(tombstone).toMatchObject({ url: thread.url, text: '', account: null })
      await seen(node, uuid, 'Too late', third.host)
    }
  })

  it('a comment removed by the video owner is gone from every node', async () => {
    const { from: owner, to: author, third } = pair()
    const { uuid } = await published(owner, [author, third])
    await say(author, uuid, 'Not welcome')
    await seen(third, uuid, 'Not welcome', author.host)
    await remove(owner, uuid, await seen(owner, uuid, 'Not welcome', author.host))
    for (const node of [owner, author, third]) await isGone(node, uuid, 'Not welcome')
  })

  it('comments are back with a video that was private for a while, and their authors can remove them', async () => {
    const { from: owner, to: author } = pair()
    const { uuid } = await published(owner, [author])
    const thread = await say(author, uuid, 'Mine')
    const answer = await say(owner, uuid, 'Yours', await seen(owner, uuid, 'Mine', author.host))
    await say(author, uuid, 'Thanks', await seen(author, uuid, answer.text, owner.host))
    await seen(owner, uuid, 'Thanks', author.host)
    await author.client.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'like' })
    await until(async () => (await videoOn(owner, uuid))?.likes === 1, { what: 'the like' })
    const setPrivacy = (privacy: number) => owner.client.send('PUT', `/api/v1/videos/${uuid}`, { privacy })
    await setPrivacy(3)
    await until(async () => !(await videoOn(author, uuid)), { what: 'the end of the video' })
    await setPrivacy(1)
    const { id } = await arrives(author, uuid)
    const said = [
      ['Mine', author.host],
      ['Yours', owner.host],
      ['Thanks', author.host],
    ]
    await until(
      async () => {
        const found = (await commentsOn(author, uuid)).map(({ text, account }) => [text, account?.host])
        return JSON.stringify(found) === JSON.stringify(said)
      },
      { what: 'the thread as it was' },
    )
    expect(await author.client.get(`/api/v1/users/me/videos/${id}/rating`)).toMatchObject({ rating: 'like' })
    const mine = await seen(author, uuid, 'Mine', author.host)
    expect([mine.id, mine.url]).toEqual([thread.id, thread.url])
    await remove(author, uuid, mine)
    await author.client.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'none' })
    await isGone(owner, uuid, 'Mine')
    await until(async () => (await videoOn(owner, uuid))?.likes === 0, { what: 'the end of the like' })
  })

  it('a comment of a removed video can still be removed by its author, and by nobody else', async () => {
    const { from: owner, to: author } = pair()
    const { uuid } = await published(owner, [author])
    const [mine, other] = [await say(author, uuid, 'Mine'), await say(author, uuid, 'Another')]
    for (const text of ['Mine', 'Another']) await seen(owner, uuid, text, author.host)
    const setPrivacy = (privacy: number) => owner.client.send('PUT', `/api/v1/videos/${uuid}`, { privacy })
    await setPrivacy(3)
    await until(async () => !(await videoOn(author, uuid)), { what: 'the end of the video' })
    const at = `/api/v1/videos/${uuid}/comments/${mine.id}`
    const stranger = await newcomer(author, `stranger${mine.id}`)
    expect((await stranger.raw(at, { method: 'DELETE' })).status).toBe(404)
    expect((await author.client.raw(at, { method: 'DELETE' })).status).toBe(204)
    expect((await author.client.raw(at, { method: 'DELETE' })).status).toBe(404)
    const removed = 'select 1 from comment where url = $1 and deleted_at is not null'
    await until(async () => (await owner.query(removed, [mine.url]))[0], { what: 'the Delete' })
    await setPrivacy(1)
    await arrives(author, uuid)
    expect((await seen(author, uuid, 'Another', author.host)).id).toBe(other.id)
    expect((await commentsOn(author, uuid)).map(({ text }) => text)).not.toContain('Mine')
  })

  it('a comment pending review is hidden everywhere, then approved for all, or rejected', async () => {
    const { from: owner, to: author, third } = pair()
    const { uuid } = await published(owner, [author, third], { commentsPolicy: REQUIRES_APPROVAL })
    const good = await say(author, uuid, 'A good one')
    const bad = await say(author, uuid, 'A bad one')
    expect([good.heldForReview, bad.heldForReview]).toEqual([true, true])
    const [goodOne, badOne] = [await waiting(owner, 'A good one'), await waiting(owner, 'A bad one')]
    for (const node of [owner, author, third]) expect(await commentsOn(node, uuid)).toEqual([])

    await owner.client.send('POST', `/api/v1/videos/${uuid}/comments/${goodOne.id}/approve`)
    // Servers that did not request the approval trust the collection of the owner's server, which they fetch a minute later, or earlier
    // for a reader.
    await until(
      async () => {
        await third.query("update job set due_at = now() where type = 'comments-refresh' and state = 'delayed'")
        return (await commentsOn(third, uuid)).some(({ text }) => text === 'A good one')
      },
      { what: 'what the list says' },
    )
    for (const node of [owner, author, third]) {
      expect(await seen(node, uuid, 'A good one', author.host)).toMatchObject({ heldForReview: false })
    }
    await remove(owner, uuid, badOne)
    const state = async () =>
      (await author.query<{ removed: boolean }>('select deleted_at is not null as removed from comment where url = $1', [bad.url]))[0]
    await until(async () => (await state())?.removed, { what: 'the refusal' })
    expect((await commentsOn(author, uuid)).map(({ text }) => text)).toEqual(['A good one'])
    expect(await third.query('select 1 from comment where url = $1', [bad.url])).toEqual([])
    const answers = await author.query<{ type: string }>(
      "select distinct type from incoming_activity where type in ('ApproveReply', 'RejectReply') and host = $1 order by 1",
      [owner.host],
    )
    expect(answers.map(({ type }) => type)).toEqual(['ApproveReply', 'RejectReply'])
  })
})
