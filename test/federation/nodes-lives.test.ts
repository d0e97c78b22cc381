// Two real nodes: a live that starts on one is shown, played and ended on the other.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { publish } from '../support/live.ts'
import { until } from '../support/until.ts'
import { createLive, LIVE_CONFIG, liveAddress } from './live-nodes.ts'
import { QUICK_FEDERATION, seenOn, startNodes } from './nodes.ts'
import { type FederatedNode, newcomer } from './support.ts'

interface LiveView {
  id: number
  isLive: boolean
  state: { id: number }
  streamingPlaylists: { playlistUrl: string; segmentsSha256Url: string }[]
}
type Named = { data: { uuid: string }[] }

let nodes: FederatedNode[] = []
beforeAll(async () => {
  const { live, vireo } = LIVE_CONFIG
  nodes = await startNodes(2, { live, vireo: { ...(QUICK_FEDERATION.vireo as object), ...(vireo as object) } })
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

/** Reads it like a player on a page of `origin`. */
async function played(url: string, origin: string): Promise<Response> {
  const response = await fetch(url, { headers: { origin } })
  expect([url, response.status, response.headers.get('access-control-allow-origin')]).toEqual([url, 200, '*'])
  return response
}

it('a live notifies subscribers on the other node, plays there from its own server, and ends', async () => {
  const [from, to] = nodes
  if (!from || !to) throw new Error('These nodes did not start.')
  const fan = await newcomer(to, 'fan')
  const channel = `root_channel@${from.host}`
  await fan.send('POST', '/api/v1/users/me/subscriptions', { uri: channel })
  await until(async () => (await fan.get<{ total: number }>('/api/v1/users/me/subscriptions')).total === 1, {
    what: 'the subscription',
  })
  await until(
    async () => {
      const [row] = await to.query<{ open: string }>("select count(*) as open from follow where state <> 'accepted'")
      return row?.open === '0'
    },
    { what: 'the Accept' },
  )

  const live = await createLive(from, { name: 'Seen from afar', latencyMode: 3, permanentLive: true })
  const inState = (state: number) =>
    until(
      async () => {
        const seen = await seenOn<LiveView>(to, `/api/v1/videos/${live.uuid}`)
        return seen?.state.id === state ? seen : undefined
      },
      { what: `the state ${state} on the other node` },
    )
  expect(await inState(4)).toMatchObject({ isLive: true, streamingPlaylists: [] })
  expect(await seenOn(to, `/api/v1/videos/live/${live.uuid}`)).toEqual({ permanentLive: true, saveReplay: false, latencyMode: 3 })
  const listed = async () => (await seenOn<Named>(to, '/api/v1/videos?isLive=true'))?.data.map(({ uuid }) => uuid)
  const searched = async () => (await seenOn<Named>(to, '/api/v1/search/videos?search=afar&isLive=true'))?.data.map(({ uuid }) => uuid)
  expect([await listed(), await searched()]).toEqual([[], []])

  const sending = publish(liveAddress(from, live.key), { seconds: 12, paced: true })
  const { streamingPlaylists } = await inState(1)
  const [playlist] = streamingPlaylists
  const folder = `${from.base}/static/streaming-playlists/hls/${live.uuid}`
  expect(playlist).toMatchObject({ playlistUrl: `${folder}/master.m3u8`, segmentsSha256Url: `${folder}/segments-sha256.json` })
  const master = await (await played(`${folder}/master.m3u8`, to.base)).text()
  const rendition = new URL(master.split('\n').find((line) => line.endsWith('.m3u8')) ?? '', `${folder}/`).href
  const [piece = ''] = (await (await played(rendition, to.base)).text()).split('\n').filter((line) => line.endsWith('.ts'))
  const bytes = await (await played(new URL(piece, rendition).href, to.base)).arrayBuffer()
  const hashes = (await (await played(`${folder}/segments-sha256.json`, to.base)).json()) as Record<string, string>
  expect(hashes[piece]).toBe(Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex'))
  expect([await listed(), await searched()]).toEqual([[live.uuid], [live.uuid]])
  await until(
    async () => {
      const { data } = await fan.get<{ data: { video?: { uuid: string } }[] }>('/api/v1/users/me/notifications')
      return data.some(({ video }) => video?.uuid === live.uuid)
    },
    { what: 'the notification of the subscriber' },
  )

  expect((await sending).code).toBe(0)
  await inState(4)
  expect([await listed(), await searched()]).toEqual([[], []])
  expect(await (await played(rendition, to.base)).text()).toContain('#EXT-X-ENDLIST')
  await from.client.send('DELETE', `/api/v1/videos/${live.id}`)
  await until(async () => !(await seenOn(to, `/api/v1/videos/${live.uuid}`)), { what: 'the removal' })
})
