// Editions by remote runners: the same result as by the server, with failing and hostile runners.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { eventually } from '../../../scripts/demo/client.ts'
import { type MediaName, media } from '../../support/media.ts'
import { storedNames } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

const TYPE = 'video-studio-transcoding'
const PUBLISHED = 1
const TO_EDIT = 9
const CONFIG = {
  transcoding: { enabled: false, remote_runners: { enabled: false } },
  video_studio: { enabled: true, remote_runners: { enabled: true } },
}

let world: RunnerHarness
let uuid: string

beforeAll(async () => {
  world = await startHarness(CONFIG)
})
afterAll(() => world?.stop())
beforeEach(async () => {
  uuid = await world.upload('small.mp4')
})

const bytesOf = async (name: MediaName) => await readFile(await media(name))

/** Cuts one second, and adds two: 3 s. */
async function edit(where = world, video = uuid): Promise<void> {
  const form = new FormData()
  form.set('tasks[0][name]', 'cut')
  form.set('tasks[0][options][start]', '1')
  form.set('tasks[1][name]', 'add-intro')
  form.set('tasks[1][options][file]', new Blob([await bytesOf('blue.mp4')]), 'intro.mp4')
  form.set('tasks[2][name]', 'add-watermark')
  form.set('tasks[2][options][file]', new Blob([await bytesOf('picture.png')]), 'mark.png')
  await where.admin.send('POST', `/api/v1/videos/${video}/studio/edit`, form)
}

interface StudioPayload {
  input: { videoFileUrl: string; separatedAudioFileUrl: string[] }
  tasks: { name: string; options: Record<string, string | number> }[]
}

async function offered(runnerToken: string) {
  const job = await eventually('an offer', 20_000, async () => (await world.protocol.request(runnerToken, [TYPE]))[0])
  return { uuid: job.uuid, payload: job.payload as unknown as StudioPayload }
}

const untilPublished = (video = uuid, where = world) =>
  eventually('the publication', 600_000, async () => {
    const view = await where.video(video)
    return view.state.id === PUBLISHED ? view : undefined
  })

it('is offered with URLs for each file, which only the runner of the job can read', async () => {
  const [mine, foreign] = [await world.register('mine'), await world.register('theirs')]
  const other = await world.upload('small.mp4')
  await edit()
  const { uuid: job, payload } = await offered(mine)
  const files = `${world.node.base}/api/v1/runners/jobs/${job}/files/videos/${uuid}`
  const file = expect.stringMatching(new RegExp(`^${files}/studio/task-files/[0-9a-f-]{36}-studio$`))
  expect(payload).toEqual({
    input: { videoFileUrl: `${files}/max-quality`, separatedAudioFileUrl: [] },
    tasks: [
      { name: 'cut', options: { start: 1 } },
      { name: 'add-intro', options: { file } },
      {
        name: 'add-watermark',
        options: { file, watermarkSizeRatio: 0.1, horitonzalMarginRatio: 0.05, verticalMarginRatio: 0.05 },
      },
    ],
  })
  const { jobToken } = await world.protocol.accept(mine, job)
  const intro = String(payload.tasks[1]?.options.file)
  const read = async (url: string, runnerToken = mine) => await world.fetchInput(url, { runnerToken, jobToken })
  expect((await read(intro)).bytes).toEqual(await bytesOf('blue.mp4'))
  expect((await read(`${files}/max-quality`)).bytes.length).toBe((await bytesOf('small.mp4')).length)
  expect((await read(intro, foreign)).status).toBe(404)
  expect((await read(intro.replace(uuid, other))).status).toBe(403)
  expect((await read(`${files}/studio/task-files/${'0'.repeat(36)}-studio`)).status).toBe(404)
  expect((await read(`${files}/studio/task-files/..%2F..%2Fetc%2Fpasswd`)).status).toBe(404)
  const [shown] = (await world.jobs()).filter((one) => one.uuid === job)
  expect(shown?.privatePayload).toMatchObject({ videoUUID: uuid, originalTasks: [{ name: 'cut', options: { start: 1 } }, {}, {}] })
  expect((await world.video(uuid)).state.id).toBe(TO_EDIT)

  await world.admin.send('DELETE', `/api/v1/videos/${uuid}`)
  await eventually('the refusal', 20_000, async () => (await read(intro)).status === 400)
})

