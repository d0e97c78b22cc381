// Counters of videos: exact with concurrent writes and folding processes, and corrected by reconciliation.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { userRoles } from '../../../src/actors/user/index.ts'
import { foldDeltas, PUBLIC_VIDEOS, reconcileCounters, VIDEOS_CHANGED } from '../../../src/actors/video/index.ts'
import { type MadeUser, makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import { type CommentServer, startCommentServer } from './server.ts'

let server: CommentServer
let owner: MadeUser

beforeAll(async () => {
  server = await startCommentServer()
  owner = await server.addUser('owner')
})
afterAll(() => server.stop())
beforeEach(async () => {
  await server.db.query('delete from video_delta')
})

const newVideo = (columns: Record<string, unknown> = {}) => makeVideo(server.db, { channelId: owner.channelId, bare: true, columns })

async function counters(videoId: number) {
  const [row] = await server.db.query('select likes, dislikes, comments, views from video where id = $1', [videoId])
  return row
}

/** Folds until `work` is done, then the rest. */
async function foldWhile(work: Promise<unknown>): Promise<void> {
  let isDone = false
  const fold = async () => {
    while (!isDone) await foldDeltas(server.db)
  }
  const folding = [fold(), fold(), fold()]
  await work.finally(() => {
    isDone = true
  })
  await Promise.all(folding)
  await foldDeltas(server.db)
}

describe('an approved comment that is edited', () => {
  it('is counted once, not counted while pending or rejected, and each change invalidates the page of its video', async () => {
    const { db, comments, reviews } = server
    const video = await newVideo({ comments_policy: 3 })
    const { accountId, host } = await makeRemoteChannel(db)
    const [author] = await db.query<{ actorId: number }>('select actor_id as "actorId" from account where id = $1', [accountId])
    const url = `https://${host}/notes/1`
    const text = { mediaType: 'text/plain', content: 'First' }
    const by = { accountId: owner.accountId, role: userRoles.user }
    await comments.receiveComment({
      url,
      videoId: video.id,
      accountId,
      parentUrl: null,
      createdAt: new Date(),
      ...text,
    })
    const [comment] = await db.query<{ id: number }>('select id from comment where url = $1', [url])
    const commentId = comment?.id ?? 0
    const counted = async () => {
      expect(server.published(VIDEOS_CHANGED)).toContainEqual({ what: 'comments', videoId: video.id })
      await foldDeltas(db)
      return ((await counters(video.id)) as { comments: number }).comments
    }
    const edit = (content: string) =>
      reviews.receiveEdit({
        commentId,
        actorId: author?.actorId ?? 0,
        ...text,
        content,
        updatedAt: null,
        activity: null,
      })
    expect(await counted()).toBe(0)
    await reviews.approve(commentId, by)
    expect(await counted()).toBe(1)
    await edit('Second')
    expect(await counted()).toBe(0)
    await edit('Third')
    expect(await counted()).toBe(0)
    await reviews.approve(commentId, by)
    expect(await counted()).toBe(1)
    await edit('Fourth')
    await comments.remove(commentId, by)
    expect(await counted()).toBe(0)
  })
})

describe('folding', () => {
  it('is exact while 200 ratings come in at once and three processes fold', async () => {
    const videos = await Promise.all(Array.from({ length: 4 }, () => newVideo()))
    const accounts = await Promise.all(Array.from({ length: 50 }, () => makeUser(server.db)))
    const all = videos.flatMap((video) => accounts.map((account) => ({ video, account })))
    await foldWhile(
      Promise.all(
        all.map(({ video, account }, index) =>
          server.ratings.setRating({
            videoId: video.id,
            accountId: account.accountId,
            rating: index % 5 === 0 ? 'dislike' : 'like',
          }),
        ),
      ),
    )
    for (const video of videos) {
      expect(await counters(video.id)).toEqual({ likes: 40, dislikes: 10, comments: 0, views: 0 })
    }
    expect(await server.db.query('select 1 from video_delta')).toEqual([])
  })

  it('of the same videos by several processes at once does not deadlock', async () => {
    const videos = await Promise.all(Array.from({ length: 40 }, () => newVideo()))
    const ids = videos.map((video) => video.id)
    const write = (order: number[]) => server.db.query('insert into video_delta (video_id, views) select unnest($1::int[]), 1', [order])
    await foldWhile(
      (async () => {
        for (let round = 0; round < 15; round += 1) {
          await Promise.all([write(ids), write(ids.toReversed())])
        }
      })(),
    )
    const [sum] = await server.db.query('select min(views) as least, max(views) as most from video where id = any($1)', [ids])
    expect(sum).toEqual({ least: 30, most: 30 })
  })

  it('does not deadlock with the removal of a video', async () => {
    const kept = await newVideo()
    const removed = await Promise.all(Array.from({ length: 20 }, () => newVideo()))
    const write = (videoId: number) =>
      server.db.query('insert into video_delta (video_id, views) select $1, 1 from generate_series(1, 50)', [videoId])
    await foldWhile(
      Promise.all(
        removed.map(async ({ id }) => {
          await Promise.all([write(id), write(kept.id)])
          await server.db.query('delete from video where id = $1', [id])
        }),
      ),
    )
    expect(await counters(kept.id)).toMatchObject({ views: 1000 })
    expect(await server.db.query('select 1 from video_delta')).toEqual([])
  })

  it('skips a video that a command has locked until the next time', async () => {
    const [busy, idle] = [await newVideo(), await newVideo()]
    await server.db.query('insert into video_delta (video_id, views) values ($1, 1), ($2, 1)', [busy.id, idle.id])
    await server.deps.tell({ aggregate: 'video', id: busy.id }, async () => {
      await foldDeltas(server.db)
    })
    expect(await counters(idle.id)).toMatchObject({ views: 1 })
    expect(await counters(busy.id)).toMatchObject({ views: 0 })
    await foldDeltas(server.db)
    expect(await counters(busy.id)).toMatchObject({ views: 1 })
  })

  it('processes more rows than one statement handles', async () => {
    const video = await newVideo()
    await server.db.query('insert into video_delta (video_id, views) select $1, 1 from generate_series(1, 2500)', [video.id])
    expect(await foldDeltas(server.db)).toBeGreaterThanOrEqual(1000)
    while ((await foldDeltas(server.db)) > 0);
    expect(await counters(video.id)).toMatchObject({ views: 2500 })
  })

  it('keeps the totals of the public lists', async () => {
    while ((await foldDeltas(server.db)) > 0);
    const total = async () =>
      (
        await server.db.query<{ total: number }>(
          `select sum(total)::int as total from video_count where local and nsfw and ${PUBLIC_VIDEOS}`,
        )
      )[0]?.total ?? 0
    const before = await total()
    const [one] = await Promise.all([newVideo({ nsfw: true }), newVideo({ nsfw: true }), newVideo({ nsfw: true })])
    await server.db.query('update video set privacy = 3 where id = $1', [one.id])
    await Promise.all([foldDeltas(server.db), foldDeltas(server.db)])
    expect((await total()) - before).toBe(2)
    expect(await server.db.query('select 1 from video_count_delta')).toEqual([])
  })
})

describe('reconciling', () => {
  it('counts the rows, and ignores what is not folded yet', async () => {
    const video = await newVideo({ likes: 70, dislikes: -3, comments: 12, views: 9 })
    const [one, other] = [await makeUser(server.db), await makeUser(server.db)]
    const { id: videoId } = video
    await server.ratings.setRating({ videoId, accountId: one.accountId, rating: 'like' })
    await server.ratings.setRating({ videoId, accountId: other.accountId, rating: 'dislike' })
    await server.comments.add({ videoId, by: { accountId: one.accountId, role: userRoles.user }, text: 'kept' })
    await reconcileCounters(server.db)
    await foldDeltas(server.db)
    expect(await counters(videoId)).toEqual({ likes: 1, dislikes: 1, comments: 1, views: 9 })
    await reconcileCounters(server.db)
    expect(await counters(videoId)).toEqual({ likes: 1, dislikes: 1, comments: 1, views: 9 })
  })

  it('processes local videos in batches, and does not touch remote ones', async () => {
    const { channelId } = await makeRemoteChannel(server.db)
    const columns = { likes: 5 }
    const remote = await makeVideo(server.db, { channelId, bare: true, columns, remoteOrigin: 'https://far.example' })
    const local = [await newVideo(columns), await newVideo(columns), await newVideo(columns)]
    let after: number | undefined = 0
    let batches = 0
    while (after !== undefined) {
      after = await reconcileCounters(server.db, { after, limit: 2 })
      batches += 1
    }
    expect(batches).toBeGreaterThan(1)
    for (const video of local) expect(await counters(video.id)).toMatchObject({ likes: 0 })
    expect(await counters(remote.id)).toMatchObject({ likes: 5 })
  })

  it('stays exact while ratings come in and are folded', async () => {
    const videos = await Promise.all(Array.from({ length: 3 }, () => newVideo()))
    const accounts = await Promise.all(Array.from({ length: 20 }, () => makeUser(server.db)))
    let isDone = false
    const reconciling = (async () => {
      while (!isDone) await reconcileCounters(server.db)
    })()
    await foldWhile(
      Promise.all(
        videos.flatMap((video) =>
          accounts.map((account) => server.ratings.setRating({ videoId: video.id, accountId: account.accountId, rating: 'like' })),
        ),
      ),
    )
    isDone = true
    await reconciling
    for (const video of videos) expect(await counters(video.id)).toMatchObject({ likes: 20, dislikes: 0 })
  })
})
