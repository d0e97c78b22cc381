// Watched words, from their lists to tags of local and remote videos and comments, and to comments pending review.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, newcomer, startFederatedNode } from './support.ts'

interface Listed {
  total: number
  data: { text: string; heldForReview: boolean; automaticTags: string[]; id: number; url: string }[]
}
interface Videos {
  total: number
  data: { id: number; name: string; automaticTags?: string[] }[]
}

const INSTANCE = '/api/v1/watched-words/server/lists'
const listsOf = (name: string) => `/api/v1/watched-words/accounts/${name}/lists`
const policiesOf = (name: string) => `/api/v1/automatic-tags/policies/accounts/${name}/comments`

let node: FederatedNode
let peer: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let owner: Client
let guest: Client
let moderator: Client
let bytes: Buffer
let video: { id: number; uuid: string; url: string }

beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  alice = await introduce(node, peer, 'alice')
  owner = await newcomer(node, 'owner')
  guest = await newcomer(node, 'guest')
  moderator = await newcomer(node, 'moderator', { role: 1 })
  bytes = await readFile(await media('small.mp4'))
  video = await uploadBy(owner, { name: 'For comments' })
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})
beforeEach(async () => {
  await node.settled()
  peer.received.length = 0
  await node.query('delete from watched_words_list')
  await node.query('delete from comment_tag_policy')
  await node.query('delete from comment')
  await node.query('delete from video_automatic_tag')
})

async function uploadBy(client: Client, fields: Record<string, string>) {
  const form = new FormData()
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const all = { channelId: String(me.videoChannels[0]?.id), privacy: '1', ...fields }
  for (const [name, value] of Object.entries(all)) form.set(name, value)
  form.set('videofile', new File([new Uint8Array(bytes)], 'small.mp4', { type: 'video/mp4' }))
  const sent = await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/upload', form)
  return { ...sent.video, url: `${node.base}/videos/watch/${sent.video.uuid}` }
}
const add = async (client: Client, path: string, listName: string, ...words: string[]) =>
  (await client.send<{ watchedWordsList: { id: number } }>('POST', path, { listName, words })).watchedWordsList.id
const answer = (client: Client, method: string, path: string, body?: object) =>
  client.raw(path, {
    method,
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  })
const status = async (...requested: Parameters<typeof answer>) => (await answer(...requested)).status
const say = async (client: Client, text: string) =>
  (await client.send<{ comment: { id: number; heldForReview: boolean } }>('POST', `/api/v1/videos/${video.uuid}/comment-threads`, { text }))
    .comment
const mine = (query = '') => owner.get<Listed>(`/api/v1/users/me/videos/comments?${query}`)
const all = (query = '') => moderator.get<Listed>(`/api/v1/videos/comments?${query}`)
const seen = ({ data }: Listed) => data.map(({ text, automaticTags }) => [text, ...automaticTags])
const shown = async () =>
  (await (await fetch(`${node.base}/api/v1/videos/${video.uuid}/comment-threads`)).json()).data.map(({ text }: { text: string }) => text)
const tagged = async (tag: string) =>
  (await moderator.get<Videos>(`/api/v1/videos?autoTagOneOf=${tag}&include=64`)).data.map(({ name, automaticTags }) => [
    name,
    ...(automaticTags ?? []),
  ])
const toldBy = (type: string, object: object) => node.deliver(alice.account, peer.activity(alice.account, type, object))

