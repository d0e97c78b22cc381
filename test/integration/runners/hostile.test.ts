// A hostile runner: its results are refused, the job fails with the reason, and the video and the disk are unchanged.

import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { eventually } from '../../../scripts/demo/client.ts'
import { slowness } from '../../support/cpu-time.ts'
import { media } from '../../support/media.ts'
import { storedNames } from '../../support/node.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

let world: RunnerHarness
let runnerToken: string
let uuid: string
let job: string
let jobToken: string
let before: string[]

const stored = async () => [...(await storedNames(world.node, 'streaming_playlists')), ...(await storedNames(world.node, 'web_videos'))]

beforeAll(async () => {
  world = await startHarness()
  runnerToken = await world.register('hostile')
  uuid = await world.upload('small.mp4')
})
afterAll(() => world?.stop())

beforeEach(async () => {
  const offer = await eventually('an offer', 600_000, async () => (await world.protocol.request(runnerToken, ['vod-hls-transcoding']))[0])
  job = offer.uuid
  jobToken = (await world.protocol.accept(runnerToken, job)).jobToken
  before = await stored()
})

const PLAYLIST = [
  '#EXTM3U',
  '#EXT-X-TARGETDURATION:4',
  '#EXT-X-MAP:URI="a.mp4",BYTERANGE="700@0"',
  '#EXTINF:2.0,',
  '#EXT-X-BYTERANGE:1000@700',
  'a.mp4',
  '#EXT-X-ENDLIST',
].join('\n')

interface Sent {
  video?: Blob | string
  playlist?: string
  names?: [string, string]
  tokens?: 'first' | 'last'
  fields?: Record<string, string>
}

async function send({ video = 'not a video', playlist = PLAYLIST, names = ['a.mp4', 'a.m3u8'], tokens = 'first', fields = {} }: Sent) {
  const form = new FormData()
  const own = () => {
    form.set('runnerToken', runnerToken)
    form.set('jobToken', jobToken)
  }
  if (tokens === 'first') own()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('payload[videoFile]', typeof video === 'string' ? new Blob([video]) : video, names[0])
  form.set('payload[resolutionPlaylistFile]', new Blob([playlist]), names[1])
  if (tokens === 'last') own()
  return await world.ask(`jobs/${job}/success`, form)
}

const file = async (name: Parameters<typeof media>[0]) => new Blob([await readFile(await media(name))])
const failures = async () => (await world.jobs()).find((one) => one.uuid === job)?.failures
const work = async () => (await storedNames(world.node, 'tmp')).filter((name) => name.startsWith('runner-'))

async function untouched(): Promise<void> {
  expect(await stored()).toEqual(before)
  expect(await work()).toEqual([])
  const video = await world.video(uuid)
  expect([video.state.id, video.files, video.streamingPlaylists]).toEqual([2, [], []])
}

it('refuses files that are not MP4, or have another size or duration, and counts each as a failure', async () => {
  const answer = await send({ video: await file('webm.webm') })
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('not an MP4')])
  expect(await failures()).toBe(1)
  await untouched()
  expect((await send({ video: await file('small.mp4') })).status).toBe(404)
})

it('refuses a playlist that names other bytes, or none, of any length', async () => {
  const hostile = PLAYLIST.replace('1000@700', '99999999@700').replaceAll('a.mp4', '../../../../etc/passwd')
  expect((await send({ video: await file('small.mp4'), playlist: hostile })).status).toBe(400)
  await untouched()
  expect(await failures()).toBe(2)
})

it('aborts a playlist with slow patterns quickly', async () => {
  const begun = performance.now()
  expect((await send({ video: await file('small.mp4'), playlist: '#EXT-X-MAP:'.repeat(180_000) })).status).toBe(400)
  expect(performance.now() - begun).toBeLessThan(5_000 * slowness())
  await untouched()
})

it('writes nothing for an announced terabyte, nor for an endless result', async () => {
  const { port } = new URL(world.node.base)
  const head = `POST /api/v1/runners/jobs/${job}/success HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n`
  const field = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const fields = `${field('runnerToken', runnerToken)}${field('jobToken', jobToken)}`
  const begun = '--b\r\nContent-Disposition: form-data; name="payload[videoFile]"; filename="a.mp4"\r\n\r\n'
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let said = ''
    socket.setEncoding('utf8').on('data', (text) => {
      said += text
      if (said.includes('\r\n\r\n')) resolve(said)
    })
    socket.once('error', reject)
    socket.write(`${head}Content-Length: 1099511627776\r\n\r\n${fields}${begun}${'x'.repeat(100_000)}`)
  })
  expect(answer).toMatch(/^HTTP\/1.1 413/)
  await eventually('the failure', 600_000, async () => (await failures()) === 4)
  await untouched()
})

it('accepts no file names of a form, no files before the tokens, and no other files', async () => {
  expect((await send({ tokens: 'last' })).status).toBe(400)
  const form = new FormData()
  form.set('runnerToken', runnerToken)
  form.set('jobToken', jobToken)
  form.set('payload[vttFile]', new Blob(['WEBVTT']), '../../evil.vtt')
  expect((await world.ask(`jobs/${job}/success`, form)).status).toBe(400)
  await untouched()
  const named = await send({ video: await file('small.mp4'), names: ['../../../evil.mp4', '/etc/evil.m3u8'] })
  expect([named.status, await work()]).toEqual([400, []])
  await eventually('the failure of the video', 600_000, async () => (await world.video(uuid)).state.id === 7)
  expect((await world.jobs()).find((one) => one.uuid === job)).toMatchObject({ failures: 5, error: expect.stringContaining('fragmented') })
})
