// Views of many videos are written in batches.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import { startViewsHarness, type ViewsHarness } from './harness.ts'

const VIDEOS = 40

let harness: ViewsHarness
beforeAll(async () => {
  harness = await startViewsHarness()
})
afterAll(async () => {
  await harness?.stop()
})

it('views of many videos, and the end of many viewers, take one statement per table', async () => {
  const { db, views, clock } = harness
  await db.query('create table said (relation text, rows int)')
  await db.query(
    `create function note_said() returns trigger language plpgsql as
     $$ begin insert into said select tg_table_name, count(*) from added having count(*) > 0; return null; end $$`,
  )
  for (const table of ['video_delta', 'watch', 'job']) {
    await db.query(
      `create trigger note_said after insert on ${table} referencing new table as added for each statement
       execute function note_said()`,
    )
  }
  const user = await makeUser(db)
  const remote = await makeRemoteChannel(db, { host: 'home.example' })
  for (let index = 0; index < VIDEOS; index += 1) {
    const columns = { duration: 600 }
    const local = await makeVideo(db, { channelId: user.channelId, bare: true, columns })
    const foreign = await makeVideo(db, {
      channelId: remote.channelId,
      bare: true,
      columns,
      remoteOrigin: 'https://home.example',
    })
    for (const { id } of [local, foreign]) {
      for (const seconds of [0, 15, 30]) {
        const watcher = { session: `viewer ${index}`, address: '192.0.2.1' }
        await views.watch({ videoId: id, watcher, seconds, isSeek: false })
        clock.pass(100)
      }
    }
  }
  await views.process()
  clock.pass(3_600_000)
  await views.process()
  expect(await db.query('select * from said order by relation')).toEqual([
    { relation: 'job', rows: VIDEOS },
    { relation: 'video_delta', rows: VIDEOS },
    { relation: 'watch', rows: 2 * VIDEOS },
  ])
  const sent = await harness.takeEvents()
  for (const event of ['WatchEnded', 'ViewsCounted']) {
    const videos = sent.filter((one) => one.event === event).map(({ payload }) => payload.videoId)
    expect([event, videos.length, new Set(videos).size]).toEqual([event, VIDEOS, VIDEOS])
  }
})
