// Reports of playback positions over REST: accepted, ignored and refused ones.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type FederatedNode, startFederatedNode } from '../../federation/support.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'

let node: FederatedNode
let bytes: Buffer
let video: { id: number; uuid: string }
let duration: number
beforeAll(async () => {
  node = await startFederatedNode({ vireo: { runtime: { counters_interval: '20 ms' } } })
  bytes = await readFile(await media('small.mp4'))
  video = await node.upload(bytes)
  duration = (await node.client.get<{ duration: number }>(`/api/v1/videos/${video.id}`)).duration
})
afterAll(async () => {
  await node?.stop()
})

const report = (id: string | number, body: unknown, options: RequestInit & { path?: string } = {}) =>
  fetch(`${node.base}/api/v1/videos/${id}/${options.path ?? 'views'}`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...options,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(new Headers(options.headers)) },
  })

describe('a position', () => {
  it.each<[string, unknown]>([
    ['of an anonymous viewer', { currentTime: 0 }],
    ['after a jump', { currentTime: 1, viewEvent: 'seek' }],
    ['with a session', { currentTime: 1, sessionId: 'abcdefghijkl' }],
    ['with an event that nobody knows', { currentTime: 1, viewEvent: 'hello' }],
    ['with a session that is none', { currentTime: 1, sessionId: 5 }],
    ['with more', { currentTime: 1, unknown: true }],
  ])('%s is accepted', async (_what, body) => {
    const answer = await report(video.uuid, body)
    expect(answer.status).toBe(204)
    expect(await answer.text()).toBe('')
  })

  it('by the former route is accepted', async () => {
    const headers = { authorization: node.client.authorization }
    const put = { path: 'watching', method: 'PUT' }
    expect((await report(video.id, { currentTime: 1 }, { ...put, headers })).status).toBe(204)
    expect((await report(video.id, { currentTime: 1 }, put)).status).toBe(401)
  })

  it.each<[string, unknown]>([
    ['missing', {}],
    ['negative', { currentTime: -1 }],
    ['a text', { currentTime: 'x' }],
    ['no whole number', { currentTime: 1.5 }],
    ['beyond all numbers', { currentTime: 1e300 }],
  ])('that is %s is refused with its field', async (_what, body) => {
    const answer = await report(video.uuid, body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ 'invalid-params': { currentTime: { location: 'body' } } })
  })

  it('after the end is refused', async () => {
    const answer = await report(video.uuid, { currentTime: 4242 })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      detail: `Current time 4242 is invalid (video ${video.uuid} duration: ${duration})`,
    })
  })

  it('of an unknown video is refused', async () => {
    const answer = await report(424242, { currentTime: 1 })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ detail: 'Video not found' })
  })

  it('of a video is refused for those who may not see it', async () => {
    const hidden = await node.upload(bytes, { privacy: '3' })
    expect((await report(hidden.uuid, { currentTime: 1 })).status).toBe(401)
    const headers = { authorization: node.client.authorization }
    expect((await report(hidden.uuid, { currentTime: 1 }, { headers })).status).toBe(204)
    const locked = await node.upload(bytes, { privacy: '5', 'videoPasswords[]': 'a password' })
    expect((await report(locked.uuid, { currentTime: 1 }, { headers: { 'x-peertube-video-password': 'no' } })).status).toBe(403)
    const password = { 'x-peertube-video-password': 'a password' }
    expect((await report(locked.uuid, { currentTime: 1 }, { headers: password })).status).toBe(204)
  })

  it('by a page that waits for the password is no error, and not counted', async () => {
    const locked = await node.upload(bytes, { privacy: '5', 'videoPasswords[]': 'a password' })
    expect((await report(locked.uuid, { currentTime: duration, sessionId: 'waiting' })).status).toBe(204)
    const stored = await node.query('select 1 from viewer where video_id = $1 union all select 1 from view_sign where video_id = $1', [
      locked.id,
    ])
    expect(stored).toEqual([])
  })
})

it('many simultaneous reports are all stored, and shown as viewers and views', async () => {
  const crowded = await node.upload(bytes)
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      await report(crowded.uuid, { currentTime: 0, sessionId: `viewer ${index}` })
      return (await report(crowded.uuid, { currentTime: duration, sessionId: `viewer ${index}` })).status
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([204]))
  await until(async () => {
    const shown = await node.client.get<{ views: number; viewers: number }>(`/api/v1/videos/${crowded.uuid}`)
    return shown.views === 100 && shown.viewers === 100
  })
  const { data } = await node.client.get<{ data: { id: number; viewers: number }[] }>('/api/v1/videos')
  expect(data.find(({ id }) => id === crowded.id)).toMatchObject({ viewers: 100 })
})

describe('the statistics', () => {
  const stats = (path: string) => node.client.raw(`/api/v1/videos/${video.uuid}/stats/${path}`)

  it('are served to the owner', async () => {
    await node.query(
      `insert into watch (uuid, video_id, url, started_at, ended_at, seconds, sections)
       values (gen_random_uuid(), $1, 'https://a.example/1', now(), now(), 2, '[[0, 2]]')`,
      [video.id],
    )
    expect(await (await stats('overall')).json()).toEqual({
      totalWatchTime: 2,
      averageWatchTime: 2,
      totalViewers: 1,
      viewersPeak: 1,
      viewersPeakDate: expect.stringMatching(/^20.*Z$/),
      countries: [],
      subdivisions: [],
    })
    expect(await (await stats('retention')).json()).toMatchObject({
      data: expect.arrayContaining([{ second: 1, retentionPercent: 100 }]),
    })
    expect(await (await stats('timeseries/aggregateWatchTime')).json()).toMatchObject({
      groupInterval: '1 minute',
      data: expect.arrayContaining([{ date: expect.stringMatching(/^20.*Z$/), value: 2 }]),
    })
  })

  it.each([
    ['overall?startDate=fake', 'startDate'],
    ['timeseries/viewers?startDate=2020-01-01T00:00:00Z', 'Both start date and end date'],
    ['timeseries/viewers?startDate=1980-01-01T00:00:00Z&endDate=2020-01-03T00:00:00Z', 'too big'],
    ['timeseries/hello', 'metric'],
  ])('%s is refused', async (path, why) => {
    const answer = await stats(path)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(why)
  })
})
