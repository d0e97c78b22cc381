// Two real nodes: comments that a server hides from visitors are also hidden from other servers, and sent to them once they are shown
// again.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { arrives, type CommentView, commentsOn, startNodes } from './nodes.ts'
import { type FederatedNode, newcomer } from './support.ts'

const [ENABLED, DISABLED, REQUIRES_APPROVAL] = ['1', '2', '3']

let home: FederatedNode
let away: FederatedNode
let author: Client
let bytes: Buffer

beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  const [first, second] = await startNodes(2)
  if (!first || !second) throw new Error('The nodes did not start.')
  ;[home, away] = [first, second]
  author = await newcomer(home, 'author')
})
afterAll(async () => {
  await Promise.all([home, away].map((node) => node?.stop()))
})

async function published(commentsPolicy: string | undefined) {
  const video = await home.upload(bytes, { commentsPolicy: commentsPolicy ?? '1' })
  await arrives(away, video.uuid)
  return video
}
const say = async (by: Client, uuid: string, text: string, to?: CommentView): Promise<CommentView> => {
  const path = to ? `comments/${to.id}` : 'comment-threads'
  return (await by.send<{ comment: CommentView }>('POST', `/api/v1/videos/${uuid}/${path}`, { text })).comment
}
const approve = (uuid: string, { id }: CommentView) => home.client.send('POST', `/api/v1/videos/${uuid}/comments/${id}/approve`)

/** The answer to another server, once the cached one has expired. */
async function read<T>(url: string, fits: (answer: { status: number; body: Record<string, T> }) => boolean) {
  return await until(
    async () => {
      const answer = await fetch(url, { headers: { accept: 'application/activity+json' }, redirect: 'manual' })
      const body = (answer.ok ? await answer.json() : {}) as Record<string, T>
      return fits({ status: answer.status, body }) ? { status: answer.status, body } : undefined
    },
    { what: url },
  )
}
/** Waits until the collection of comments contains exactly these. */
const listed = (video: { url: string }, urls: string[]) =>
  read<unknown>(
    `${video.url}/comments?page=1`,
    ({ body }) => body.totalItems === urls.length && JSON.stringify(body.orderedItems) === JSON.stringify(urls),
  )
const isStatus = (url: string, status: number) => read(url, (answer) => answer.status === status)
const texts = async (node: FederatedNode, uuid: string) => (await commentsOn(node, uuid)).map(({ text }) => text)
const becomes = (node: FederatedNode, uuid: string, expected: string[]) =>
  until(async () => JSON.stringify((await texts(node, uuid)).toSorted()) === JSON.stringify(expected.toSorted()), {
    what: `${expected.join(', ')} on ${node.base}`,
  })

/** A pending comment, a reply of the video owner, and an approved reply of the comment's author. */
async function waitingThread() {
  const video = await published(REQUIRES_APPROVAL)
  const top = await say(author, video.uuid, 'May I?')
  const answer = await say(home.client, video.uuid, 'Soon', top)
  const thanks = await say(author, video.uuid, 'Thanks', answer)
  await approve(video.uuid, thanks)
  await home.settled()
  return { video, top, answer, thanks }
}
const urlsOf = (...comments: CommentView[]) => comments.map(({ url }) => url)

describe('below a comment pending review', () => {
  it('nothing is served or sent to other servers; everything is once it is approved', async () => {
    const { video, top, answer, thanks } = await waitingThread()
    for (const url of urlsOf(top, answer, thanks)) {
      for (const path of ['', '/replies', '/activity', '/approve-reply']) await isStatus(`${url}${path}`, 404)
    }
    await listed(video, [])
    const sent = await home.query("select 1 from document where body like '%' || $1 || '/comments/%'", [video.url])
    expect(sent).toEqual([])

    await approve(video.uuid, top)
    await becomes(away, video.uuid, ['May I?', 'Soon', 'Thanks'])
    await listed(video, urlsOf(top, answer, thanks))
    for (const url of urlsOf(top, answer, thanks)) await isStatus(`${url}/approve-reply`, 200)
  })

  it('replies are served after its rejection, below a placeholder; the comment is not listed', async () => {
    const { video, top, answer, thanks } = await waitingThread()
    await home.client.send('DELETE', `/api/v1/videos/${video.uuid}/comments/${top.id}`)
    await becomes(away, video.uuid, ['', 'Soon', 'Thanks'])
    expect(await texts(home, video.uuid)).toEqual(['', 'Soon', 'Thanks'])
    await listed(video, urlsOf(answer, thanks))
    await read<unknown>(top.url, ({ body }) => body.type === 'Tombstone')
  })
})

it('with comments disabled, none is served or sent; they are back once comments are enabled', async () => {
  const video = await published(REQUIRES_APPROVAL)
  const comment = await say(home.client, video.uuid, 'A word')
  const pending = await say(author, video.uuid, 'May I?')
  await becomes(away, video.uuid, ['A word'])
  const setPolicy = (commentsPolicy: string | undefined) =>
    home.client.send('PUT', `/api/v1/videos/${video.uuid}`, { commentsPolicy: Number(commentsPolicy) })
  await setPolicy(DISABLED)
  await listed(video, [])
  await isStatus(comment.url, 404)
  await isStatus(`${comment.url}/replies`, 404)
  await becomes(away, video.uuid, [])
  await approve(video.uuid, pending)
  await home.settled()
  expect(await home.query('select 1 from document where body like $1', [`%${pending.url}%`])).toEqual([])
  await setPolicy(ENABLED)
  await listed(video, urlsOf(comment, pending))
  await isStatus(comment.url, 200)
})

it('comments of an account that the instance mutes are not served, with all their replies', async () => {
  const video = await published(ENABLED)
  const first = await say(home.client, video.uuid, 'First')
  const muted = await say(author, video.uuid, 'Noise', first)
  const answer = await say(home.client, video.uuid, 'Please', muted)
  await listed(video, urlsOf(first, muted, answer))
  await home.client.send('POST', '/api/v1/server/blocklist/accounts', { accountName: 'author' })
  await listed(video, urlsOf(first))
  expect(await texts(home, video.uuid)).toEqual(['First'])
  for (const url of urlsOf(muted, answer)) await isStatus(url, 404)
  await read<unknown>(`${first.url}/replies`, ({ body }) => body.totalItems === 0)
  await home.client.send('DELETE', '/api/v1/server/blocklist/accounts/author')
  await listed(video, urlsOf(first, muted, answer))
})
