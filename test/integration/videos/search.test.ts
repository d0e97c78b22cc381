// Searches and filters by the search table: it follows every change, and reveals no hidden videos.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { listVideos } from '../../../src/actors/video/index.ts'
import { insert, makeVideo } from '../../support/builders.ts'
import { startVideoServer, type VideoServer } from './server.ts'

let server: VideoServer
beforeAll(async () => {
  server = await startVideoServer()
})
afterAll(() => server.stop())
afterEach(async () => {
  await server.db.query('delete from video')
})

const add = (name: string, columns: Record<string, unknown> = {}) =>
  makeVideo(server.db, { channelId: server.users.user.channelId, bare: true, columns: { name, ...columns } })

async function list(query: string): Promise<{ total?: number; names: string[] }> {
  const answer = await server.app.inject({ url: `/api/v1/videos?${query}` })
  const { total, data } = answer.json()
  return { total, names: data.map((one: { name: string }) => one.name) }
}

describe('a search', () => {
  it('finds a video by its new name and tags, and no longer by the old ones', async () => {
    const { id } = await add('a quiet river', { tags: ['water'] })
    expect((await list('search=water%20river')).names).toEqual(['a quiet river'])
    const changed = await server.app.inject({
      method: 'PUT',
      url: `/api/v1/videos/${id}`,
      headers: server.as('user'),
      payload: { name: 'Über den Berg', tags: ['alpine'] },
    })
    expect(changed.statusCode).toBe(204)
    expect((await list('search=uber%20alpine')).names).toEqual(['Über den Berg'])
    expect(await list('search=water')).toEqual({ total: 0, names: [] })
    expect(await list('search=river')).toEqual({ total: 0, names: [] })
  })

  it('finds a tag without letters', async () => {
    await add('a video', { tags: ['♥♥'] })
    expect((await list(`search=${encodeURIComponent('♥♥')}`)).names).toEqual(['a video'])
  })

  it('shows similar names after few exact matches, and none after many', async () => {
    await add('mountains')
    expect(await list('search=mountans')).toEqual({ total: 1, names: ['mountains'] })
    expect(await list('search=mountans&skipCount=true')).toEqual({ total: undefined, names: ['mountains'] })
    expect(await list('search=mountans&count=0')).toEqual({ total: 1, names: [] })
    for (let n = 0; n < 14; n += 1) await add('mountans')
    for (const more of ['', '&skipCount=true']) {
      expect((await list(`search=mountans&count=20${more}`)).names).toContain('mountains')
    }
    await add('mountans')
    for (const more of ['', '&skipCount=true']) {
      expect((await list(`search=mountans&count=20${more}`)).names).not.toContain('mountains')
      expect((await list(`search=mountans&start=15${more}`)).names).toEqual([])
    }
  })

  it('reveals no word of a hidden video', async () => {
    await add('mountains')
    const before = await list('search=mountans')
    await add('mountans', { privacy: 3 })
    expect(await list('search=mountans')).toEqual(before)
  })

  it('shows exact names first, regardless of likes', async () => {
    await server.db.query(
      `insert into video (uuid, channel_id, url, name, privacy, state, best)
       select gen_random_uuid(), $1, 'http://localhost/' || n, 'all about harbour lights, part ' || n, 1, 'published', n
       from generate_series(1, 400) n`,
      [server.users.user.channelId],
    )
    await add('Harbour lights')
    const matches = async (start: number, count = 2) =>
      await listVideos(server.db, {
        scope: { of: 'everybody' },
        internal: false,
        start,
        count,
        skipCount: false,
        search: 'harbour lights',
        sort: { by: 'match', descending: true },
      })
    const found = await matches(0)
    expect(found.total).toBe(401)
    expect(found.rows[0]?.name).toBe('Harbour lights')
    expect(found.rows[1]?.name).toMatch(/^all about/)
    expect((await matches(400)).rows).toHaveLength(1)
    const pages = await Promise.all(Array.from({ length: 21 }, (_, page) => matches(page * 20, 20)))
    expect(new Set(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).size).toBe(401)
  })
})

