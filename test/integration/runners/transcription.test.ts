// Automatic captions by remote runners.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { eventually } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

const TYPE = 'video-transcription'
const VTT = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello\n'

let world: RunnerHarness
let runnerToken: string
let uuid: string

beforeAll(async () => {
  world = await startHarness({
    transcoding: { enabled: false, remote_runners: { enabled: false } },
    video_transcription: { enabled: true, remote_runners: { enabled: true } },
  })
  runnerToken = await world.register('a runner')
})
afterAll(() => world?.stop())
beforeEach(async () => {
  uuid = await world.upload('small.mp4', { generateTranscription: 'false' })
})

interface CaptionView {
  language: { id: string }
  automaticallyGenerated: boolean
  captionPath: string
}

const generate = async (forceTranscription = false) => {
  const response = await world.admin.raw(`/api/v1/videos/${uuid}/captions/generate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ forceTranscription }),
  })
  return { status: response.status, code: response.status === 204 ? undefined : ((await response.json()) as { code?: string }).code }
}
const captions = async () => (await world.admin.get<{ data: CaptionView[] }>(`/api/v1/videos/${uuid}/captions`)).data

/** Accepts the only job. */
async function accept() {
  const [job] = await world.protocol.request(runnerToken, [TYPE])
  if (!job) throw new Error('Nothing is offered.')
  return await world.protocol.accept(runnerToken, job.uuid)
}

async function send({ uuid: job, jobToken }: { uuid: string; jobToken: string }, vtt: string, language?: string) {
  const form = new FormData()
  for (const [name, value] of Object.entries({ runnerToken, jobToken })) form.set(name, value)
  if (language !== undefined) form.set('payload[inputLanguage]', language)
  form.set('payload[vttFile]', new Blob([vtt]), '../../a.vtt')
  return await world.ask(`jobs/${job}/success`, form)
}

const isOffered = async (video: string) =>
  (await world.jobs()).some(({ type, privatePayload }) => type === TYPE && privatePayload.videoUUID === video)

it('are requested with an upload, unless its uploader disables them, and the owner is notified', async () => {
  const wanted = await world.upload('small.mp4')
  await until(async () => ((await isOffered(wanted)) ? true : undefined))
  expect(await isOffered(uuid)).toBe(false)
  const offers = await world.protocol.request(runnerToken, [TYPE])
  const jobs = await world.jobs()
  const offer = offers.find(({ uuid: one }) => jobs.some((job) => job.uuid === one && job.privatePayload.videoUUID === wanted))
  const job = await world.protocol.accept(runnerToken, offer?.uuid ?? '')
  expect((await send(job, VTT, 'en')).status).toBe(204)
  const notices = async () =>
    (await world.admin.get<{ data: { type: number; videoCaption?: object }[] }>('/api/v1/users/me/notifications')).data.filter(
      ({ type }) => type === 22,
    )
  await until(async () => ((await notices()).length > 0 ? true : undefined))
  expect(await notices()).toMatchObject([
    { videoCaption: { id: expect.any(Number), language: { id: 'en', label: 'English' }, video: { uuid: wanted } } },
  ])
})

it('become automatic captions in the language that the runner detected', async () => {
  expect(await generate()).toEqual({ status: 204, code: undefined })
  expect(await generate()).toEqual({ status: 409, code: 'video_already_being_transcribed' })
  const job = await accept()
  const videoFileUrl = `${world.node.base}/api/v1/runners/jobs/${job.uuid}/files/videos/${uuid}/max-quality`
  expect(job.payload).toEqual({ input: { videoFileUrl } })
  expect(await world.fetchInput(videoFileUrl, { runnerToken, jobToken: job.jobToken })).toEqual({
    status: 200,
    bytes: await readFile(await media('small.mp4')),
  })
  expect((await send(job, VTT, 'en')).status).toBe(204)
  const [caption] = await captions()
  expect(caption).toMatchObject({ language: { id: 'en' }, automaticallyGenerated: true })
  expect(await (await fetch(`${world.node.base}${caption?.captionPath}`)).text()).toContain('Hello')
  expect(await generate()).toEqual({ status: 400, code: 'video_already_has_captions' })
  expect((await send(job, VTT, 'en')).status).toBe(400)
})

it('have no input after the files of the video were removed', async () => {
  expect(await generate()).toEqual({ status: 204, code: undefined })
  const job = await accept()
  const gone = `(select id from video where uuid = '${uuid}')`
  await run(world.node.databaseUrl, `update video_source set kept_filename = null where video_id = ${gone}`)
  await run(world.node.databaseUrl, `delete from video_file where video_id = ${gone}`)
  const address = `${world.node.base}/api/v1/runners/jobs/${job.uuid}/files/videos/${uuid}/max-quality`
  expect((await world.fetchInput(address, { runnerToken, jobToken: job.jobToken })).status).toBe(404)
  await world.admin.send('DELETE', `/api/v1/videos/${uuid}`)
})

it('are refused without a known language, and unless they are text', async () => {
  await generate()
  const hostile: [string, string | undefined][] = [
    [VTT, undefined],
    [VTT, '../../etc'],
    ['\u0000\u0001 no text', 'en'],
    [`${VTT}\n${'x'.repeat(25_000_000)}`, 'en'],
  ]
  for (const [vtt, language] of hostile) expect((await send(await accept(), vtt, language)).status).toBeGreaterThanOrEqual(400)
  expect((await world.jobs()).at(-1)).toMatchObject({ type: TYPE, failures: 4, state: { label: 'Pending' } })
  expect(await captions()).toEqual([])
  expect((await generate(true)).status).toBe(204)
  expect((await world.jobs()).slice(-2).map(({ state }) => state.label)).toEqual(['Cancelled', 'Pending'])
  await world.admin.send('DELETE', `/api/v1/videos/${uuid}`)
  await eventually('the end of the offer', 20_000, async () => (await world.protocol.request(runnerToken, [TYPE])).length === 0)
})

it.each([
  ['jw', 'jv'],
  ['yue', 'zh'],
])('take a language that the runner calls %s as %s', async (recognised, language) => {
  await generate()
  expect((await send(await accept(), VTT, recognised)).status).toBe(204)
  expect(await captions()).toMatchObject([{ language: { id: language }, automaticallyGenerated: true }])
})

it('fail at once in a language that has no name here', async () => {
  await generate()
  expect(await send(await accept(), VTT, 'haw')).toMatchObject({
    status: 400,
    body: { detail: 'The result cannot be used: This server has no captions in the language "haw".' },
  })
  expect((await world.jobs()).at(-1)).toMatchObject({
    state: { label: 'Errored' },
    failures: 1,
    error: 'This server has no captions in the language "haw".',
  })
  expect(await world.protocol.request(runnerToken, [TYPE])).toEqual([])
})

it('do not replace captions that a user uploaded meanwhile', async () => {
  await generate()
  const job = await accept()
  const form = new FormData()
  form.set('captionfile', new Blob([VTT.replace('Hello', 'Good day')]), 'own.vtt')
  await world.admin.send('PUT', `/api/v1/videos/${uuid}/captions/en`, form)
  expect((await send(job, VTT, 'en')).status).toBe(404)
  expect(await captions()).toMatchObject([{ language: { id: 'en' }, automaticallyGenerated: false }])
  expect((await world.jobs()).at(-1)?.state.label).toBe('Cancelled')
})

it('are shown as disabled without runners, since the server cannot make them', async () => {
  await world.admin.send('PUT', '/api/v1/config/custom', { videoTranscription: { enabled: true, remoteRunners: { enabled: false } } })
  const shown = await world.admin.get<{ videoTranscription: object }>('/api/v1/config')
  expect(shown.videoTranscription).toEqual({ enabled: false, remoteRunners: { enabled: false } })
  expect(await generate()).toEqual({ status: 400, code: undefined })
  await world.admin.send('DELETE', '/api/v1/config/custom')
})
