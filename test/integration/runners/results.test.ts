// Simultaneous reports about one lease: one of them is accepted, and the others are refused.

import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventually } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { storedNames } from '../../support/node.ts'
import { type SwitchedFfprobe, switchedFfprobe } from './ffprobe.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

const TYPE = 'vod-web-video-transcoding'
const NOT_PROCESSING = { status: 400, body: { code: 'runner_job_not_in_processing_state' } }

let world: RunnerHarness
let runnerToken: string
let ffprobe: SwitchedFfprobe

beforeAll(async () => {
  ffprobe = await switchedFfprobe('waits')
  const config = { transcoding: { web_videos: { enabled: true }, hls: { enabled: false } }, storyboards: { enabled: false } }
  world = await startHarness(config, ffprobe)
  runnerToken = await world.register('a runner')
})
afterAll(async () => {
  await world?.stop()
  await ffprobe?.remove()
})

interface Lease {
  video: string
  job: string
  jobToken: string
}

/** Uploads a video, and accepts its job as a runner. */
async function lease(): Promise<Lease> {
  const video = await world.upload('small.mp4')
  const { uuid: job } = await eventually('an offer', 180_000, async () => (await world.protocol.request(runnerToken, [TYPE]))[0])
  return { video, job, jobToken: (await world.protocol.accept(runnerToken, job)).jobToken }
}

const report = ({ job, jobToken }: Lease, kind: 'update' | 'abort' | 'error') =>
  world.ask(`jobs/${job}/${kind}`, { runnerToken, jobToken, ...{ update: {}, abort: { reason: 'r' }, error: { message: 'm' } }[kind] })

async function succeed({ job, jobToken }: Lease) {
  const form = new FormData()
  for (const [name, value] of Object.entries({ runnerToken, jobToken })) form.set(name, value)
  form.set('payload[videoFile]', new Blob([await readFile(await media('small.mp4'))]), 'a.mp4')
  return await world.ask(`jobs/${job}/success`, form)
}

/** Sends a result, and runs `work` while it is checked; returns the response. */
async function whileChecked(leased: Lease, work: () => Promise<unknown>) {
  const { answer } = await ffprobe.during(async () => {
    const answer = succeed(leased)
    await eventually('the check', 180_000, async () => (await stateOf(leased)) === 'Completing')
    await work()
    return { answer }
  })
  return await answer
}

const SUPERSEDED = { status: 409, body: { detail: 'The runner sends another result of this job.' } }

const stateOf = async ({ job }: Lease) => (await world.jobs()).find(({ uuid }) => uuid === job)?.state.label
const untilState = ({ video }: Lease, state: number) =>
  eventually(`state ${state}`, 180_000, async () => (await world.video(video)).state.id === state)

/** Ends the job if it is open, and the video with it; then expects no remaining file. */
async function leavesNothing(leased: Lease): Promise<void> {
  const before = await world.video(leased.video)
  if (before.state.id !== 1 && (await stateOf(leased)) !== 'Completed') {
    await world.admin.raw(`/api/v1/runners/jobs/${leased.job}/cancel`, { method: 'POST' })
    await untilState(leased, 7)
  } else await untilState(leased, 1)
  await world.admin.send('DELETE', `/api/v1/videos/${leased.video}`)
  await eventually('the removal of all files', 60_000, async () => {
    const names = [...(await storedNames(world.node, 'web_videos')), ...(await storedNames(world.node, 'tmp'))]
    return names.length === 0
  })
}

it.each(['update', 'abort', 'error'] as const)('of a simultaneous result and %s, the first one decides', async (kind) => {
  for (let round = 0; round < 3; round += 1) {
    const leased = await lease()
    const [result, other] = await Promise.all([succeed(leased), report(leased, kind)])
    if (result.status === 204) {
      expect(await stateOf(leased)).toBe('Completed')
      if (other.status !== 204) expect(other).toMatchObject(NOT_PROCESSING)
      if (kind !== 'update') expect(other.status).toBe(400)
    } else {
      expect([kind, result.status, other.status]).toEqual([expect.stringMatching('abort|error'), 404, 204])
      expect(await stateOf(leased)).toBe('Pending')
    }
    await leavesNothing(leased)
  }
})

