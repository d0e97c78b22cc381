// SIGTERM and Ctrl-C: the node drains, leaves no process behind, and continues at the next start.

import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { eventually as awaited, type Client, login } from '../../scripts/demo/client.ts'
import { slowness } from '../support/cpu-time.ts'
import { freePort } from '../support/ports.ts'
import { type Child, dataFolder, PASSWORD, processesIn, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { channelOf, ladderOf, makeVideo, untilWhole } from './support/videos.ts'

const DRAIN_MS = 1_000
/** The drain, the shutdown of PostgreSQL, and two busy cores. */
const ENDS_WITHIN = DRAIN_MS + 9_000

let folder: ReturnType<typeof dataFolder>
let options: Parameters<typeof start>[0]

beforeEach(async () => {
  folder = dataFolder()
  const env = { VIREO__VIREO__RUNTIME__DRAIN_TIMEOUT: `${DRAIN_MS} ms` }
  options = { dataDir: folder.path, port: await freePort(), env }
})

afterEach(async () => {
  await folder.remove()
})

it('exits within the drain time on SIGTERM during a transcoding, and continues it at the next start', async () => {
  const node = await start(options)
  const client = await login(node.base, USERNAME, PASSWORD)
  const uuid = await upload(client, await makeVideo(20))
  await untilTranscoding()
  expect(await ladderOf(client, uuid)).toBeUndefined()

  node.signal('SIGTERM', 'process')
  await endsInTime(node)

  const again = await start(options)
  await explained(again, folder.path, async () => {
    await untilWhole(client, uuid, [360, 240, 144])
    await untilSettled(folder.path)
  })
  again.signal('SIGTERM', 'process')
  await endsInTime(again)
})

it('leaves no process behind after Ctrl-C, and keeps all data for the next start', async () => {
  const node = await start(options)
  const client = await login(node.base, USERNAME, PASSWORD)
  const uuid = await upload(client, await makeVideo(2))
  await untilWhole(client, uuid, [360, 240, 144])

  node.signal('SIGINT', 'group')
  await endsInTime(node)

  const again = await start(options)
  expect(again.said.filter((line) => line.startsWith('Client id') || line.startsWith('User password'))).toEqual([])
  // The session is still valid.
  await untilWhole(client, uuid, [360, 240, 144])
  again.signal('SIGINT', 'group')
  await endsInTime(again)
})

async function endsInTime(node: Child): Promise<void> {
  const begun = performance.now()
  expect(await node.ended).toBe(0)
  expect(performance.now() - begun).toBeLessThan(ENDS_WITHIN * slowness())
  expect(processesIn(folder.path)).toEqual([])
}

async function upload(client: Client, bytes: Buffer): Promise<string> {
  const fields = { channelId: await channelOf(client), name: 'signals', filename: 'signals.mp4', privacy: 1 }
  const chunkSize = bytes.length
  const { uuid } = await persistentUpload({
    client,
    bytes,
    chunkSize,
    fields: { ...fields, waitTranscoding: true },
  }).proceed()
  return uuid
}

const untilTranscoding = () =>
  awaited('the start of ffmpeg', 600_000, async () =>
    processesIn(folder.path).some(({ command }) => command.includes('ffmpeg') && command.includes('transcoding-')),
  )