describe('a search with more matches than are counted', () => {
  const addMany = (name: string) =>
    server.db.query(
      `insert into video (uuid, channel_id, url, name, privacy, state, best, category)
       select gen_random_uuid(), $1, 'http://localhost/' || n, $2 || n, 1, 'published', n, case when n <= 20 then 5 end
       from generate_series(1, 1001) n`,
      [server.users.user.channelId, name],
    )

  it('shows the same pages again, with the exact name first', async () => {
    await addMany('the harbour, part ')
    await add('Harbour')
    const first = await list('search=harbour&count=10')
    expect(first).toMatchObject({ total: 1000, names: expect.arrayContaining([expect.stringMatching(/^the harbour/)]) })
    expect(first.names[0]).toBe('Harbour')
    expect(await list('search=harbour&count=10')).toEqual(first)
    const second = await list('search=harbour&start=10&count=10')
    expect(second.total).toBe(1000)
    const pages = await Promise.all(Array.from({ length: 11 }, (_, page) => list(`search=harbour&start=${page * 100}&count=100`)))
    expect(new Set(pages.flatMap(({ names }) => names)).size).toBe(1002)
    expect(second.names).toEqual(pages[0]?.names.slice(10, 20))
    // Another filter has another total.
    expect((await list('search=harbour&categoryOneOf=5')).total).toBe(20)
  })

  it('counts them again once many are hidden', async () => {
    await addMany('the harbour, part ')
    expect(await list('search=harbour&count=2')).toMatchObject({ total: 1000, names: { length: 2 } })
    expect(await list('durationMin=0&count=2')).toMatchObject({ total: 1001, names: { length: 2 } })
    await server.db.query("update video set privacy = 3 where best > 5 and name like 'the harbour%'")
    expect(await list('search=harbour&count=2&start=4')).toMatchObject({ total: 5, names: { length: 1 } })
    expect(await list('durationMin=0&count=2&start=4')).toMatchObject({ total: 5, names: { length: 1 } })
    expect(await list('durationMin=0&count=2')).toMatchObject({ total: 5 })
  })

  it('has exact totals by tags', async () => {
    await addMany('part ')
    await server.db.query(`update video set tags = '{Sea}' where name like 'part %'`)
    const tagged = await list('tagsOneOf=sea&sort=-name&count=2')
    expect(tagged).toEqual({ total: 1001, names: ['part 999', 'part 998'] })
    await server.db.query("update video set tags = '{}' where name = 'part 999'")
    expect(await list('tagsOneOf=sea&sort=-name&count=2&start=1')).toEqual({ total: 1000, names: ['part 997', 'part 996'] })
  })

  it('finds names that only contain it as a part of a word', async () => {
    await addMany('underwaterworld')
    const found = await list('search=waterw&count=2')
    expect(found).toEqual({ total: 1000, names: [expect.stringMatching(/^underwater/), expect.stringMatching(/^underwater/)] })
    expect(await list('search=waterw&count=2')).toEqual(found)
  })
})

describe('the filter by file format', () => {
  const both = async () => ({
    hls: (await list('hasHLSFiles=true')).names,
    webVideos: (await list('hasWebVideoFiles=true')).names,
    neither: (await list('hasHLSFiles=false&hasWebVideoFiles=false')).names,
  })

  it('follows added and removed files', async () => {
    const { id } = await add('one')
    expect(await both()).toEqual({ hls: [], webVideos: [], neither: ['one'] })
    const file = { video_id: id, size: 1, extname: '.mp4', fps: 30, filename: 'one.mp4', metadata: {} }
    await insert(server.db, 'video_file', { ...file, resolution: 240 })
    await insert(server.db, 'video_file', { ...file, resolution: 360, filename: 'two.mp4' })
    expect(await both()).toEqual({ hls: [], webVideos: ['one'], neither: [] })
    const playlist = await insert(server.db, 'streaming_playlist', { video_id: id, playlist_filename: 'one.m3u8' })
    await insert(server.db, 'video_file', {
      ...file,
      resolution: 480,
      filename: 'three.mp4',
      streaming_playlist_id: playlist,
    })
    await server.db.query('delete from video_file where video_id = $1 and resolution = 240', [id])
    expect(await both()).toEqual({ hls: ['one'], webVideos: ['one'], neither: [] })
    await server.db.query('delete from video_file where video_id = $1 and resolution = 360', [id])
    expect(await both()).toEqual({ hls: ['one'], webVideos: [], neither: [] })
    await server.db.query('delete from streaming_playlist where id = $1', [playlist])
    expect(await both()).toEqual({ hls: [], webVideos: [], neither: ['one'] })
  })

  it('is right when the last file is removed while another one is added', async () => {
    const { id } = await makeVideo(server.db, {
      channelId: server.users.user.channelId,
      bare: true,
      webVideo: { resolution: 240 },
      columns: { name: 'one' },
    })
    let coming: Promise<unknown> = Promise.resolve()
    await server.db.transaction(async ({ query }) => {
      await query('delete from video_file where video_id = $1', [id])
      coming = insert(server.db, 'video_file', {
        video_id: id,
        resolution: 360,
        size: 1,
        extname: '.mp4',
        fps: 30,
        filename: 'x.mp4',
        metadata: {},
      })
    })
    await coming
    expect((await both()).webVideos).toEqual(['one'])
  })
})
