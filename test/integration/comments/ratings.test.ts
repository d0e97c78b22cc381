// Likes, dislikes and shares: one for each account and video, however often and concurrently they are received.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type MadeUser, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { as, type CommentServer, startCommentServer } from './server.ts'

let server: CommentServer
let owner: MadeUser
let fan: MadeUser

beforeAll(async () => {
  server = await startCommentServer()
  owner = await server.addUser('owner')
  fan = await server.addUser('fan')
})
afterAll(() => server.stop())

const newVideo = () => makeVideo(server.db, { channelId: owner.channelId, bare: true })

async function rate(videoId: number, rating: 'like' | 'dislike' | 'none'): Promise<number> {
  const url = `/api/v1/videos/${videoId}/rate`
  return (await server.app.inject({ method: 'PUT', url, headers: as('fan'), payload: { rating } })).statusCode
}

async function counts(videoId: number) {
  const [row] = await server.db.query<{ likes: number; dislikes: number }>(
    'select coalesce(sum(likes), 0)::int as likes, coalesce(sum(dislikes), 0)::int as dislikes from video_delta where video_id = $1',
    [videoId],
  )
  return row
}

const rows = (videoId: number) =>
  server.db.query<{ type: string; url: string }>('select type, url from rating where video_id = $1', [videoId])

describe('a local rating', () => {
  it('has the URL of its kind, and counts once however often it is set', async () => {
    const video = await newVideo()
    await server.events()
    expect(await rate(video.id, 'like')).toBe(204)
    expect(await rate(video.id, 'like')).toBe(204)
    expect(await rows(video.id)).toEqual([{ type: 'like', url: `http://localhost:9000/accounts/fan/likes/${video.id}` }])
    expect(await counts(video.id)).toEqual({ likes: 1, dislikes: 0 })
    expect(await server.events()).toHaveLength(1)

    await rate(video.id, 'dislike')
    const url = `http://localhost:9000/accounts/fan/dislikes/${video.id}`
    expect(await rows(video.id)).toEqual([{ type: 'dislike', url }])
    expect(await counts(video.id)).toEqual({ likes: 0, dislikes: 1 })

    await server.events()
    await rate(video.id, 'none')
    await rate(video.id, 'none')
    expect(await rows(video.id)).toEqual([])
    expect(await counts(video.id)).toEqual({ likes: 0, dislikes: 0 })
    const gone = { url, type: 'dislike', actorId: fan.actorId, videoId: video.id }
    expect(await server.events()).toEqual([{ name: 'RatingRemoved', payload: gone }])
  })

  it('that is removed and set again is sent in this order', async () => {
    const video = await newVideo()
    await server.events()
    for (const rating of ['like', 'none', 'like'] as const) await rate(video.id, rating)
    const mailboxes = await server.db.query('select distinct aggregate, aggregate_id from outbox')
    expect(mailboxes).toEqual([{ aggregate: 'actor', aggregate_id: fan.actorId }])
    expect((await server.events()).map(({ name }) => name)).toEqual(['RatingSet', 'RatingRemoved', 'RatingSet'])
  })

  it('set in several ways at once leaves one, which the counts match', async () => {
    const video = await newVideo()
    const all = Array.from({ length: 12 }, (_, index) => (['like', 'dislike', 'none'] as const)[index % 3] ?? 'none')
    expect(new Set(await Promise.all(all.map((rating) => rate(video.id, rating))))).toEqual(new Set([204]))
    const kept = await rows(video.id)
    expect(kept.length).toBeLessThanOrEqual(1)
    const isKept = (type: string) => (kept[0]?.type === type ? 1 : 0)
    expect(await counts(video.id)).toEqual({ likes: isKept('like'), dislikes: isKept('dislike') })
  })

  it('is refused with 404 on a removed video', async () => {
    const { accountId } = fan
    await expect(server.ratings.setRating({ videoId: 424242, accountId, rating: 'like' })).rejects.toMatchObject({
      kind: 'not_found',
    })
  })
})