it('gives the result of the server, although the first runner falls silent', async () => {
  const [silent, runner] = [await world.register('silent'), await world.register('working')]
  await edit()
  const { uuid: job } = await offered(silent)
  const { jobToken } = await world.protocol.accept(silent, job)
  await run(world.node.databaseUrl, `update job set due_at = now() where uuid = '${job}'`)
  await offered(runner)
  const end = await world.work(runner)
  const remote = await untilPublished()
  await end()
  expect((await world.jobs()).find((one) => one.uuid === job)).toMatchObject({ state: { label: 'Completed' }, runner: { name: 'working' } })
  expect((await world.ask(`jobs/${job}/update`, { runnerToken: silent, jobToken, progress: 5 })).status).toBe(404)

  await world.admin.send('PUT', '/api/v1/config/custom', { videoStudio: { remoteRunners: { enabled: false } } })
  const second = await world.upload('small.mp4')
  await edit(world, second)
  const local = await eventually('the edition', 600_000, async () => {
    const view = await world.video(second)
    return view.state.id === PUBLISHED && view.duration !== 2 ? view : undefined
  })
  await world.admin.send('DELETE', '/api/v1/config/custom')
  const shown = ({ duration, files }: typeof local) => [duration, files.map((one) => [one.resolution.id, one.hasVideo, one.hasAudio])]
  expect(shown(remote)).toEqual(shown(local))
  await eventually('the removal of the files of tasks', 20_000, async () => (await storedNames(world.node, 'uploads')).length === 0)
})

it('leaves the video unchanged after an administrator cancelled, and can be requested again', async () => {
  const runner = await world.register('patient')
  await edit()
  const { uuid: job } = await offered(runner)
  await world.admin.send('POST', `/api/v1/runners/jobs/${job}/cancel`)
  expect((await untilPublished()).duration).toBe(2)
  await edit()
  expect((await offered(runner)).uuid).not.toBe(job)
  await world.admin.send('DELETE', `/api/v1/videos/${uuid}`)
  await eventually('the end of the offer', 20_000, async () => (await world.protocol.request(runner, [TYPE])).length === 0)
})

it('refuses results of a hostile runner, and keeps the video', async () => {
  const runnerToken = await world.register('hostile')
  await edit()
  const before = await storedNames(world.node, 'web_videos')
  const refusals: [string, MediaName, string, string][] = [
    ['not an MP4', 'webm.webm', 'videoFile', 'a.mp4'],
    ['lines instead of', 'journey.mp4', 'videoFile', '../../../a.mp4'],
    ['not an MP4', 'sound.mp3', 'videoFile', '/etc/passwd'],
    ['payload[vttFile]', 'small.mp4', 'vttFile', 'a.vtt'],
    ['', 'picture.png', 'videoFile', 'a.mp4'],
    ['no sound', 'silent.mp4', 'videoFile', 'a.mp4'],
  ]
  const failures: number[] = []
  for (const [message, file, field, filename] of refusals) {
    const { uuid: job } = await offered(runnerToken)
    const { jobToken } = await world.protocol.accept(runnerToken, job)
    const form = new FormData()
    form.set('runnerToken', runnerToken)
    form.set('jobToken', jobToken)
    form.set(`payload[${field}]`, new Blob([await bytesOf(file)]), filename)
    const answer = await world.ask(`jobs/${job}/success`, form)
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining(message)])
    if (field === 'vttFile') await world.ask(`jobs/${job}/abort`, { runnerToken, jobToken, reason: 'another file' })
    failures.push((await world.jobs()).find((one) => one.uuid === job)?.failures ?? 0)
    expect((await storedNames(world.node, 'tmp')).filter((name) => name.startsWith('runner-'))).toEqual([])
  }
  expect(failures).toEqual([1, 2, 3, 3, 4, 5])
  expect((await untilPublished()).duration).toBe(2)
  expect(await storedNames(world.node, 'web_videos')).toEqual(before)
  await eventually('the removal of the intro', 20_000, async () => (await storedNames(world.node, 'uploads')).length === 0)
})

describe('with a timeout after which the server does the work itself', () => {
  it('is done locally without runners, and instead of a silent one', async () => {
    const alone = await startHarness({ ...CONFIG, vireo: { runners: { local_after: '1 minute' } } })
    try {
      const video = await alone.upload('small.mp4')
      const runner = await alone.register('a runner')
      await edit(alone, video)
      const job = await eventually('an offer', 20_000, async () => (await alone.protocol.request(runner, [TYPE]))[0])
      await alone.protocol.accept(runner, job.uuid)
      await run(
        alone.node.databaseUrl,
        `update runner set last_contact = now() - interval '61 seconds';
         update video set due_at = now() where state = 'to-edit'`,
      )
      expect((await untilPublished(video, alone)).duration).not.toBe(2)
      expect((await alone.jobs()).map(({ state }) => state.label)).toEqual(['Cancelled'])
    } finally {
      await alone.stop()
    }
  })
})
