// The OOM killer kills the node alone. Its ffmpeg and PostgreSQL survive, and must not block the next start.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventually as awaited, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { type Child, dataFolder, PASSWORD, processesIn, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { channelOf, makeVideo, untilWhole } from './support/videos.ts'

const folder = dataFolder({ prepared: true })
let options: Parameters<typeof start>[0]
let node: Child

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort() }
  node = await start(options)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await folder.remove()
})

const encoders = () => processesIn(folder.path).filter(({ command }) => command.includes('transcoding-'))

it('restarts after the node alone is killed, and its ffmpeg exits soon', async () => {
  const client = await login(node.base, USERNAME, PASSWORD)
  const bytes = await makeVideo(20)
  const fields = { channelId: await channelOf(client), name: 'alone', filename: 'alone.mp4', privacy: 1 }
  const { uuid } = await persistentUpload({ client, bytes, chunkSize: bytes.length, fields }).proceed()
  await awaited('the start of ffmpeg', 600_000, async () => encoders().length > 0)
  const left = new Set(encoders().map(({ pid }) => pid))

  node.signal('SIGKILL', 'process')
  expect(await node.ended).toBeNull()
  node = await start(options)
  await awaited('the end of the ffmpeg that was left', 600_000, async () => !encoders().some(({ pid }) => left.has(pid)))

  await explained(node, folder.path, async () => {
    await untilWhole(client, uuid, [360, 240, 144])
    await untilSettled(folder.path)
  })
})
