// Sort orders of lists beyond counters, searches by words, and the overview.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { addDelta, foldDeltas, renewScores } from '../../../src/actors/video/index.ts'
import { makeVideo } from '../../support/builders.ts'
import { startVideoServer, type VideoServer } from './server.ts'

let server: VideoServer
const ids: Record<string, number> = {}

const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS)

async function namesOf(query: Record<string, string> | string[][], as?: Parameters<VideoServer['as']>[0]): Promise<string[]> {
  const answer = await server.app.inject({
    url: `/api/v1/videos?${new URLSearchParams(query)}`,
    headers: as ? server.as(as) : {},
  })
  expect(answer.statusCode).toBe(200)
  return answer.json<{ data: { name: string }[] }>().data.map(({ name }) => name)
}

beforeAll(async () => {
  server = await startVideoServer()
  const { db, users } = server
  const videos: Record<string, Record<string, unknown>> = {
    'An old favourite': { likes: 900, dislikes: 10, views: 90_000, published_at: ago(700) },
    'Much disliked': { likes: 100, dislikes: 900, views: 90_000, published_at: ago(600) },
    'Watched this week': { likes: 1, views: 50, published_at: ago(500) },
    'Café crème': { likes: 2, views: 10, published_at: ago(0.01), tags: ['Breakfast'] },
    Overlooked: { published_at: ago(400) },
  }
  for (const [name, columns] of Object.entries(videos)) {
    ids[name] = (await makeVideo(db, { channelId: users.user.channelId, columns: { name, category: 3, ...columns } })).id
  }
  await server.runtime.tell.create((unit) => addDelta(unit, ids['Watched this week'] ?? 0, { views: 5 }))
  await foldDeltas(db)
  await renewScores(db, { days: 7 })
})
afterAll(() => server.stop())

describe('the list of a tag', () => {
  // A list by two tags reads the videos themselves.
  const byTag = (more: Record<string, string> = {}) => namesOf({ tagsOneOf: 'HARBOUR', ...more })
  const byTags = (more: Record<string, string> = {}) =>
    namesOf([['tagsOneOf', 'HARBOUR'], ['tagsOneOf', 'unused'], ...Object.entries(more)])
  let id: number

  beforeAll(async () => {
    const { db, users } = server
    const tagged = (name: string, columns: object) => makeVideo(db, { channelId: users.user.channelId, columns: { name, ...columns } })
    await tagged('Ferry', { tags: ['Harbour', 'sea', 'HARBOUR'], published_at: ago(3) })
    id = (await tagged('Crane', { tags: ['harbour'], published_at: ago(2) })).id
    await tagged('Night', { tags: ['Harbour'], published_at: ago(1), nsfw: true })
  })
  afterAll(() => server.db.query("delete from video where name in ('Ferry', 'Crane', 'Night')"))

  it('has each video once, the newest first', async () => {
    expect(await byTag({ nsfw: 'both' })).toEqual(['Night', 'Crane', 'Ferry'])
    expect(await byTag({ nsfw: 'false', sort: 'publishedAt' })).toEqual(['Ferry', 'Crane'])
    expect(await byTag({ nsfw: 'both', count: '1', start: '1' })).toEqual(['Crane'])
    const answer = await server.app.inject('/api/v1/videos?tagsAllOf=harbour&nsfw=both&count=1')
    expect(answer.json()).toMatchObject({ total: 3, data: [{ name: 'Night' }] })
  })

  it.each([
    ['without the tag', "tags = '{sea}'", ['Ferry']],
    ['with the tag again', "tags = '{sea,HarBour}'", ['Crane', 'Ferry']],
    ['that is private', 'privacy = 3', ['Ferry']],
    ['that is internal', 'privacy = 4', ['Ferry']],
    ['that is public', 'privacy = 1', ['Crane', 'Ferry']],
    ['that is blocked', 'blocked = true', ['Ferry']],
    ['that is no longer followed', 'blocked = false, listed = false', ['Ferry']],
    ['published earlier', "listed = true, published_at = now() - interval '5 days'", ['Ferry', 'Crane']],
    ['with sensitive content', 'nsfw = true', ['Ferry']],
    ['that is removed', "nsfw = false, state = 'removed'", ['Ferry']],
    ['that is published', "state = 'published'", ['Ferry', 'Crane']],
  ])('reflects a video %s', async (_name, change, names) => {
    await server.db.query(`update video set ${change} where id = $1`, [id])
    expect(await byTag({ nsfw: 'false' })).toEqual(names)
    expect(await byTags({ nsfw: 'false' })).toEqual(names)
  })

  it('has the internal videos only for users, and no muted channel', async () => {
    await server.db.query('update video set privacy = 4 where id = $1', [id])
    expect(await namesOf({ tagsOneOf: 'harbour', nsfw: 'false' }, 'user')).toEqual(['Ferry', 'Crane'])
    const { user, admin } = server.users
    await server.db.query('update video set privacy = 1, channel_id = $2 where id = $1', [id, admin.channelId])
    await server.db.query('insert into account_block (owner_id, target_id) values ($1, $2)', [user.accountId, admin.accountId])
    expect(await namesOf({ tagsOneOf: 'harbour', nsfw: 'false' }, 'user')).toEqual(['Ferry'])
    expect(await byTag({ nsfw: 'false' })).toEqual(['Ferry', 'Crane'])
    await server.db.query('delete from account_block')
  })
})

