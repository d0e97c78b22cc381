// Reconciliation of wrong counters, by one process at a time and in batches, while others write and fold.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { maintainAbuseTotals } from '../../../src/actors/abuse/index.ts'
import { foldActorTotals, registerActorTotals } from '../../../src/actors/actor/index.ts'
import { maintainCommentTotals } from '../../../src/actors/comment/index.ts'
import { scheduleReconciliation, walks } from '../../../src/actors/counters/index.ts'
import { maintainFollowCounts, makeFollows } from '../../../src/actors/follow/index.ts'
import { makePlaylistElements, type PlaylistElements } from '../../../src/actors/playlist/index.ts'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import { userRoles } from '../../../src/actors/user/index.ts'
import { foldDeltas } from '../../../src/actors/video/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeUser, type MadeVideo, makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import { counters, type WrongCounter, wrongCounters } from '../../support/counters.ts'
import { type CommentServer, startCommentServer } from '../comments/server.ts'

let server: CommentServer
let deps: ActorDeps
let elements: PlaylistElements
let follows: ReturnType<typeof makeFollows>
let owner: MadeUser
let people: MadeUser[]
let videos: MadeVideo[]
let playlistId: number

beforeAll(async () => {
  server = await startCommentServer()
  deps = server.deps
  scheduleReconciliation(deps)
  maintainCommentTotals(deps)
  maintainAbuseTotals(deps)
  registerActorTotals(deps)
  maintainFollowCounts(deps.registry)
  follows = makeFollows(deps)
  elements = makePlaylistElements(deps)
  owner = await server.addUser('owner')
  people = await Promise.all(Array.from({ length: 8 }, () => makeUser(server.db)))
  const { channelId } = await makeRemoteChannel(server.db)
  videos = await Promise.all([
    ...Array.from({ length: 3 }, () => makeVideo(server.db, { channelId: owner.channelId, bare: true })),
    makeVideo(server.db, { channelId, bare: true, remoteOrigin: 'https://far.example' }),
  ])
  const uuid = newUuid()
  playlistId = await insert(server.db, 'playlist', {
    uuid,
    account_id: owner.accountId,
    url: `http://x/${uuid}`,
    name: 'List',
    type: 1,
    privacy: 3,
  })
  await write()
})
afterAll(() => server.stop())

const periodic = (name: string) => async () => await deps.registry.periodics.get(name)?.run()

/** Runs a reconciliation to the end of its current turn. */
const step = (walk: string) => periodic(`reconcile-${walk}`)()
const makeDue = (walk: string) => server.db.query('update reconciliation set looked_at = null where counter = $1', [walk])

async function walkThrough(walk: string): Promise<void> {
  for (let next = 1; next > 0; ) {
    await makeDue(walk)
    await step(walk)
    const [place] = await server.db.query<{ after: number }>('select after from reconciliation where counter = $1', [walk])
    next = place?.after ?? 0
  }
}

async function fold(): Promise<void> {
  while ((await foldDeltas(server.db)) > 0);
  await foldActorTotals(server.db)
  await periodic('comment-totals')()
  await periodic('abuse-totals')()
}

/** Everything that is counted, written concurrently. */
async function write(): Promise<void> {
  await Promise.all(
    people.flatMap((one, index) => [
      ...videos.map(async ({ id: videoId }) => {
        const { accountId } = one
        await server.ratings.setRating({ videoId, accountId, rating: index % 3 === 0 ? 'dislike' : 'like' })
        const by = { accountId, role: userRoles.user }
        const commentId = await server.comments.add({ videoId, by, text: 'said' })
        if (index % 2 === 0) await server.comments.remove(commentId, by)
      }),
      (async () => {
        const { followId } = await follows.request({ followerId: one.actorId, targetId: owner.channelActorId })
        if (index % 2 === 0) await follows.withdraw(followId)
      })(),
      (async () => {
        const report = { url: `http://x/${newUuid()}`, object_url: 'http://x/y', kind: 'account', reason: 'bad' }
        const by = { reporter_id: one.accountId, reporter_name: 'a', reporter_url: 'http://x/a' }
        const of = { reportee_id: owner.accountId, reportee_name: 'b', reportee_url: 'http://x/b' }
        const id = await insert(server.db, 'abuse', { ...report, ...by, ...of, reported_id: owner.accountId })
        if (index % 2 === 0) await server.db.query('delete from abuse where id = $1', [id])
      })(),
      elements.add(playlistId, { accountId: owner.accountId, role: userRoles.user }, { videoId: videos[0]?.id ?? 0 }),
      (async () => {
        const { id } = await makeVideo(server.db, { channelId: owner.channelId, bare: true })
        if (index % 2 === 0) await server.db.query('update video set privacy = 3, nsfw = true where id = $1', [id])
      })(),
      makeRemoteChannel(server.db),
    ]),
  )
  await server.events()
}

