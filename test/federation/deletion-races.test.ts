// An object that is deleted while its document is being fetched is not created by that document.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { contextOf } from '../../src/federation/wire/context.ts'
import { newUuid } from '../../src/platform/ids.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const PUBLIC = 'https://www.w3.org/ns/activitystreams#Public'

let node: FederatedNode
let home: FakePeer
let abroad: FakePeer
let ann: { account: PeerActor; channel: PeerActor }
let ben: { account: PeerActor; channel: PeerActor }

beforeAll(async () => {
  ;[node, home, abroad] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  ann = await introduce(node, home, 'ann')
  ben = await introduce(node, abroad, 'ben')
})
afterAll(async () => {
  await Promise.all([home?.close(), abroad?.close(), node?.stop()])
})

const isStored = async (table: 'video' | 'playlist' | 'comment', url: string) =>
  (await node.query(`select 1 from ${table} where url = $1`, [url])).length > 0
const say = async (by: PeerActor, activity: JsonObject & { id: string }) => {
  expect((await post(node, by, activity)).status).toBe(204)
  return { done: () => done(activity.id) }
}
const done = (id: string) =>
  until(async () => (await node.query("select 1 from incoming_activity where activity_id = $1 and state = 'done'", [id]))[0], {
    what: 'the end of an activity',
  })
const search = (what: string, text: string) =>
  node.client.get<{ total: number }>(`/api/v1/search/${what}?search=${encodeURIComponent(text)}`)

/** Serves the document as it was at the request, but only after `meanwhile`. */
function slowly(peer: FakePeer, document: JsonObject & { id: string }, meanwhile: () => Promise<unknown>): void {
  let requested = 0
  peer.serve(document.id, async () => {
    requested += 1
    if (requested > 1) return { status: 410 }
    await meanwhile()
    return { body: document }
  })
}

const remove = (peer: FakePeer, by: PeerActor, url: string) => async () => await (await say(by, peer.activity(by, 'Delete', url))).done()

describe('while a video is fetched', () => {
  it.each(['account', 'channel'] as const)('the Delete of its %s ends a search for it', async (owner) => {
    const video = home.video(ann)
    slowly(home, video, remove(home, ann[owner], video.id))
    expect(await search('videos', video.id)).toEqual({ total: 0, data: [] })
    expect(await isStored('video', video.id)).toBe(false)
  })

  it('the Delete of its account ends the share of its channel', async () => {
    const video = home.video(ann)
    slowly(home, video, remove(home, ann.account, video.id))
    await (await say(ann.channel, home.activity(ann.channel, 'Announce', video.id))).done()
    expect(await isStored('video', video.id)).toBe(false)
  })

  it('a Delete by another actor changes nothing', async () => {
    const video = home.video(ann)
    slowly(home, video, remove(abroad, ben.account, video.id))
    expect(await search('videos', video.id)).toMatchObject({ total: 1 })
  })

  it('a video that was private for a while comes back', async () => {
    const video = home.video(ann)
    home.serve(video.id, video)
    await search('videos', video.id)
    await remove(home, ann.account, video.id)()
    expect(await isStored('video', video.id)).toBe(false)
    expect(await search('videos', video.id)).toMatchObject({ total: 1 })
  })

  it('every order of a share and a Delete leaves nothing', async () => {
    const rounds = Array.from({ length: 12 }, (_none, index) => index)
    const videos = await Promise.all(
      rounds.map(async (index) => {
        const video = home.video(ann)
        let isGone = false
        home.serve(video.id, () => (isGone ? { status: 410 } : { body: video }))
        const share = say(ann.channel, home.activity(ann.channel, 'Announce', video.id))
        // Some Deletes come before the fetch, some while it runs or is stored, some afterwards.
        if (index % 3 > 0) await share
        if (index % 3 > 1) await until(async () => home.fetched.includes(new URL(video.id).pathname))
        isGone = true
        const deletion = say(ann.account, home.activity(ann.account, 'Delete', video.id))
        await Promise.all([(await share).done(), (await deletion).done()])
        return video.id
      }),
    )
    for (const url of videos) expect(await isStored('video', url)).toBe(false)
  })
})

it('a playlist that is deleted while it is fetched is not stored', async () => {
  const uuid = newUuid()
  const playlist = {
    '@context': contextOf('playlist'),
    type: 'Playlist',
    id: `${home.base}/video-playlists/${uuid}`,
    uuid,
    name: 'Of Ann',
    content: null,
    mediaType: 'text/markdown',
    attributedTo: [ann.channel.url],
    icon: null,
    totalItems: 0,
    published: '2026-01-01T00:00:00.000Z',
    updated: '2026-01-01T00:00:00.000Z',
    to: [PUBLIC],
    cc: [],
    orderedItems: [],
  }
  slowly(home, playlist, remove(home, ann.account, playlist.id))
  expect(await search('video-playlists', playlist.id)).toEqual({ total: 0, data: [] })
  expect(await isStored('playlist', playlist.id)).toBe(false)
  home.serve(playlist.id, playlist)
  expect(await search('video-playlists', playlist.id)).toMatchObject({ total: 1 })
})

describe('a comment on a remote video', () => {
  const known = async () => {
    const video = home.video(ann)
    home.serve(video.id, video)
    await search('videos', video.id)
    return video.id
  }
  const ended = () =>
    until(async () => (await node.query('select 1 from waiting_comment')).length === 0, {
      what: 'the end of the thread',
    })

  it('that is deleted while its thread is fetched leaves a placeholder for its replies', async () => {
    const parent = abroad.note({ author: ben.account.url, inReplyTo: await known(), content: 'first' })
    slowly(abroad, parent, remove(abroad, ben.account, parent.id))
    const reply = home.note({ author: ann.account.url, inReplyTo: parent.id, content: 'second' })
    await (await say(ann.account, home.activity(ann.account, 'Create', reply))).done()
    await ended()
    expect(await node.query('select text, deleted_at is null as shown from comment where url = $1', [parent.id])).toEqual([
      { text: '', shown: false },
    ])
    expect(await isStored('comment', reply.id)).toBe(true)
  })

  it.each(['account', 'channel'] as const)('stays removed when the %s of the video removed it first', async (owner) => {
    const note = abroad.note({ author: ben.account.url, inReplyTo: await known(), content: 'never seen' })
    await remove(home, ann[owner], note.id)()
    await (await say(ben.account, abroad.activity(ben.account, 'Create', note))).done()
    expect(await isStored('comment', note.id)).toBe(false)
  })

  it('stays removed when it was waiting for its thread', async () => {
    const parent = abroad.note({ author: ben.account.url, inReplyTo: await known(), content: 'kept' })
    const reply = abroad.note({ author: ben.account.url, inReplyTo: parent.id, content: 'removed' })
    slowly(abroad, parent, remove(home, ann.account, reply.id))
    await (await say(ben.account, abroad.activity(ben.account, 'Create', reply))).done()
    await ended()
    expect(await isStored('comment', parent.id)).toBe(true)
    expect(await isStored('comment', reply.id)).toBe(false)
  })

  it('is not affected by the Delete of another actor', async () => {
    const cleo = await introduce(node, abroad, 'cleo')
    const note = abroad.note({ author: ben.account.url, inReplyTo: await known(), content: 'seen' })
    await remove(abroad, cleo.account, note.id)()
    await (await say(ben.account, abroad.activity(ben.account, 'Create', note))).done()
    expect(await isStored('comment', note.id)).toBe(true)
  })
})