describe('lists', () => {
  it('have unique names, orders and pages', async () => {
    const path = listsOf('owner')
    const first = await add(owner, path, 'b', 'one')
    await add(owner, path, 'a', 'two', 'three')
    await add(owner, INSTANCE.replace('server', 'accounts/owner'), 'c', 'four')
    await add(moderator, INSTANCE, 'a', 'other')
    const names = async (query: string) => {
      const { total, data } = await owner.get<{ total: number; data: { listName: string }[] }>(`${path}?${query}`)
      return [total, ...data.map(({ listName }) => listName)]
    }
    expect(await names('')).toEqual([3, 'c', 'a', 'b'])
    expect(await names('sort=listName&start=1&count=1')).toEqual([3, 'b'])
    expect(await names('sort=-listName&start=3')).toEqual([3])
    for (const listName of ['a', 'external-link']) {
      expect(await status(owner, 'PUT', `${path}/${first}`, { listName, words: ['x'] })).toBe(400)
      expect(await status(owner, 'POST', path, { listName, words: ['x'] })).toBe(400)
    }
    await owner.send('PUT', `${path}/${first}`, { listName: 'b', words: ['x', 'y'] })
    expect(await names('sort=-updatedAt&count=1')).toEqual([3, 'b'])
  })

  it('belong to their owner: other users, the staff and the instance cannot access them', async () => {
    const id = await add(owner, listsOf('owner'), 'mine', 'word')
    const own = await add(guest, listsOf('guest'), 'theirs', 'word')
    for (const [client, path, expected] of [
      [guest, listsOf('owner'), 403],
      [moderator, listsOf('owner'), 403],
      [node.client, listsOf('owner'), 403],
      [guest, listsOf('nobody'), 404],
      [guest, listsOf(`alice@${peer.host}`), 403],
      [guest, `${listsOf('guest')}/${id}`, 404],
      [moderator, `${INSTANCE}/${id}`, 404],
    ] as const) {
      const body = { listName: 'x', words: ['x'] }
      const method = path.endsWith('lists') ? 'POST' : 'PUT'
      expect(await status(client, method, path, body)).toBe(expected)
      if (method === 'PUT') expect(await status(client, 'DELETE', path)).toBe(expected)
    }
    expect(await node.query('select id, name from watched_words_list order by id')).toEqual([
      { id, name: 'mine' },
      { id: own, name: 'theirs' },
    ])
  })

  it('are refused when their expressions take too long to match', async () => {
    const words = ['fine', '(?:a|b)*a(?:a|b){20}']
    const refused = await answer(owner, 'POST', listsOf('owner'), { listName: 'slow', words })
    expect([refused.status, Object.keys((await refused.json())['invalid-params'])]).toEqual([400, ['words']])
    const costly = Array.from({ length: 500 }, (_, n) => `long${n}[o0]word${n}.*x`).slice(0, 90)
    await add(owner, listsOf('owner'), 'one', ...costly)
    const second = { listName: 'two', words: costly }
    expect(await status(owner, 'POST', listsOf('owner'), second)).toBe(400)
    expect(await status(guest, 'POST', listsOf('guest'), second)).toBe(200)
    // Those of the instance are applied to everything anyway.
    for (const listName of ['one', 'two']) {
      expect(await status(moderator, 'POST', INSTANCE, { listName, words: costly })).toBe(200)
    }
  })
})

