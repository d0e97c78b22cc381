// Removal of all comments of an account, by the owner of the videos or by the staff.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { makeRemoveCommentsOf, type RemoveCommentsOf } from '../../../src/actors/comment/index.ts'
import { insert, type MadeUser, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { as, type CommentServer, startCommentServer } from './server.ts'

let server: CommentServer
let owner: MadeUser
let other: MadeUser
let writer: MadeUser
let removeCommentsOf: RemoveCommentsOf['removeCommentsOf']
const videos: number[] = []

beforeAll(async () => {
  server = await startCommentServer()
  ;({ removeCommentsOf } = makeRemoveCommentsOf({ ...server.deps, comments: server.comments }))
  owner = await server.addUser('owner')
  other = await server.addUser('other')
  writer = await server.addUser('writer')
  for (const { channelId } of [owner, other]) {
    const { id } = await makeVideo(server.db, { channelId, bare: true })
    videos.push(id)
    for (const by of [writer, other]) {
      await server.comments.add({ videoId: id, by: { accountId: by.accountId, role: 2 }, text: 'a word' })
    }
  }
})
afterAll(() => server.stop())

const left = async () =>
  (
    await server.db.query<{ place: string }>(
      `select a.name || ' below ' || o.name as place from comment m join account a on a.id = m.account_id
         join video v on v.id = m.video_id join channel c on c.id = v.channel_id join account o on o.id = c.account_id
       where m.deleted_at is null order by 1`,
    )
  ).map((row) => row.place)

const progress: number[] = []
const work = async () => {
  progress.length = 0
  const jobs = await server.db.query<{ id: number; data: Record<string, string | number> }>(
    "delete from job where type = 'comments-removal' returning id, data",
  )
  for (const { id, data } of jobs) {
    const context = {
      id,
      type: 'comments-removal',
      data,
      signal: new AbortController().signal,
      progress: (percent: number) => void progress.push(percent),
    }
    await server.deps.registry.jobs.get('comments-removal')?.run(context)
  }
}

it('an owner removes those on own videos, the staff all while they are staff, and others none', async () => {
  const everything = ['other below other', 'other below owner', 'writer below other', 'writer below owner']
  expect(await left()).toEqual(everything)

  const byOwner = { accountId: owner.accountId, role: 2 } as const
  const ask = { accountName: 'writer', by: byOwner }
  await expect(removeCommentsOf({ ...ask, scope: 'instance' })).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(removeCommentsOf({ accountName: 'nobody', scope: 'my-videos', by: byOwner })).rejects.toMatchObject({
    kind: 'not_found',
  })
  await work()
  expect(await left()).toEqual(everything)

  await removeCommentsOf({ ...ask, scope: 'my-videos' })
  await work()
  expect(await left()).toEqual(['other below other', 'other below owner', 'writer below other'])

  const name = `writer@${server.deps.urls.host}`
  const byStaff = { accountName: name, scope: 'instance', by: { accountId: owner.accountId, role: 1 } } as const
  const holds = (role: number) => server.db.query('update users set role = $2 where username = $1', [owner.username, role])
  await removeCommentsOf(byStaff)
  await holds(2)
  await expect(work()).rejects.toThrow('no longer allowed to do this')
  expect(await left()).toEqual(['other below other', 'other below owner', 'writer below other'])

  await holds(1)
  await removeCommentsOf(byStaff)
  const [requested] = await server.db.query<{ data: object }>("select data from job where type = 'comments-removal'")
  expect(requested?.data).toEqual({ accountId: writer.accountId, byAccountId: owner.accountId })
  await work()
  expect(progress).toEqual([100])
  expect(await left()).toEqual(['other below other', 'other below owner'])
})

describe('of a video that its server deleted', () => {
  let channelId: number
  let channelActorId: number

  beforeAll(async () => {
    channelId = (await makeRemoteChannel(server.db)).channelId
    const [channel] = await server.db.query<{ id: number }>('select actor_id as id from channel where id = $1', [channelId])
    channelActorId = channel?.id ?? 0
  })
  beforeEach(() => server.db.query('delete from kept_comment'))

  const keep = async (by: MadeUser, count: number) =>
    (
      await server.db.query<{ id: number; url: string }>(
        `insert into kept_comment (id, url, video_url, actor_id, account_id, text, held_for_review, created_at, updated_at,
           kept_at)
         select nextval(pg_get_serial_sequence('comment', 'id')), 'http://localhost:9000/kept/' || gen_random_uuid(),
           'https://far.example/videos/1', $1, $2, 'a word', false, now(), now(), now()
         from generate_series(1, $3::int) returning id, url`,
        [channelActorId, by.accountId, count],
      )
    ).toSorted((a, b) => a.id - b.id)
  const kept = async () => (await server.db.query<{ id: number }>('select id from kept_comment order by id')).map(({ id }) => id)
  const removals = async () => (await server.events()).filter(({ name }) => name === 'KeptCommentRemoved')

  it('the staff removes the retained comments of an account and notifies its server; an owner removes none of them', async () => {
    const [others] = await keep(other, 1)
    const comments = await keep(writer, 120)
    await removeCommentsOf({ accountName: 'writer', scope: 'my-videos', by: { accountId: owner.accountId, role: 1 } })
    await work()
    expect(await kept()).toHaveLength(121)
    await removeCommentsOf({ accountName: 'writer', scope: 'instance', by: { accountId: owner.accountId, role: 1 } })
    await work()
    expect(await kept()).toEqual([others?.id])
    const sent = (await removals()).map(({ payload }) => payload)
    expect(sent).toHaveLength(120)
    expect(sent).toEqual(expect.arrayContaining(comments.map(({ url }) => ({ url, actorId: writer.actorId, channelActorId }))))
  })

  it('its author removes a comment, whatever became of the video', async () => {
    const [first, second] = await keep(writer, 2)
    const remove = async (by: string) =>
      (
        await server.app.inject({
          method: 'DELETE',
          url: `/api/v1/videos/99999/comments/${first?.id}`,
          headers: as(by),
        })
      ).statusCode
    expect(await remove('other')).toBe(404)
    expect(await remove('writer')).toBe(204)
    expect(await remove('writer')).toBe(404)
    expect(await kept()).toEqual([second?.id])
    expect((await removals()).map(({ payload }) => payload)).toEqual([{ url: first?.url, actorId: writer.actorId, channelActorId }])
  })

  it('its block is removed after a year, like its comments', async () => {
    const blocked = async () => {
      const video = await makeVideo(server.db, {
        channelId,
        bare: true,
        remoteOrigin: 'https://far.example',
        columns: { blocked: true },
      })
      await insert(server.db, 'video_block', { video_id: video.id, type: 1, created_at: new Date(0) })
      await server.db.query('delete from video where id = $1', [video.id])
      return video.url
    }
    const [old, young] = [await blocked(), await blocked()]
    const [oldWord, youngWord] = await keep(writer, 2)
    const DAY = 24 * 3_600_000
    const age = async (table: string, url: string | undefined, days: number) =>
      await server.db.query(`update ${table} set kept_at = $2 where url = $1`, [url, new Date(Date.now() - days * DAY)])
    await age('kept_video_block', old, 366)
    await age('kept_comment', oldWord?.url, 366)
    await age('kept_comment', youngWord?.url, 364)
    await server.deps.registry.periodics.get('forget-waiting-comments')?.run()
    // The block is older: the retention counts from the removal.
    expect(await server.db.query('select url from kept_video_block')).toEqual([{ url: young }])
    expect(await kept()).toEqual([youngWord?.id])
  })
})
