// kill -9 around the scheduled publication of a video: it is published once, and announced once.

import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { eventually } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { makePeer, type Peer } from './support/peer.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { seededRandom } from './support/seeded-random.ts'
import { channelOf, makeVideo } from './support/videos.ts'

const ROUNDS = 4
const [PUBLIC, PRIVATE] = [1, 3]
/** How long before the due time a video is created, in ms. */
const AHEAD = 2_500
/** The node dies within this many ms of the due time; it looks for due videos each second. */
const AROUND = 1_500

const random = seededRandom()
const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number; env: Record<string, string> }
let node: Child
let client: Client
let peer: Peer

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort(), env: { VIREO__TRANSCODING__ENABLED: 'false' } }
  peer = await makePeer()
  await peer.start()
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
  await peer.follows(folder.path)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await peer?.stop()
  await folder.remove()
})

it('is published once, with one Create, whenever the process dies', async () => {
  const bytes = await makeVideo(1)
  const channelId = await channelOf(client)
  const uuids: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const due = Date.now() + AHEAD
    const fields = {
      channelId,
      name: `round ${round}`,
      filename: 'video.mp4',
      privacy: PRIVATE,
      scheduleUpdate: { updateAt: new Date(due).toISOString(), privacy: PUBLIC },
    }
    const { uuid } = await persistentUpload({ client, bytes, chunkSize: bytes.length, fields }).proceed()
    uuids.push(uuid)
    await moment(Math.max(0, due - Date.now() + (2 * random() - 0.5) * AROUND))
    await node.kill9({ database: round % 4 === 3 })
    node = await start(options)
  }

  await explained(node, folder.path, async () => {
    await eventually(async () => {
      const { data } = (await (await fetch(`${node.base}/api/v1/videos`)).json()) as { data: { uuid: string }[] }
      expect(new Set(data.map((video) => video.uuid))).toEqual(new Set(uuids))
    })
    expect(await ask(folder.path, 'select 1 from video_schedule')).toEqual([])
    await untilSettled(folder.path)
    await eventually(async () => expect(await ask(folder.path, 'select 1 from delivery')).toEqual([]))
  })
  for (const uuid of uuids) {
    const about = peer.activities.filter(({ object }) => object.includes(uuid))
    // A delivery may be repeated when the process dies before it stores the answer, but always with the same activity.
    const counted = (type: string) => new Set(about.flatMap((one) => (one.type === type ? [one.id] : []))).size
    expect([counted('Create'), counted('Announce'), counted('Delete')]).toEqual([1, 2, 0])
  }
})
