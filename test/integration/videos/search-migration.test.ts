// Videos from before their words and files were kept beside them are found all the same, also when the migration is done twice.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import { listVideos, type VideoListQuery } from '../../../src/actors/video/index.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeUser, makeVideo } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase({ empty: true })
})
afterAll(async () => {
  await database?.drop()
})

async function migrated<T>(last: string, use: (db: Database) => Promise<T>): Promise<T> {
  const until = migrations.filter(({ name }) => name <= last)
  const db = await makeDatabase({
    ...{ url: database.url, poolMax: 4, entities: [], migrations: until, logger: silentLogger },
  })
  await db.migrate()
  return await use(db).finally(() => db.close())
}

const usual: VideoListQuery = {
  ...{ scope: { of: 'everybody' }, internal: false, start: 0, count: 15, skipCount: false },
  sort: { by: 'name', descending: false },
}

it('searches and filters know all videos afterwards', async () => {
  const names = async (db: Database, change: Partial<VideoListQuery>) =>
    (await listVideos(db, { ...usual, ...change })).rows.map(({ name }) => name)

  await migrated('0023-listed', async (db) => {
    const { channelId } = await makeUser(db)
    const add = (name: string, files: object) =>
      makeVideo(db, { channelId, bare: true, columns: { name, tags: ['kept'] }, ...files })
    await add('a web video', { webVideo: { resolution: 240 } })
    const { id } = await add('a gap before it', {})
    await db.query('update video set id = id + 10000 where id = $1', [id])
    await db.query(`insert into streaming_playlist (video_id, playlist_filename) values ($1, 'one.m3u8')`, [
      id + 10_000,
    ])
  })
  for (let time = 1; time <= 2; time += 1) {
    await migrated('0024-search', async (db) => {
      expect(await names(db, { search: 'kept' })).toEqual(['a gap before it', 'a web video'])
      expect(await names(db, { hasWebVideoFiles: true })).toEqual(['a web video'])
      expect(await names(db, { hasHlsFiles: true })).toEqual(['a gap before it'])
      // As after a change that came between the columns and their values.
      await db.query('update video set has_hls = false, has_web_videos = false')
      await db.query("delete from migration where name = '0024-search'")
    })
  }
})