describe('comments', () => {
  it('are tagged by the lists of the instance and of the owner, separately', async () => {
    await add(moderator, INSTANCE, 'everywhere', 'spam')
    await add(owner, listsOf('owner'), 'here', 'sp[a4]m', 'other')
    await add(guest, listsOf('guest'), 'elsewhere', 'spam')
    await say(guest, 'It is SP4M')
    await say(guest, 'Spam at https://example.com')
    await say(guest, `Nothing at ${video.url}`)
    expect(seen(await mine())).toEqual([
      [`Nothing at ${video.url}`],
      ['Spam at https://example.com', 'external-link', 'here'],
      ['It is SP4M', 'here'],
    ])
    expect(seen(await all())).toEqual([
      [`Nothing at ${video.url}`],
      ['Spam at https://example.com', 'everywhere', 'external-link'],
      ['It is SP4M'],
    ])
    const found = async (list: Promise<Listed>) => {
      const { total, data } = await list
      return [total, ...data.map(({ text }) => text)]
    }
    expect(await found(mine('autoTagOneOf=here&count=1'))).toEqual([2, 'Spam at https://example.com'])
    expect(await found(mine('autoTagOneOf=everywhere&autoTagOneOf=elsewhere'))).toEqual([0])
    expect(await found(all('autoTagOneOf=everywhere&autoTagOneOf=here'))).toEqual([1, 'Spam at https://example.com'])
    expect(await found(mine('autoTagOneOf=here&search=sp4m'))).toEqual([1, 'It is SP4M'])
    expect(await found(mine('autoTagOneOf=here&isHeldForReview=true'))).toEqual([0])
  })

  it('with a tag that the owner reviews are pending, except those of the owner and the staff', async () => {
    await add(owner, listsOf('owner'), 'mild', 'darn')
    await add(moderator, INSTANCE, 'wild', 'darn')
    await owner.send('PUT', policiesOf('owner'), { review: ['mild', 'external-link'] })
    const pending = await say(guest, 'Darn it')
    expect(pending.heldForReview).toBe(true)
    expect((await say(guest, 'wo<b></b>rd <a href="https://example.com">x</a>')).heldForReview).toBe(true)
    expect((await say(guest, 'd&#97;rn it')).heldForReview).toBe(true)
    expect((await say(guest, 'Fine')).heldForReview).toBe(false)
    expect((await say(owner, 'Darn, I say')).heldForReview).toBe(false)
    expect((await say(moderator, 'Darn, we say')).heldForReview).toBe(false)
    expect(await shown()).toEqual(['Darn, we say', 'Darn, I say', 'Fine'])
    await owner.send('POST', `/api/v1/videos/${video.uuid}/comments/${pending.id}/approve`)
    expect(await shown()).toEqual(['Darn, we say', 'Darn, I say', 'Fine', 'Darn it'])
    await owner.send('DELETE', `/api/v1/videos/${video.uuid}/comments/${pending.id}`)
    expect(await node.query('select name from comment_automatic_tag where comment_id = $1', [pending.id])).toEqual([])
  })

  it('are checked with the current words of a list; earlier tags remain', async () => {
    const path = listsOf('owner')
    const id = await add(owner, path, 'list', 'before')
    await owner.send('PUT', policiesOf('owner'), { review: ['list'] })
    await say(guest, 'before')
    await owner.send('PUT', `${path}/${id}`, { listName: 'renamed', words: ['after'] })
    expect(await owner.get(policiesOf('owner'))).toEqual({ review: ['renamed'] })
    await say(guest, 'before again')
    await say(guest, 'after')
    expect(seen(await mine())).toEqual([['after', 'renamed'], ['before again'], ['before', 'list']])
    expect((await mine('isHeldForReview=true')).total).toBe(2)
    await owner.send('DELETE', `${path}/${id}`)
    expect(await owner.get(policiesOf('owner'))).toEqual({ review: [] })
    expect((await say(guest, 'after')).heldForReview).toBe(false)
  })

  it('of a megabyte are refused', async () => {
    const path = `/api/v1/videos/${video.uuid}/comment-threads`
    expect([400, 413]).toContain(await status(guest, 'POST', path, { text: 'a '.repeat(500_000) }))
  })
})

