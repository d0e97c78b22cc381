// Live streams that remote runners encode.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import type { Values } from '../../../src/config/layers.ts'
import type { AcceptedJob } from '../../../src/remote-runner/protocol.ts'
import { publish } from '../../support/live.ts'
import { media, serverFfmpeg } from '../../support/media.ts'
import { freePort } from '../../support/ports.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { type SwitchedFfprobe, switchedFfprobe } from './ffprobe.ts'
import { type RunnerHarness, startHarness } from './harness.ts'
import { createLive, type Live, liveConfig, namesIn, LIVE_TYPE as TYPE, textOfLive } from './lives.ts'

/** Pending, processing, completing. */
const OPEN = [1, 2, 9]
let world: RunnerHarness
let rtmp: string
let runnerToken: string
let ffprobe: SwitchedFfprobe

const configOf = (port: number, runners: Values = {}): Values => liveConfig({ port, resolutions: { '0p': true, '144p': true }, runners })

beforeAll(async () => {
  const port = await freePort()
  ffprobe = await switchedFfprobe('dies')
  world = await startHarness(configOf(port), ffprobe)
  rtmp = `rtmp://127.0.0.1:${port}/live`
  runnerToken = await world.register('a runner')
})
afterAll(async () => {
  await world?.stop()
  await ffprobe?.remove()
})
afterEach(() => end?.())

let end: (() => Promise<void>) | undefined

const makeLive = (fields: object = {}) => createLive(world, fields)
const stateOf = async ({ uuid }: Live, { video } = world) => (await video(uuid)).state.id
const textOf = (live: Live, name: string, of = world) => textOfLive(of, live, name)
const offered = () => until(async () => (await world.protocol.request(runnerToken, [TYPE]))[0], { what: 'an offer' })
const jobOf = async (uuid: string) => (await world.jobs()).find((job) => job.uuid === uuid)
const sessionsOf = async ({ id }: Live) =>
  (await world.admin.get<{ data: { error: number | null; endDate: string | null }[] }>(`/api/v1/videos/live/${id}/sessions`)).data

function part(job: AcceptedJob, name: string, bytes: Buffer) {
  const form = new FormData()
  for (const [field, value] of Object.entries({ runnerToken, jobToken: job.jobToken })) form.set(field, value)
  const payload = { type: 'add-chunk', videoChunkFilename: name, resolutionPlaylistFilename: '../../0.m3u8' }
  for (const [field, value] of Object.entries(payload)) form.set(`payload[${field}]`, value)
  form.set('payload[resolutionPlaylistFile]', new Blob(['#EXTM3U\n../../../etc/passwd\n']), '../../0.m3u8')
  form.set('payload[videoChunkFile]', new Blob([new Uint8Array(bytes)]), '../../evil.ts')
  return world.ask(`jobs/${job.uuid}/update`, form)
}