describe('a remote rating', () => {
  it('counts once however often it is received, changes, and is undone once', async () => {
    const video = await newVideo()
    const { accountId } = await makeRemoteChannel(server.db)
    const like = { url: 'https://far.example/likes/1', videoId: video.id, accountId, type: 'like' } as const
    await Promise.all(Array.from({ length: 8 }, () => server.ratings.receiveRating(like)))
    expect(await counts(video.id)).toEqual({ likes: 1, dislikes: 0 })

    await server.ratings.receiveRating({ ...like, url: 'https://far.example/dislikes/1', type: 'dislike' })
    expect(await counts(video.id)).toEqual({ likes: 0, dislikes: 1 })
    expect(await rows(video.id)).toEqual([{ type: 'dislike', url: 'https://far.example/dislikes/1' }])

    const back = { videoId: video.id, accountId }
    await Promise.all([server.ratings.removeReceivedRating(back), server.ratings.removeReceivedRating(back)])
    expect(await counts(video.id)).toEqual({ likes: 0, dislikes: 0 })
  })

  it('keeps the latest id, by which it can be undone, without counting again', async () => {
    const video = await newVideo()
    const { accountId } = await makeRemoteChannel(server.db)
    const like = { videoId: video.id, accountId, type: 'like' } as const
    await server.ratings.receiveRating({ ...like, url: 'https://far.example/likes/5' })
    await server.ratings.receiveRating({ ...like, url: 'https://far.example/likes/6' })
    expect(await rows(video.id)).toEqual([{ type: 'like', url: 'https://far.example/likes/6' }])
    expect(await counts(video.id)).toEqual({ likes: 1, dislikes: 0 })
  })

  it('is refused on a private video, and ignored on a remote one', async () => {
    const { accountId, channelId } = await makeRemoteChannel(server.db)
    const hidden = await makeVideo(server.db, { channelId: owner.channelId, bare: true, columns: { privacy: 3 } })
    const like = { url: 'https://far.example/likes/3', accountId, type: 'like' } as const
    await expect(server.ratings.receiveRating({ ...like, videoId: hidden.id })).rejects.toMatchObject({
      kind: 'forbidden',
    })
    const remote = await makeVideo(server.db, { channelId, bare: true, remoteOrigin: 'https://far.example' })
    await server.ratings.receiveRating({ ...like, videoId: remote.id })
    expect(await rows(remote.id)).toEqual([])
  })

  it("cannot use the id of somebody else's rating", async () => {
    const video = await newVideo()
    const [one, other] = [await makeRemoteChannel(server.db), await makeRemoteChannel(server.db)]
    const like = { url: 'https://far.example/likes/2', videoId: video.id, type: 'like' } as const
    await server.ratings.receiveRating({ ...like, accountId: one.accountId })
    await expect(server.ratings.receiveRating({ ...like, accountId: other.accountId })).rejects.toMatchObject({
      kind: 'forbidden',
    })
    expect(await counts(video.id)).toEqual({ likes: 1, dislikes: 0 })
  })
})

describe('a share', () => {
  const shares = (videoId: number) => server.db.query('select url from share where video_id = $1', [videoId])

  it('is kept once, by its latest address, until it is taken back', async () => {
    const video = await newVideo()
    const share = { videoId: video.id, actorId: owner.actorId, url: 'https://far.example/announces/1' }
    await Promise.all(Array.from({ length: 8 }, () => server.shares.receiveShare(share)))
    expect(await shares(video.id)).toEqual([{ url: share.url }])
    await server.shares.receiveShare({ ...share, url: 'https://far.example/announces/2' })
    expect(await shares(video.id)).toEqual([{ url: 'https://far.example/announces/2' }])
    await server.shares.removeShare(share)
    await server.shares.removeShare(share)
    expect(await shares(video.id)).toEqual([])
  })

  it('cannot use the id of the share of another actor', async () => {
    const video = await newVideo()
    const share = { videoId: video.id, actorId: owner.actorId, url: 'https://far.example/announces/3' }
    await server.shares.receiveShare(share)
    await expect(server.shares.receiveShare({ ...share, actorId: fan.actorId })).rejects.toMatchObject({
      kind: 'forbidden',
    })
  })
})