describe('remote comments', () => {
  const note = (content: string, more = {}) =>
    peer.note({ author: alice.account.url, inReplyTo: video.url, content, more: { mediaType: 'text/html', ...more } })

  it('with a watched word are pending, and sent on once they are approved', async () => {
    await add(owner, listsOf('owner'), 'watched', 'cheap pills', 'br')
    await owner.send('PUT', policiesOf('owner'), { review: ['watched'] })
    await toldBy('Create', note('<p>Cheap<br>pills</p>'))
    await toldBy('Create', note(`<p>Not <a href="${alice.account.url}" class="mention">@alice</a></p>`))
    expect(seen(await mine('isHeldForReview=true'))).toEqual([['Cheap\npills', 'watched']])
    expect(await shown()).toEqual(['Not @alice'])
    const [pending] = (await mine('isHeldForReview=true')).data
    await owner.send('POST', `/api/v1/videos/${video.uuid}/comments/${pending?.id}/approve`)
    await peer.awaited('the approval', ({ activity }) => activity.type === 'ApproveReply' && activity.object === pending?.url)
    expect(await shown()).toHaveLength(2)
  })

  it('are tagged again, and pending, after an edit', async () => {
    await add(owner, listsOf('owner'), 'watched', 'pills')
    await owner.send('PUT', policiesOf('owner'), { review: ['watched'] })
    const document = note('<p>Hello</p>')
    await toldBy('Create', document)
    expect(await shown()).toEqual(['Hello'])
    const edited = { ...document, updated: new Date().toISOString() }
    await toldBy('Update', { ...edited, content: '<p>See <a href="https://example.com">pills</a></p>' })
    expect(seen(await mine())).toEqual([['See pills (https://example.com)', 'external-link', 'watched']])
    expect(await shown()).toEqual([])
    await toldBy('Update', { ...edited, content: '<p>Hello again</p>', updated: new Date().toISOString() })
    // The last reviewer has to review it again.
    expect([seen(await mine()), await shown()]).toEqual([[['Hello again']], []])
  })

  it('of a quarter of a megabyte do not delay the inbox', async () => {
    await add(owner, listsOf('owner'), 'watched', '(a+)+$', 'a')
    await toldBy('Create', note(`<p>${'<b>a</b>'.repeat(30_000)}</p>`))
    expect((await mine()).total).toBe(1)
  })
})

describe('videos', () => {
  it('of the local server are tagged by the lists of the instance when they are created and changed', async () => {
    await add(moderator, INSTANCE, 'cats', 'cats?')
    await add(owner, listsOf('owner'), 'mine', 'cat')
    const mild = await uploadBy(owner, { name: 'A Cat', description: 'See https://example.com', support: 'dogs' })
    expect(await tagged('cats')).toEqual([['A Cat', 'cats', 'external-link']])
    expect(await tagged('mine')).toEqual([])
    await owner.send('PUT', `/api/v1/videos/${mild.uuid}`, { description: `At ${node.base}/about` })
    expect(await tagged('cats')).toEqual([['A Cat', 'cats']])
    await owner.send('PUT', `/api/v1/videos/${mild.uuid}`, { name: 'A dog', tags: ['cats'] })
    expect(await tagged('cats')).toEqual([['A dog', 'cats']])
    await owner.send('PUT', `/api/v1/videos/${mild.uuid}`, { tags: [], waitTranscoding: true })
    expect(await tagged('cats')).toEqual([])
  })

  it('of other servers are tagged too', async () => {
    await add(moderator, INSTANCE, 'cats', 'cats')
    const document = peer.video({ ...alice, more: { name: 'About cats' } })
    await toldBy('Create', document)
    const strangers = async () =>
      node.query('select t.name from video_automatic_tag t join video v on v.id = t.video_id where v.url = $1', [document.id])
    expect(await strangers()).toEqual([{ name: 'cats' }])
    const updated = new Date().toISOString()
    await toldBy('Update', { ...document, name: 'About dogs', updated })
    expect(await strangers()).toEqual([])
  })

  it('are listed by their tags for moderators alone, in every list', async () => {
    await add(moderator, INSTANCE, 'cats', 'comments')
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { name: 'For comments' })
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, {
      tags: ['x1'],
    })
    for (const path of [
      '/api/v1/videos?',
      '/api/v1/accounts/owner/videos?',
      '/api/v1/search/videos?search=comments&',
      '/api/v1/search/videos?',
    ]) {
      const list = await moderator.get<Videos>(`${path}autoTagOneOf=cats&autoTagOneOf=no&skipCount=false`)
      expect([path, list.total, list.data.map(({ id }) => id)]).toEqual([path, 1, [video.id]])
      expect((await moderator.get<Videos>(`${path}autoTagOneOf=no`)).total).toBe(0)
      expect((await owner.raw(`${path}autoTagOneOf=cats`)).status).toBe(401)
      expect((await fetch(`${node.base}${path}autoTagOneOf=cats`)).status).toBe(401)
    }
  })
})
