// All comments of an account at once: by the owner of the videos, or by the staff.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeRemoveCommentsOf } from '../../../src/actors/comment/index.ts'
import { type MadeUser, makeVideo } from '../../support/builders.ts'
import { type CommentServer, startCommentServer } from './server.ts'

let server: CommentServer
let owner: MadeUser
let other: MadeUser
let writer: MadeUser
const videos: number[] = []

beforeAll(async () => {
  server = await startCommentServer()
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

it('an owner removes those below the own videos, the staff all as long as they are staff, and nobody else any', async () => {
  const { removeCommentsOf } = makeRemoveCommentsOf({ ...server.deps, comments: server.comments })
  const { registry } = server.deps
  const work = async () => {
    const jobs = await server.db.query<{ id: number; data: Record<string, string | number> }>(
      "delete from job where type = 'comments-removal' returning id, data",
    )
    for (const { id, data } of jobs) {
      const context = { id, type: 'comments-removal', data, signal: new AbortController().signal, progress: () => {} }
      await registry.jobs.get('comments-removal')?.run(context)
    }
  }
  const everything = ['other below other', 'other below owner', 'writer below other', 'writer below owner']
  expect(await left()).toEqual(everything)

  const as = (accountId: number, role: 0 | 1 | 2) => ({ accountId, role })
  const byOwner = as(owner.accountId, 2)
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
  const byStaff = { accountName: name, scope: 'instance', by: as(owner.accountId, 1) } as const
  const holds = (role: number) =>
    server.db.query('update users set role = $2 where username = $1', [owner.username, role])
  await removeCommentsOf(byStaff)
  await holds(2)
  await expect(work()).rejects.toThrow('may not do it any more')
  expect(await left()).toEqual(['other below other', 'other below owner', 'writer below other'])

  await holds(1)
  await removeCommentsOf(byStaff)
  const [asked] = await server.db.query<{ data: object }>("select data from job where type = 'comments-removal'")
  expect(asked?.data).toEqual({ accountId: writer.accountId, byAccountId: owner.accountId })
  await work()
  expect(await left()).toEqual(['other below other', 'other below owner'])
})