describe('the sort order', () => {
  it('by trending is by views of the last days, then by all views', async () => {
    const names = await namesOf({ sort: '-trending' })
    expect(names[0]).toBe('Watched this week')
    expect(names.slice(1, 3).toSorted()).toEqual(['An old favourite', 'Much disliked'])
  })

  it('by hot prefers new videos to old ones with more likes', async () => {
    expect((await namesOf({ sort: '-hot' }))[0]).toBe('Café crème')
  })

  it('by hot includes a new video before its score was computed', async () => {
    const { id } = await makeVideo(server.db, { channelId: server.users.user.channelId, columns: { name: 'Just now' } })
    expect((await namesOf({ sort: '-hot' })).slice(0, 2).toSorted()).toEqual(['Café crème', 'Just now'])
    await server.db.query('delete from video where id = $1', [id])
  })

  it('by likes and by best is stable for equals: oldest first, newest first', async () => {
    const equals = ['One', 'Two']
    for (const name of equals) {
      await makeVideo(server.db, { channelId: server.users.user.channelId, columns: { name } })
    }
    const ofEquals = async (sort: string) => (await namesOf({ sort })).filter((name) => equals.includes(name))
    expect(await ofEquals('likes')).toEqual(['One', 'Two'])
    expect(await ofEquals('-likes')).toEqual(['One', 'Two'])
    expect(await ofEquals('-best')).toEqual(['Two', 'One'])
    await server.db.query('delete from video where name = any($1::text[])', [equals])
  })

  it('by best prefers a high share of likes', async () => {
    const names = await namesOf({ sort: '-best' })
    expect(names[0]).toBe('An old favourite')
    expect(names.indexOf('Much disliked')).toBeGreaterThan(names.indexOf('Watched this week'))
  })

  it('by trending ignores views older than the interval', async () => {
    await server.db.query('update video_day_views set day = day - 7')
    await renewScores(server.db, { days: 7 })
    expect((await namesOf({ sort: '-trending' })).at(-1)).toBe('Overlooked')
    // Views of a month are kept for the statistics of channels.
    expect(await server.db.query('select 1 from video_day_views')).toHaveLength(1)
    await server.db.query('update video_day_views set day = day - 24')
    await renewScores(server.db, { days: 7 })
    expect(await server.db.query('select 1 from video_day_views')).toEqual([])
    expect(await server.db.query('select 1 from video where trending <> 0')).toEqual([])
  })
})

