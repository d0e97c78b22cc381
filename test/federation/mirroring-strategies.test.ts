// Videos of one node, mirrored by the strategies of another: selected, announced, extended, evicted for better ones, and removed with
// their videos and with the follow.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { redundancyStats } from '../../src/actors/redundancy/index.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

type Name = 'most-views' | 'trending' | 'recently-added'
interface Video {
  streamingPlaylists: { redundancies: { baseUrl: string }[] }[]
}

const NAMES: Name[] = ['most-views', 'trending', 'recently-added']
/** Of the first node: failed deliveries are retried soon after the other one restarted. */
const SOON = { initial_backoff: '50 ms', max_backoff: '100 ms' }
const HLS_ONLY = { enabled: true, hls: { enabled: true }, web_videos: { enabled: false } }
/** Read again when the node restarts. */
const policies: { check_interval: string; strategies: { strategy: Name; size: number; min_lifetime: string }[] } = {
  check_interval: '1 second',
  strategies: [],
}

let a: FederatedNode
let b: FederatedNode
let bytes: Buffer
/** Most viewed, trending, newest, and one more. */
let seen: string
let trending: string
let newest: string
let size: number
let renditions: number

beforeAll(async () => {
  ;[a, b] = await Promise.all([
    startFederatedNode({ transcoding: HLS_ONLY, vireo: { federation: { delivery: SOON } } }),
    startFederatedNode({ redundancy: { videos: policies } }),
  ])
  bytes = await readFile(await media('small.mp4'))
  await b.client.send('POST', '/api/v1/server/following', { hosts: [a.host] })
  await until(async () => (await b.query("select 1 from follow where state = 'accepted'")).length === 1, {
    what: 'the follow',
  })
  ;[seen, trending, newest] = [await published('Seen'), await published('Trending'), await published('Newest')]
  await b.query('update video set views = 9 where uuid = $1', [seen])
  await b.query(
    `insert into video_day_views (video_id, day, views) select id, (now() at time zone 'utc')::date, 5 from video where uuid = $1`,
    [trending],
  )
  await b.query('update video set trending = 5 where uuid = $1', [trending])
  const sizes = await b.query<{ size: string; count: number }>(
    'select sum(size) as size, count(*)::int as count from video_file group by video_id',
  )
  size = Math.max(...sizes.map((row) => Number(row.size)))
  renditions = sizes[0]?.count ?? 0
})
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()])
})

/** A video of A with its playlist, as B stores it. */
async function published(name: string): Promise<string> {
  const { uuid } = await a.upload(bytes, { name })
  const files = `select f.size, f.resolution from video v join video_file f on f.video_id = v.id
    where v.uuid = $1 and f.streaming_playlist_id is not null order by f.resolution`
  await until(
    async () => {
      if ((await a.query("select 1 from transcoding where state <> 'done'")).length > 0) return false
      const [there, here] = [await a.query(files, [uuid]), await b.query(files, [uuid])]
      return there.length > 0 && JSON.stringify(there) === JSON.stringify(here)
    },
    { what: `the video ${name} with its renditions` },
  )
  return uuid
}

const offered = async (uuid: string) => (await a.client.get<Video>(`/api/v1/videos/${uuid}`)).streamingPlaylists[0]?.redundancies
const mirror = (uuid: string) => ({ baseUrl: `${b.base}/static/redundancy/hls/${uuid}` })
const isOffered = (uuid: string, is: boolean) =>
  until(async () => (await offered(uuid))?.length === (is ? 1 : 0), { what: `the offer of ${uuid}: ${is}` })
const pending = () =>
  b.query<{ strategy: string; uuid: string; state: string }>(
    'select r.strategy, v.uuid, r.state from redundancy r join video v on v.id = r.video_id order by r.strategy',
  )
const folders = (): Promise<string[]> => readdir(join(b.node.dataDir, 'storage', 'redundancy', 'hls')).catch(() => [])
const mirroredHosts = async () =>
  (await b.query<{ redundancy_allowed: boolean }>('select redundancy_allowed from remote_host')).map((row) => row.redundancy_allowed)

describe('the videos of a followed node', () => {
  it('are mirrored by each strategy once it is allowed, and offered to the players of their node', async () => {
    policies.strategies = NAMES.map((strategy) => ({ strategy, size: size + 2000, min_lifetime: '1 hour' }))
    await b.node.restart()
    await b.client.send('PUT', `/api/v1/server/redundancy/${a.host}`, { redundancyAllowed: true })
    for (const uuid of [seen, trending, newest]) {
      await isOffered(uuid, true)
      expect(await offered(uuid)).toEqual([mirror(uuid)])
    }
    await until(async () => (await pending()).every(({ state }) => state === 'announced'))
    expect(await pending()).toEqual([
      { strategy: 'most-views', uuid: seen, state: 'announced' },
      { strategy: 'recently-added', uuid: newest, state: 'announced' },
      { strategy: 'trending', uuid: trending, state: 'announced' },
    ])
    const stats = await redundancyStats({ query: (text, values = []) => b.query(text, [...values]) }, policies.strategies)
    expect(stats.map(({ strategy, totalVideos }) => [strategy, totalVideos])).toEqual([...NAMES.map((name) => [name, 1]), ['manual', 0]])
    for (const { totalUsed, totalVideoFiles } of stats.slice(0, 3)) {
      expect(totalUsed).toBeLessThanOrEqual(size + 2000)
      expect(totalVideoFiles).toBe(renditions)
    }
    const ends = await a.query<{ isSoon: boolean }>(
      `select expires_on between now() + interval '50 minutes' and now() + interval '1 hour' as "isSoon" from redundancy`,
    )
    expect(ends).toEqual([{ isSoon: true }, { isSoon: true }, { isSoon: true }])
  })

  it('are mirrored for longer by an Update', async () => {
    await a.query("update redundancy set expires_on = now() + interval '10 minutes'")
    await b.query("update redundancy set expires_on = now() + interval '10 minutes'")
    await until(async () => (await a.query("select 1 from redundancy where expires_on > now() + interval '50 minutes'")).length === 3, {
      what: 'the Updates',
    })
  })

  it('are evicted for better ones when the limit is reached, with their files', async () => {
    await b.query("update redundancy set created_at = now() - interval '2 hours'")
    const newer = await published('Newer')
    await isOffered(newer, true)
    await isOffered(newest, false)
    expect((await pending()).map(({ uuid }) => uuid)).toEqual([seen, newer, trending])
    await until(async () => !(await folders()).includes(newest), { what: 'the end of the files' })
    expect((await folders()).toSorted()).toEqual([seen, newer, trending].toSorted())
  })

  it('take their copies with them when they are removed', async () => {
    await b.node.restart()
    await a.client.send('DELETE', `/api/v1/videos/${trending}`)
    await until(async () => !(await pending()).some(({ uuid }) => uuid === trending), { what: 'the Delete' })
    await until(async () => !(await folders()).includes(trending), { what: 'the end of the files' })
  })

  it('are no longer mirrored when their node is unfollowed', async () => {
    await b.client.send('DELETE', `/api/v1/server/following/${a.host}`)
    await until(async () => (await a.query('select 1 from redundancy')).length === 0, { what: 'the Undos' })
    await until(async () => (await pending()).length === 0, { what: 'the end of the copies' })
    await until(async () => (await folders()).length === 0, { what: 'the end of the files' })
    expect(await mirroredHosts()).toEqual([false])
    expect(await offered(seen)).toEqual([])
  })
})