const falsehoods: Record<string, string> = {
  'likes of videos of ours': 'update video set likes = likes + 7',
  'dislikes of videos of ours': 'update video set dislikes = 0 where id % 2 = 0',
  'comments of videos': 'update video set comments = comments - 5',
  'lengths of playlists': 'update playlist set elements_count = 77',
  'followers of actors of ours': 'update actor set followers_count = 3 + followers_count where host_id is null',
  'followings of actors of ours': 'update actor set following_count = 9 where host_id is null',
  'followers of actors of others': 'update actor set remote_followers = id % 3, followers_count = 5 where host_id is not null',
  'followings of actors of others': 'update actor set following_count = 9 where host_id is not null',
  'totals of public videos': 'update video_count set total = total - 4',
  'totals of accounts and channels': 'update actor_total set total = 0',
  'totals of playlists': 'update playlist_total set total = total - 2',
  'totals of comments': 'update comment_total set total = total + 1000',
  'totals of reports': 'update abuse_total set total = total + 3',
}

describe.each(counters)('$counter', ({ counter, walk }) => {
  const falsify = () => server.db.query(falsehoods[counter] ?? '')
  const isWrong = async () => (await wrongCounters(server.db)).some((one) => one.counter === counter)

  it('are right as long as nothing goes wrong, and are not changed', async () => {
    expect(await wrongCounters(server.db)).toEqual([])
    await walkThrough(walk)
    expect(await wrongCounters(server.db)).toEqual([])
    await fold()
    expect(await wrongCounters(server.db)).toEqual([])
  })

  it('are corrected, with or without unfolded deltas', async () => {
    await falsify()
    expect(await isWrong()).toBe(true)
    await walkThrough(walk)
    expect(await wrongCounters(server.db)).toEqual([])
    await write()
    await falsify()
    await walkThrough(walk)
    expect(await wrongCounters(server.db)).toEqual([])
    await fold()
    expect(await wrongCounters(server.db)).toEqual([])
  })

  it('are corrected and stay right during writes and folding', async () => {
    await falsify()
    let isDone = false
    const until = async (work: () => Promise<void>) => {
      while (!isDone) await work()
    }
    const busy = [until(fold), until(() => walkThrough(walk))]
    await write()
      .then(write)
      .finally(() => {
        isDone = true
      })
    await Promise.all(busy)
    // Locked rows were left for the next time.
    await walkThrough(walk)
    expect(await wrongCounters(server.db)).toEqual([])
  })
})

it('no synchronous counter is wrong for a moment during writes, folding and reconciliation', async () => {
  let isDone = false
  const until = async (work: () => Promise<void>) => {
    while (!isDone) await work()
  }
  const seen: WrongCounter[] = []
  const busy = [
    until(fold),
    ...Object.keys(walks).map((walk) => until(() => walkThrough(walk))),
    until(async () => void seen.push(...(await wrongCounters(server.db)))),
  ]
  await write().finally(() => {
    isDone = true
  })
  await Promise.all(busy)
  // Followers are counted asynchronously.
  expect(seen.filter(({ counter }) => !counter.startsWith('follow'))).toEqual([])
  expect(await wrongCounters(server.db)).toEqual([])
})

it('every reconciliation has a counter that tests it', () => {
  expect(new Set(counters.map(({ walk }) => walk))).toEqual(new Set(Object.keys(walks)))
})

it('a total is corrected once when two processes check at once, and not again before it is due', async () => {
  await server.db.query('update video_count set total = total + 10')
  await makeDue('video-totals')
  await Promise.all([step('video-totals'), step('video-totals'), step('video-totals')])
  expect(await wrongCounters(server.db)).toEqual([])
  await server.db.query('update video_count set total = total + 10')
  await step('video-totals')
  expect(await wrongCounters(server.db)).not.toEqual([])
  await walkThrough('video-totals')
})

it('a step handles a limited number of rows, and the next one continues there, in any process', async () => {
  await server.db.query(
    `insert into playlist (uuid, account_id, url, name, type, privacy, elements_count)
     select u, $1, 'http://x/' || u, 'Many', 1, 3, 5 from (select gen_random_uuid() as u from generate_series(1, 2500)) many`,
    [owner.accountId],
  )
  const wrong = async () => (await wrongCounters(server.db)).length
  await server.db.query("update reconciliation set after = 0 where counter = 'playlists'")
  const left: number[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    await makeDue('playlists')
    await step('playlists')
    left.push(await wrong())
  }
  expect(left).toEqual([1501, 501, 0])
})

it('a batch that takes too long is split, and a single row that does is skipped', async () => {
  const made = await server.db.query<{ id: number; name: string }>(
    `insert into playlist (uuid, account_id, url, name, type, privacy, elements_count)
     select u, $1, 'http://x/' || u, case n when 17 then 'Endless' else 'Quick' end, 1, 3, 5
     from (select n, gen_random_uuid() as u from generate_series(1, 60) n) many returning id, name`,
    [owner.accountId],
  )
  await server.db.query(
    `create function take_too_long() returns trigger language plpgsql as $$ begin
       raise exception using errcode = 'query_canceled';
     end $$`,
  )
  await server.db.query(
    `create trigger endless before update on playlist for each row when (new.name = 'Endless')
     execute function take_too_long()`,
  )
  const ids = made.map(({ id }) => id)
  const walkFromThere = async () => {
    await server.db.query("update reconciliation set after = $1 where counter = 'playlists'", [Math.min(...ids) - 1])
    await walkThrough('playlists')
  }
  const left = () => server.db.query('select name from playlist where id = any($1) and elements_count <> 0', [ids])
  await walkFromThere()
  expect(await left()).toEqual([{ name: 'Endless' }])

  await server.db.query('drop trigger endless on playlist')
  await walkFromThere()
  expect(await left()).toEqual([])
})