describe('a search', () => {
  it.each([
    ['without its accents', 'cafe'],
    ['by a tag', 'breakfast'],
    ['by words in any order', 'creme cafe'],
    ['by a part of a name', 'afé cr'],
    ['with a mistake', 'Cafè crême'],
  ])('finds a video %s', async (_what, search) => {
    expect(await namesOf({ search })).toEqual(['Café crème'])
  })
})

describe('videos of muted owners', () => {
  it('are in lists of the staff on request, and marked as muted', async () => {
    const { db, users } = server
    await db.query('insert into account_block (owner_id, target_id) values ($1, $2)', [users.moderator.accountId, users.user.accountId])
    expect(await namesOf({}, 'moderator')).toEqual([])
    expect(await namesOf({}, 'other')).toHaveLength(5)
    const answer = await server.app.inject({ url: '/api/v1/videos?include=4', headers: server.as('moderator') })
    const { total, data } = answer.json<{ total: number; data: object[] }>()
    expect(total).toBe(5)
    expect(data[0]).toMatchObject({ blockedOwner: true, blockedServer: false })
  })
})

describe('lists of the staff', () => {
  it('contain listed and unlisted videos, in one order, and count both', async () => {
    const { db, users } = server
    await makeVideo(db, { channelId: users.user.channelId, columns: { name: 'Private', privacy: 3 } })
    await makeVideo(db, { channelId: users.user.channelId, columns: { name: 'Waiting', state: 'to-transcode' } })
    const query = new URLSearchParams([...[1, 2, 3, 4, 5].map((one) => ['privacyOneOf', String(one)]), ['include', '1'], ['sort', 'name']])
    const answer = await server.app.inject({ url: `/api/v1/videos?${query}`, headers: server.as('admin') })
    const { total, data } = answer.json<{ total: number; data: { name: string }[] }>()
    const names = data.map(({ name }) => name)
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, 'en')))
    expect(names).toEqual(expect.arrayContaining(['Private', 'Waiting']))
    expect(total).toBe(7)
  })
})

describe('the overview', () => {
  const overview = async () => (await server.app.inject('/api/v1/overviews/videos')).json<Record<string, unknown[]>>()

  it('shows no group with fewer than six videos', async () => {
    expect(await overview()).toEqual({ categories: [], channels: [], tags: [] })
  })

  it('shows a category, a channel and a tag in at most three statements', async () => {
    const { db, users } = server
    for (let n = 0; n < 6; n += 1) {
      await makeVideo(db, {
        channelId: users.other.channelId,
        columns: { name: `Trip ${n}`, category: 6, tags: ['Trip'] },
      })
    }
    const before = server.statements()
    const shown = await overview()
    expect(server.statements() - before).toBeLessThanOrEqual(3)
    expect(shown.categories).toEqual([{ category: { id: 6, label: 'Travels' }, videos: expect.any(Array) }])
    expect(shown.channels).toEqual([{ channel: expect.objectContaining({ id: users.other.channelId }), videos: expect.any(Array) }])
    expect(shown.tags).toEqual([{ tag: 'trip', videos: expect.any(Array) }])
  })

  it('refuses pages out of range', async () => {
    expect((await server.app.inject('/api/v1/overviews/videos?page=21')).statusCode).toBe(400)
  })

  it('has the configured number of videos', async () => {
    server.configure({ vireo: { overview: { videos_per_sample: 7, min_videos_per_sample: 7 } } })
    expect(await overview()).toEqual({ categories: [], channels: [], tags: [] })
    server.configure({ vireo: { overview: { videos_per_sample: 4, min_videos_per_sample: 4 } } })
    const { categories } = (await overview()) as { categories: { videos: unknown[] }[] }
    expect(categories.map(({ videos }) => videos.length)).toEqual([4])
    server.configure({})
  })
})
