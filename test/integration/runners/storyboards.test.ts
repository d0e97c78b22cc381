// Storyboards that remote runners make.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { eventually } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { storedNames } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

const TYPE = 'generate-video-storyboard'
const CONFIG = {
  transcoding: { enabled: false, remote_runners: { enabled: false } },
  storyboards: { enabled: true, remote_runners: { enabled: true } },
  video_file: { update: { enabled: true } },
}
let world: RunnerHarness
let runnerToken: string

beforeAll(async () => {
  world = await startHarness(CONFIG)
  runnerToken = await world.register('a runner')
})
afterAll(() => world?.stop())

interface BoardView {
  storyboardPath: string
  totalWidth: number
  totalHeight: number
  spriteDuration: number
}
const boards = async (uuid: string, { admin } = world) =>
  (await admin.get<{ storyboards: BoardView[] }>(`/api/v1/videos/${uuid}/storyboards`)).storyboards
const offered = () => eventually('an offer', 20_000, async () => (await world.protocol.request(runnerToken, [TYPE]))[0])

it('are offered with the sprites, refused in another size, and made by `vireo runner`', async () => {
  const uuid = await world.upload('small.mp4')
  const { uuid: job, payload } = await offered()
  expect(payload).toEqual({
    input: { videoFileUrl: `${world.node.base}/api/v1/runners/jobs/${job}/files/videos/${uuid}/max-quality` },
    sprites: { size: { width: 192, height: 144 }, count: { width: 2, height: 1 }, duration: 1 },
  })
  const { jobToken } = await world.protocol.accept(runnerToken, job)
  const send = async (bytes: Buffer, token = jobToken) => {
    const form = new FormData()
    for (const [name, value] of Object.entries({ runnerToken, jobToken: token })) form.set(name, value)
    form.set('payload[storyboardFile]', new Blob([new Uint8Array(bytes)]), '../a.jpg')
    return await world.ask(`jobs/${job}/success`, form)
  }
  expect((await send(await readFile(await media('picture.png')))).status).toBe(400)
  const again = await world.protocol.accept(runnerToken, job)
  expect((await send(Buffer.from('no picture'), again.jobToken)).status).toBe(400)
  expect(await boards(uuid)).toEqual([])

  const end = await world.work(runnerToken)
  const [board] = await eventually('the storyboard', 30_000, async () => {
    const found = await boards(uuid)
    return found.length > 0 && found
  })
  await end()
  expect(board).toMatchObject({ totalWidth: 384, totalHeight: 144, spriteDuration: 1 })
  const picture = await fetch(`${world.node.base}${board?.storyboardPath}`)
  expect(await sharp(Buffer.from(await picture.arrayBuffer())).metadata()).toMatchObject({ format: 'jpeg', width: 384, height: 144 })
  expect((await world.jobs()).at(-1)).toMatchObject({ type: TYPE, state: { label: 'Completed' }, failures: 2 })
})

it('of a file that was replaced meanwhile are made again', async () => {
  const uuid = await world.upload('small.mp4')
  const { uuid: job } = await offered()
  const { jobToken } = await world.protocol.accept(runnerToken, job)
  const bytes = await readFile(await media('journey.mp4'))
  const begun = await world.admin.raw(`/api/v1/videos/${uuid}/source/replace-resumable`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-upload-content-length': `${bytes.length}`, 'x-upload-content-type': 'video/mp4' },
    body: JSON.stringify({ filename: 'journey.mp4' }),
  })
  const at = new URL(begun.headers.get('location') ?? '', world.node.base)
  const range = { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`, 'content-type': 'application/octet-stream' }
  expect((await world.admin.raw(at.href, { method: 'PUT', headers: range, body: new Uint8Array(bytes) })).status).toBe(200)

  const form = new FormData()
  for (const [name, value] of Object.entries({ runnerToken, jobToken })) form.set(name, value)
  const blank = await sharp({ create: { width: 384, height: 144, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer()
  form.set('payload[storyboardFile]', new Blob([new Uint8Array(blank)]), 'a.jpg')
  expect((await world.ask(`jobs/${job}/success`, form)).status).toBe(204)
  expect(await boards(uuid)).toEqual([])
  const { payload } = await offered()
  expect(payload).toMatchObject({ sprites: { size: { width: 192, height: 108 }, count: { width: 4, height: 1 } } })
  expect(await storedNames(world.node, 'storyboards')).toHaveLength(1)
})

it('are made locally when no runner has been in contact for the configured time', async () => {
  const alone = await startHarness({ ...CONFIG, vireo: { runners: { local_after: '1 minute' } } })
  try {
    const runner = await alone.register('a runner')
    const uuid = await alone.upload('small.mp4')
    const job = await eventually('an offer', 20_000, async () => (await alone.protocol.request(runner, [TYPE]))[0])
    const { jobToken } = await alone.protocol.accept(runner, job.uuid)
    await run(alone.node.databaseUrl, "update runner set last_contact = now() - interval '61 seconds'")
    await alone.node.restart()
    const [board] = await eventually('the storyboard', 60_000, async () => {
      const found = await boards(uuid, alone)
      return found.length > 0 && found
    })
    expect(board).toMatchObject({ totalWidth: 384, totalHeight: 144, spriteDuration: 1 })
    expect((await alone.jobs()).map(({ state }) => state.label)).toEqual(['Cancelled'])
    expect((await alone.ask(`jobs/${job.uuid}/update`, { runnerToken: runner, jobToken, progress: 5 })).status).toBe(400)
  } finally {
    await alone.stop()
  }
})