it('of simultaneous results, one is stored', async () => {
  const leased = await lease()
  const results = await Promise.all(Array.from({ length: 4 }, () => succeed(leased)))
  expect(results.map(({ status }) => status).toSorted()).toEqual([204, ...Array(3).fill(expect.any(Number))])
  for (const result of results.filter(({ status }) => status !== 204)) {
    expect(result).toMatchObject(result.status === 409 ? SUPERSEDED : NOT_PROCESSING)
  }
  await untilState(leased, 1)
  const { files } = await world.video(leased.video)
  expect(files).toHaveLength(1)
  expect(await storedNames(world.node, 'web_videos')).toHaveLength(1)
  expect(await succeed(leased)).toMatchObject(NOT_PROCESSING)
  expect((await world.video(leased.video)).files).toEqual(files)
  await leavesNothing(leased)
})

/** Starts to send an endless result; resolves to the status of the response. */
function sendEndless({ job, jobToken }: Lease): { begun: Promise<void>; status: Promise<number>; socket: Socket } {
  const { port } = new URL(world.node.base)
  const head = `POST /api/v1/runners/jobs/${job}/success HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n`
  const fields = Object.entries({ runnerToken, jobToken }).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file = '--b\r\nContent-Disposition: form-data; name="payload[videoFile]"; filename="a.mp4"\r\n\r\n'
  const socket = connect(Number(port), '127.0.0.1')
  const status = new Promise<number>((resolve, reject) => {
    let said = ''
    socket.setEncoding('utf8').on('data', (text) => {
      said += text
      const [, code] = /^HTTP\/1\.1 (\d+)/.exec(said) ?? []
      if (code) resolve(Number(code))
    })
    socket.once('error', reject)
  })
  socket.write(`${head}Content-Length: 50000000\r\n\r\n${fields.join('')}${file}${'x'.repeat(1_000_000)}`)
  const before = received.length
  const begun = eventually('the transfer', 180_000, async () => {
    const folders = (await storedNames(world.node, 'tmp')).filter((name) => name.startsWith('runner-'))
    const isNew = folders.some((name) => !received.includes(name))
    if (isNew) received.splice(before, 0, ...folders.filter((name) => !received.includes(name)))
    return isNew
  }).then(() => undefined)
  return { begun, status, socket }
}
/** Files of observed transfers. */
const received: string[] = []

it('a new transfer of the same result ends the previous one, and so does the loss of the job', async () => {
  const leased = await lease()
  const transfers: ReturnType<typeof sendEndless>[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    const transfer = sendEndless(leased)
    transfers.push(transfer)
    await transfer.begun
  }
  const [first, second, last] = transfers
  expect([await first?.status, await second?.status]).toEqual([409, 409])
  await eventually('one folder', 60_000, async () => {
    const folders = (await storedNames(world.node, 'tmp')).map((name) => name.split('/')[0])
    return new Set(folders).size === 1
  })
  expect((await report(leased, 'abort')).status).toBe(204)
  expect(await last?.status).toBe(404)
  for (const { socket } of transfers) socket.destroy()
  await leavesNothing(leased)
})

it('while a result is checked, all other reports of the lease are refused', async () => {
  const leased = await lease()
  const result = await whileChecked(leased, async () => {
    expect(await succeed(leased)).toMatchObject(NOT_PROCESSING)
    for (const kind of ['update', 'abort', 'error'] as const) expect(await report(leased, kind)).toMatchObject(NOT_PROCESSING)
  })
  expect(result.status).toBe(204)
  expect((await world.jobs()).find(({ uuid }) => uuid === leased.job)).toMatchObject({ state: { label: 'Completed' }, failures: 0 })
  await leavesNothing(leased)
})

it('a job cancelled while its result is checked stays cancelled, and the video unchanged', async () => {
  const leased = await lease()
  const result = await whileChecked(leased, () => world.admin.send('POST', `/api/v1/runners/jobs/${leased.job}/cancel`))
  expect(result).toMatchObject(NOT_PROCESSING)
  expect(await stateOf(leased)).toBe('Cancelled')
  await untilState(leased, 7)
  expect((await world.video(leased.video)).files).toEqual([])
  await leavesNothing(leased)
})

it('a result of a runner that is removed while it is checked is refused, and its job offered again', async () => {
  const leased = await lease()
  expect((await whileChecked(leased, () => world.ask('unregister', { runnerToken }))).status).toBe(404)
  expect(await stateOf(leased)).toBe('Pending')
  await leavesNothing(leased)
})
