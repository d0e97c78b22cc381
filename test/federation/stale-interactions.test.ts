// Likes, dislikes, shares and comments that their servers no longer have are detected and removed.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
/** Follows the local account, and serves the objects of its actors. */
let peer: FakePeer
let other: FakePeer
let pia: PeerActor
let otto: PeerActor
let bytes: Buffer
let video: { id: number; uuid: string; url: string }

beforeAll(async () => {
  ;[node, peer, other] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  pia = (await introduce(node, peer, 'pia')).account
  otto = (await introduce(node, other, 'otto')).account
  await node.deliver(pia, peer.activity(pia, 'Follow', `${node.base}/accounts/root`))
})
afterAll(async () => {
  await Promise.all([peer?.close(), other?.close(), node?.stop()])
})
beforeEach(async () => {
  await node.query('delete from job where type = $1', ['activitypub-cleaner'])
  await node.query('update interactions_cleaning set kind = null, after_id = null, round_at = null')
  video = await node.upload(bytes)
  for (const one of [peer, other]) {
    one.fetched.length = 0
    one.received.length = 0
  }
})

/** A whole round of checks. */
async function clean(): Promise<void> {
  const [job] = await node.query<{ id: number }>("insert into job (type, queue) values ('activitypub-cleaner', 'io') returning id")
  await until(async () => {
    const [row] = await node.query<{ state: string; error: string }>('select state, error from job where id = $1', [job?.id])
    if (row?.state === 'failed') throw new Error(row.error)
    return row?.state === 'completed'
  })
}

interface Given {
  likes: number
  dislikes: number
  shares: string[]
  comments: string[]
}
const given = async (): Promise<Given> => {
  const [row] = await node.query<Given>(
    `select (select count(*)::int from rating where video_id = $1 and type = 'like') as likes,
       (select count(*)::int from rating where video_id = $1 and type = 'dislike') as dislikes,
       array(select url from share where video_id = $1 and not starts_with(url, $2) order by id) as shares,
       array(select url from comment where video_id = $1 and deleted_at is null order by id) as comments`,
    [video.id, node.base],
  )
  if (!row) throw new Error('no video')
  return row
}

/** All interactions of an actor with the local video, each served by its server. */
async function give(by: PeerActor, at: FakePeer, rate: 'Like' | 'Dislike' = 'Like') {
  const rating = at.activity(by, rate, video.url)
  const share = at.activity(by, 'Announce', video.url)
  const note = at.note({ author: by.url, inReplyTo: video.url })
  for (const one of [rating, share]) at.serve(one.id, one)
  await node.deliver(by, rating)
  await node.deliver(by, share)
  await node.deliver(by, at.activity(by, 'Create', note))
  return { rating: rating.id, share: share.id, note: note.id }
}
const answer = (at: FakePeer, urls: Iterable<string>, status: number) => {
  for (const url of urls) at.serve(url, () => ({ status }))
}

it('interactions that are gone are removed with their counts, and forwarded; the others remain', async () => {
  const gone = await give(pia, peer)
  const there = await give(otto, other, 'Dislike')
  const deleted = peer.note({ author: pia.url, inReplyTo: video.url })
  await node.deliver(pia, peer.activity(pia, 'Create', deleted))
  expect(await given()).toMatchObject({ likes: 1, dislikes: 1, shares: [gone.share, there.share] })

  answer(peer, Object.values(gone), 410)
  peer.serve(deleted.id, { id: deleted.id, type: 'Tombstone' })
  await clean()
  expect(await given()).toEqual({ likes: 0, dislikes: 1, shares: [there.share], comments: [there.note] })
  await peer.awaited(
    'the Delete of the comment, by the owner of the video',
    ({ activity }) => activity.type === 'Delete' && activity.actor === `${node.base}/accounts/root`,
  )
  await until(
    async () => {
      const shown = await node.client.get<{ likes: number; dislikes: number }>(`/api/v1/videos/${video.uuid}`)
      const threads = await node.client.get<{ totalNotDeletedComments: number }>(`/api/v1/videos/${video.uuid}/comment-threads`)
      return shown.likes === 0 && shown.dislikes === 1 && threads.totalNotDeletedComments === 1
    },
    { what: 'the counts without what is gone' },
  )
  // A removed comment does not come back.
  await node.deliver(pia, peer.activity(pia, 'Create', deleted))
  expect((await given()).comments).toEqual([there.note])
})

it('missing interactions are removed in the second round in a row', async () => {
  const missing = await give(pia, peer)
  const all = await given()
  const documents = Object.values(missing)
  const round = async (status: number, urls = documents) => {
    answer(peer, urls, status)
    await clean()
    return await given()
  }
  expect(await round(404)).toEqual(all)
  expect(await round(403)).toEqual(all)
  expect(await round(404)).toEqual(all)
  expect(await round(404, [missing.note, missing.rating])).toEqual({ likes: 0, dislikes: 0, shares: [], comments: [] })
})

it('nothing is removed for a server that refuses, fails or does not answer, which gets no more requests in this round', async () => {
  const urls = await give(otto, other)
  const all = await given()
  answer(other, Object.values(urls), 401)
  await clean()
  await clean()
  answer(other, Object.values(urls), 503)
  other.fetched.length = 0
  await clean()
  await clean()
  const paths = Object.values(urls).map((url) => new URL(url).pathname)
  expect(other.fetched.filter((path) => paths.includes(path)).length).toBe(2)
  await other.down()
  try {
    await clean()
    await clean()
  } finally {
    await other.up()
  }
  expect(await given()).toEqual(all)
})

it('a server with failing deliveries gets no request', async () => {
  const urls = await give(otto, other)
  answer(other, Object.values(urls), 410)
  const fail = () =>
    node.query("update remote_host set state = 'failing', due_at = now() + interval '1 hour' where host = $1", [other.host])
  await fail()
  // Requests in flight would show that it answers.
  await until(async () => (await node.query('select from lane where lease_until > now()')).length === 0, {
    what: 'the end of deliveries',
  })
  await fail()
  other.fetched.length = 0
  await clean()
  await node.query("update remote_host set state = 'healthy', due_at = null where host = $1", [other.host])
  expect(other.fetched).toEqual([])
  expect((await given()).comments).toEqual([urls.note])
})

it('an interrupted round is resumed', async () => {
  const urls = await give(pia, peer)
  answer(peer, Object.values(urls), 410)
  const [share] = await node.query<{ id: number }>('select id from share where url = $1', [urls.share])
  await node.query("update interactions_cleaning set kind = 'share', after_id = $1, round_at = now() - interval '1 hour'", [share?.id])
  await clean()
  expect(await given()).toEqual({ likes: 1, dislikes: 0, shares: [urls.share], comments: [] })
  expect(await node.query('select kind, after_id, round_at from interactions_cleaning')).toEqual([
    { kind: null, after_id: null, round_at: null },
  ])
})
