// Two real nodes: activities during an outage of one of them arrive afterwards, in order.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

/** The back-off for a failing host is short. */
const QUICK = {
  initial_backoff: '50 ms',
  max_backoff: '200 ms',
}

let a: FederatedNode
let b: FederatedNode
let bytes: Buffer
beforeAll(async () => {
  const config = { vireo: { federation: { delivery: QUICK, inbox: QUICK, follow: QUICK } } }
  ;[a, b] = await Promise.all([startFederatedNode(config), startFederatedNode(config)])
  bytes = await readFile(await media('small.mp4'))
})
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()])
})

const namesOnA = async () => (await a.query<{ name: string }>('select name from video where remote order by id')).map(({ name }) => name)

it('A follows B', async () => {
  await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
  await until(async () => (await a.query("select 1 from follow where state = 'accepted'"))[0])
  await until(async () => (await b.query("select 1 from follow where state = 'accepted'"))[0])
})

it('videos that B published, changed and removed while A was down reach A when it is back', async () => {
  const known = await b.upload(bytes, { name: 'Known before' })
  await until(async () => (await namesOnA()).includes('Known before'))
  await a.node.server.stop()
  const videos = []
  for (const name of ['First', 'Second', 'Third']) videos.push(await b.upload(bytes, { name }))
  const [first, second, third] = videos
  // A video removed before its Create was sent is never sent.
  await until(async () => (await b.query("select 1 from document where type = 'Announce'")).length === 3)
  await b.client.send('PUT', `/api/v1/videos/${second?.uuid}`, { name: 'Second, renamed' })
  await b.client.send('DELETE', `/api/v1/videos/${third?.uuid}`)
  await b.client.send('DELETE', `/api/v1/videos/${known.uuid}`)
  await until(async () => (await b.query("select 1 from remote_host where state = 'failing'"))[0])
  await b.node.restart()

  await a.node.restart()
  await until(async () => (await namesOnA()).toSorted().join() === 'First,Second, renamed')
  await until(async () => (await b.query("select state from delivery where state = 'waiting'")).length === 0)
  await a.settled()
  expect((await namesOnA()).toSorted()).toEqual(['First', 'Second, renamed'])
  const from = async (actor: string) =>
    (
      await a.query<{ activity: string }>('select activity_id as activity from incoming_activity where actor_url = $1 order by id', [
        `${b.base}/accounts/${actor}`,
      ])
    ).map(({ activity }) => activity)
  expect(await from('root')).toEqual([expect.stringContaining(`${second?.url}/updates/`), `${third?.url}/delete`, `${known.url}/delete`])
  expect((await from('peertube')).slice(-3)).toEqual(
    [first, second, third].map((video) => expect.stringContaining(`${video?.url}/announces/`)),
  )
  expect(await b.query('select state, error from delivery')).toEqual([])
  expect(await b.query('select state from remote_host')).toEqual([{ state: 'healthy' }])
})

it('a like that is set, undone and set again is counted right on the other side each time', async () => {
  const [video] = await a.query<{ uuid: string }>("select uuid from video where name = 'First'")
  const likes = async () => (await b.client.get<{ likes: number }>(`/api/v1/videos/${video?.uuid}`)).likes
  for (const [rating, count] of [
    ['like', 1],
    ['none', 0],
    ['like', 1],
    ['none', 0],
  ] as const) {
    await a.client.send('PUT', `/api/v1/videos/${video?.uuid}/rate`, { rating })
    await until(async () => (await likes()) === count, { what: `${count} likes after ${rating}` })
  }
})

it('a video that is unpublished and published again is there each time', async () => {
  const [video] = await a.query<{ uuid: string }>("select uuid from video where name = 'First'")
  for (const [privacy, isThere] of [
    [3, false],
    [1, true],
    [2, false],
    [1, true],
  ] as const) {
    await b.client.send('PUT', `/api/v1/videos/${video?.uuid}`, { privacy })
    await until(async () => (await namesOnA()).includes('First') === isThere, { what: `privacy ${privacy} on A` })
  }
})