/** A segment of a stream with this frame. */
async function pieceOf(size: string, format = 'mpegts', sound = true): Promise<Buffer> {
  const path = join(tmpdir(), `piece-${process.pid}-${Math.random()}.${format}`)
  const { ffmpegPath } = await serverFfmpeg()
  const picture = size === '' ? [] : ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=25:duration=1`]
  const tone = sound ? ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100:d=1'] : []
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac']
  await promisify(execFile)(ffmpegPath, ['-v', 'error', ...picture, ...tone, ...codecs, '-f', format, path])
  return await readFile(path)
}

it('are encoded by a runner, whose segments play until the end', async () => {
  const live = await makeLive()
  end = await world.work(runnerToken)
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  await until(async () => ((await stateOf(live)) === 1 ? true : undefined), { what: 'the live' })
  const master = await textOf(live, 'master.m3u8')
  expect(master.split('\n').filter((line) => line !== '')).toEqual([
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    expect.stringMatching(/BANDWIDTH=\d+,RESOLUTION=320x240,CODECS="avc1\.6400[0-9a-f]{2},mp4a\.40\.2"$/),
    '1.m3u8',
    expect.stringMatching(/BANDWIDTH=\d+,RESOLUTION=192x144,CODECS="avc1\.6400[0-9a-f]{2},mp4a\.40\.2"$/),
    '2.m3u8',
    expect.stringMatching(/BANDWIDTH=\d+,CODECS="mp4a\.40\.2"$/),
    '3.m3u8',
  ])
  // The source stream is not listed beside it.
  expect(await textOf(live, '0.m3u8')).not.toContain('#EXTM3U')
  await until(async () => (namesIn(await textOf(live, '2.m3u8')).length >= 6 ? true : undefined), { what: 'pieces' })
  stop.abort()
  await sending
  const texts = await until(
    async () => {
      const all = await Promise.all([1, 2, 3].map((n) => textOf(live, `${n}.m3u8`)))
      return all.every((text) => text.includes('#EXT-X-ENDLIST')) ? all : undefined
    },
    { what: 'the end of all renditions' },
  )
  for (const text of texts) {
    expect(text).not.toMatch(/DISCONTINUITY|GAP/)
    expect(namesIn(text).length).toBeGreaterThanOrEqual(6)
  }
  const hashes: Record<string, string> = JSON.parse(await textOf(live, 'segments-sha256.json'))
  expect(Object.keys(hashes).toSorted()).toEqual(texts.flatMap(namesIn).toSorted())

  const { ffprobePath } = await serverFfmpeg()
  const url = `${world.node.base}/static/streaming-playlists/hls/${live.uuid}/2.m3u8`
  const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', url]
  const { stdout } = await promisify(execFile)(ffprobePath, args, { env: { ...process.env, GCONV_PATH: '/nonexistent' } })
  const times = stdout
    .split('\n')
    .map(Number.parseFloat)
    .filter(Number.isFinite)
    .toSorted((a, b) => a - b)
  expect(times.length).toBeGreaterThanOrEqual(6 * 25)
  expect(Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? 0)))).toBeLessThan(0.085)

  const [job] = await world.jobs()
  expect(await until(async () => ((await jobOf(job?.uuid ?? ''))?.state.id === 3 ? job : undefined), { what: 'the job' })).toMatchObject({
    type: TYPE,
    failures: 0,
    privatePayload: { videoUUID: live.uuid, masterPlaylistName: 'master.m3u8' },
  })
})

it('accept only what fits the job and its lease, once', async () => {
  const live = await makeLive()
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  const offer = await offered()
  expect(offer.payload).toEqual({
    input: { rtmpUrl: `${rtmp}/${offer.uuid}` },
    output: {
      toTranscode: [
        { resolution: 240, fps: 25 },
        { resolution: 144, fps: 25 },
        { resolution: 0, fps: 0 },
      ],
      segmentDuration: 1,
      segmentListSize: 200,
    },
  })
  const job = await world.protocol.accept(runnerToken, offer.uuid)
  expect(job.payload).toMatchObject({ input: { rtmpUrl: `${rtmp}/${offer.uuid}.${job.jobToken}` } })

  // Only this lease may send.
  const { ffmpegPath } = await serverFfmpeg()
  const play = (url: string) =>
    promisify(execFile)(ffmpegPath, ['-v', 'error', '-i', url, '-t', '1', '-f', 'null', '-']).then(
      () => 'played',
      () => 'refused',
    )
  expect(await play((job.payload.input as { rtmpUrl: string }).rtmpUrl)).toBe('played')
  expect(await play(`${rtmp}/${offer.uuid}`)).toBe('refused')
  expect(await play(`${rtmp}/${offer.uuid}.ptrjt-${crypto.randomUUID()}`)).toBe('refused')
  expect(await play(`${rtmp}/${live.key}`)).toBe('refused')

  const large = await pieceOf('320x240')
  const small = await pieceOf('192x144')
  const sound = await pieceOf('')
  const other = await world.register('another runner')
  const foreign = await world.ask(`jobs/${job.uuid}/update`, { runnerToken: other, jobToken: job.jobToken, payload: {} })
  expect(foreign.status).toBe(404)
  for (const name of ['../../0-000000.ts', '3-000000.ts', '0-000000.mp4', '0.ts']) {
    expect(await part(job, name, large)).toMatchObject({ status: 400, body: { detail: 'The job has no piece of this name.' } })
  }
  expect((await part(job, '0-000200.ts', large)).status).toBe(400)
  expect((await jobOf(job.uuid))?.failures).toBe(0)

  expect((await part(job, '0-000000.ts', large)).status).toBe(204)
  expect((await part(job, '0-000000.ts', await pieceOf('320x240', 'mpegts', false))).status).toBe(204)
  expect(await stateOf(live)).toBe(4)
  expect((await part(job, '1-000000.ts', small)).status).toBe(204)
  expect((await part(job, '2-000000.ts', sound)).status).toBe(204)
  await until(async () => ((await stateOf(live)) === 1 ? true : undefined), { what: 'the live' })
  // The second segment is still missing: players skip it.
  expect((await part(job, '0-000002.ts', large)).status).toBe(204)
  expect(await textOf(live, '1.m3u8')).toContain('#EXT-X-GAP\n1-000001.ts\n')
  expect((await part(job, '0-000001.ts', large)).status).toBe(204)
  expect(await textOf(live, '1.m3u8')).not.toContain('#EXT-X-GAP')
  expect(namesIn(await textOf(live, '1.m3u8'))).toEqual(['1-000000.ts', '1-000001.ts', '1-000002.ts'])
  const stored = await fetch(`${world.node.base}/static/streaming-playlists/hls/${live.uuid}/1-000000.ts`)
  expect(Buffer.from(await stored.arrayBuffer()).equals(large)).toBe(true)

  // A segment that this server cannot check is sent again, without a failure.
  expect((await ffprobe.during(() => part(job, '0-000003.ts', large))).status).toBe(503)
  expect((await part(job, '0-000003.ts', large)).status).toBe(204)
  expect(namesIn(await textOf(live, '1.m3u8'))).toHaveLength(4)

  // The last segment of a stream may be truncated anywhere, and is left out then.
  for (const packets of [2, 3, 4, 12]) {
    expect((await part(job, '0-000005.ts', large.subarray(0, packets * 188))).status).toBe(204)
  }
  // An unusable segment fails the job.
  const movie = await readFile(await media('small.mp4'))
  for (const [name, bytes] of [
    ['0-000004.ts', movie],
    ['0-000004.ts', Buffer.from('no video')],
    ['0-000004.ts', await pieceOf('640x480')],
    ['2-000001.ts', small],
  ] as const) {
    expect((await part(job, name, bytes)).status).toBe(400)
    expect((await part(job, name, bytes)).status).toBe(404)
    Object.assign(job, await world.protocol.accept(runnerToken, job.uuid))
  }
  expect((await jobOf(job.uuid))?.failures).toBe(4)
  // The next lease counts from 0 again, after the existing segments.
  expect((await part(job, '0-000000.ts', large)).status).toBe(204)
  expect(await textOf(live, '1.m3u8')).toMatch(
    /1-000003\.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:[\d.]+,\n#EXT-X-PROGRAM-DATE-TIME:.+\n1-000004\.ts\n/,
  )

  await world.admin.send('POST', `/api/v1/runners/jobs/${job.uuid}/cancel`)
  await sending
  const [session] = await until(
    async () => {
      const sessions = await sessionsOf(live)
      return sessions[0]?.endDate ? sessions : undefined
    },
    { what: 'the end of the session' },
  )
  expect(session?.error).toBe(7)
  stop.abort()
})

it('continue with another runner when one falls silent or ends too early, and nobody gets the job of an ended stream', async () => {
  const live = await makeLive({ saveReplay: true, replaySettings: { privacy: 1 } })
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, numberedFrom: 0, signal: stop.signal })
  const first = await world.protocol.accept(runnerToken, (await offered()).uuid)
  for (const [place, size] of ['320x240', '192x144', ''].entries()) {
    expect(await part(first, `${place}-000000.ts`, await pieceOf(size))).toMatchObject({ status: 204 })
  }
  // It mistakes the end of its input for that of the stream, as when the process of its input dies.
  await world.protocol.ofJob(runnerToken, first).success({})
  expect((await jobOf(first.uuid))?.state.id).toBe(3)
  const silent = await world.protocol.accept(runnerToken, (await offered()).uuid)
  expect(silent.uuid).not.toBe(first.uuid)
  // Its ten minutes have passed.
  await run(world.node.databaseUrl, `update job set due_at = now() where uuid = '${silent.uuid}'`)
  const again = await offered()
  expect(again.uuid).toBe(silent.uuid)

  end = await world.work(runnerToken)
  const text = await until(
    async () => {
      const playlist = await textOf(live, '2.m3u8')
      return namesIn(playlist).length > 3 ? playlist : undefined
    },
    { what: 'pieces of the next runner' },
  )
  expect(text).toMatch(/2-000000\.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:[\d.]+,\n#EXT-X-PROGRAM-DATE-TIME:.+\n2-000001\.ts\n/)
  stop.abort()
  await sending
  const ended = await until(
    async () => {
      const job = await jobOf(silent.uuid)
      return job && !OPEN.includes(job.state.id) ? job : undefined
    },
    { what: 'the end of the job' },
  )
  expect(ended).toMatchObject({ state: { label: 'Completed' }, error: null, failures: 0 })
  expect(await world.protocol.request(runnerToken, [TYPE])).toEqual([])
  // The recording is made of the source stream.
  await until(async () => ((await stateOf(live)) === 1 && !(await world.video(live.uuid)).streamingPlaylists[0] ? true : undefined), {
    what: 'the recording',
  })
  expect((await world.video(live.uuid)).files).toHaveLength(1)
})

it.each(['runner', 'registration token'])('of an ended stream are offered to nobody when the %s is removed', async (removed) => {
  const live = await makeLive()
  const token = await world.registrationToken()
  const doomed = await world.protocol.register(token, { name: `removed with its ${removed}`, description: 'a machine' })
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  const job = await world.protocol.accept(doomed, (await offered()).uuid)
  stop.abort()
  await sending
  await until(async () => (await sessionsOf(live))[0]?.endDate, { what: 'the end of the session' })
  expect((await jobOf(job.uuid))?.state.label).toBe('Processing')
  const { data } = await world.admin.get<{ data: { id: number; name?: string }[] }>(
    removed === 'runner' ? '/api/v1/runners?count=100' : '/api/v1/runners/registration-tokens?sort=-createdAt',
  )
  const { id } = data.find(({ name = '' }) => removed !== 'runner' || name.startsWith('removed with its runner')) ?? { id: 0 }
  await world.admin.send('DELETE', removed === 'runner' ? `/api/v1/runners/${id}` : `/api/v1/runners/registration-tokens/${id}`)
  expect(await jobOf(job.uuid)).toMatchObject({
    state: { label: 'Cancelled' },
    error: 'Nothing waits for its result any more. Before: Its runner was removed.',
  })
  expect(await world.protocol.request(runnerToken, [TYPE])).toEqual([])
})

it('without a runner end unseen, with their recording', async () => {
  const live = await makeLive({ saveReplay: true, replaySettings: { privacy: 1 } })
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  await offered()
  stop.abort()
  await sending
  const { files } = await until(
    async () => {
      const video = await world.video(live.uuid)
      return video.state.id === 1 && video.files.length > 0 ? video : undefined
    },
    { what: 'the recording' },
  )
  expect(files).toHaveLength(1)
  const jobs = (await world.jobs()).filter(({ privatePayload }) => privatePayload.videoUUID === live.uuid)
  expect(jobs.map(({ state }) => state.label)).toEqual(['Cancelled'])
})

it('are encoded locally if no runner sends a first segment', async () => {
  const port = await freePort()
  const alone = await startHarness(configOf(port, { local_after: '1 minute' }))
  const stop = new AbortController()
  try {
    const runner = await alone.register('a runner')
    const live = await createLive(alone)
    const sending = publish(`rtmp://127.0.0.1:${port}/live/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
    const { uuid } = await until(async () => (await alone.protocol.request(runner, [TYPE]))[0], { what: 'an offer' })
    const job = await alone.protocol.accept(runner, uuid)
    expect(await stateOf(live, alone)).toBe(4)
    await run(alone.node.databaseUrl, "update runner set last_contact = now() - interval '61 seconds'")
    await until(async () => ((await stateOf(live, alone)) === 1 ? true : undefined), { what: 'the live' })
    await until(async () => (namesIn(await textOf(live, '2.m3u8', alone)).length >= 3 ? true : undefined), { what: 'pieces' })
    expect((await alone.jobs()).map(({ state }) => state.label)).toEqual(['Cancelled'])
    expect((await alone.ask(`jobs/${uuid}/update`, { runnerToken: runner, jobToken: job.jobToken, progress: 5 })).status).toBe(400)
    stop.abort()
    await sending
    await until(async () => ((await textOf(live, '2.m3u8', alone)).includes('#EXT-X-ENDLIST') ? true : undefined), { what: 'the end' })
    const playlist = await textOf(live, '2.m3u8', alone)
    // The last segment may be truncated.
    expect(playlist.slice(0, playlist.lastIndexOf('#EXTINF'))).not.toMatch(/DISCONTINUITY|GAP/)
  } finally {
    stop.abort()
    await alone.stop()
  }
})
