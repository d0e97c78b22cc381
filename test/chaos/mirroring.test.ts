// kill -9 during the download of a mirrored video: the copy is completed afterwards, or nothing is left.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { HLS_BYTES, type HlsOrigin, startHlsOrigin } from '../support/hls-origin.ts'
import { freePort } from '../support/ports.ts'
import { eventually, until } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'

const SEGMENTS = '/240-fragmented.mp4'
const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number }
let node: Child
let client: Client
let peer: FakePeer
let origin: HlsOrigin
let alice: { account: PeerActor; channel: PeerActor }

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort() }
  ;[node, peer, origin] = await Promise.all([start(options), startFakePeer(), startHlsOrigin()])
  client = await login(node.base, USERNAME, PASSWORD)
  const account = await peer.account('alice')
  alice = { account, channel: await peer.channel('alice_channel', account) }
})
afterAll(async () => {
  await node?.kill9({ database: true })
  await Promise.all([peer?.close(), origin?.close()])
  await folder.remove()
})

/** Killed after half of the file. */
async function killedInTheMiddle(): Promise<{ uuid: string }> {
  const video = peer.video({ ...alice, more: { url: origin.links } })
  await post(node, alice.account, peer.activity(alice.account, 'Create', video))
  const { id } = await until(async () => (await ask<{ id: number }>(folder.path, 'select id from video where url = $1', [video.id]))[0], {
    what: 'the video',
  })
  let half = false
  origin.answer(SEGMENTS, (response) => {
    response.write(HLS_BYTES.subarray(0, HLS_BYTES.length / 2), () => {
      half = true
    })
  })
  await client.send('POST', '/api/v1/server/redundancy/videos', { videoId: id })
  await until(() => half, { what: 'half of the file' })
  await node.kill9({ database: false })
  return { uuid: String((video as JsonObject).uuid) }
}

const pathOf = (uuid: string, name: string) => join(folder.path, 'storage', 'redundancy', 'hls', uuid, name)

it('is completed by the next process', async () => {
  const { uuid } = await killedInTheMiddle()
  origin.answer(SEGMENTS, undefined)
  node = await start(options)
  await explained(node, folder.path, async () => {
    await peer.awaited('the news', ({ activity }) => String(activity.id).includes(`hls/${uuid}`), 30_000)
    await untilSettled(folder.path)
  })
  expect(['master.m3u8', '240.m3u8', '240-fragmented.mp4'].map((name) => existsSync(pathOf(uuid, name)))).toEqual([true, true, true])
})

it('leaves nothing when the file is no longer available', async () => {
  const { uuid } = await killedInTheMiddle()
  origin.answer(SEGMENTS, (response) => void response.writeHead(404).end())
  node = await start(options)
  await explained(node, folder.path, () =>
    eventually(async () => {
      expect(await ask(folder.path, "select 1 from redundancy where state = 'failed'")).toHaveLength(1)
    }),
  )
  // The job is settled shortly after its mirror.
  await eventually(async () => {
    const gone = await ask(folder.path, "delete from job where type = 'video-redundancy' and state = 'failed' returning id")
    expect(gone).toHaveLength(1)
  })
  await explained(node, folder.path, () => untilSettled(folder.path))
  expect(existsSync(pathOf(uuid, ''))).toBe(false)
})
