// Live streams encoded by runners of the reference server, which send audio in separate segments since version 0.1.

import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { AcceptedJob } from '../../../src/remote-runner/protocol.ts'
import { publish } from '../../support/live.ts'
import { serverFfmpeg } from '../../support/media.ts'
import { freePort } from '../../support/ports.ts'
import { until } from '../../support/until.ts'
import { type RunnerHarness, startHarness } from './harness.ts'
import { addressOf, createLive, LIVE_TYPE, type Live, liveConfig, namesIn, textOfLive } from './lives.ts'

let world: RunnerHarness
let rtmp: string
let runnerToken: string

beforeAll(async () => {
  const port = await freePort()
  world = await startHarness(liveConfig({ port, resolutions: { '144p': true } }))
  rtmp = `rtmp://127.0.0.1:${port}/live`
  runnerToken = await world.register('a reference runner')
})
afterAll(() => world?.stop())

const accept = async (): Promise<AcceptedJob> => {
  const offer = await until(async () => (await world.protocol.request(runnerToken, [LIVE_TYPE]))[0], { what: 'an offer' })
  return await world.protocol.accept(runnerToken, offer.uuid)
}
const jobOf = async ({ uuid }: AcceptedJob) => (await world.jobs()).find((job) => job.uuid === uuid)
const text = (live: Live, name: string) => textOfLive(world, live, name)
const linesOf = (playlist: string) => playlist.split('\n').filter((line) => line !== '')

async function sendPiece(job: AcceptedJob, folder: string, name: string, withPlaylists: boolean) {
  const form = new FormData()
  const fields = { runnerToken, jobToken: job.jobToken, 'payload[type]': 'add-chunk', 'payload[videoChunkFilename]': name }
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  const add = async (field: string, file: string) => {
    form.set(`payload[${field}]`, new Blob([new Uint8Array(await readFile(join(folder, file)))]), file)
  }
  if (withPlaylists) {
    form.set('payload[resolutionPlaylistFilename]', `${name.split('-')[0]}.m3u8`)
    await add('masterPlaylistFile', 'master.m3u8')
    await add('resolutionPlaylistFile', `${name.split('-')[0]}.m3u8`)
  }
  await add('videoChunkFile', name)
  return await world.ask(`jobs/${job.uuid}/update`, form)
}

/** Encodes the stream of a job with one ffmpeg, and sends each segment when the next one starts, like reference runners. */
async function encodeAs(job: AcceptedJob, streams: readonly string[], map: string, signal?: AbortSignal): Promise<{ statuses: number[] }> {
  const { ffmpegPath } = await serverFfmpeg()
  const folder = await mkdtemp(join(tmpdir(), 'vireo-reference-runner-'))
  const { rtmpUrl } = job.payload.input as { rtmpUrl: string }
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-sc_threshold', '0', '-c:a', 'aac']
  const filter = '[v:0]split=2[in240][in144];[in240]scale=w=-2:h=240[out240];[in144]scale=w=-2:h=144[out144]'
  const hls = ['-f', 'hls', '-hls_time', '1', '-hls_list_size', '200', '-hls_flags', 'delete_segments+independent_segments']
  const files = ['-hls_segment_filename', join(folder, '%v-%06d.ts'), '-master_pl_name', 'master.m3u8', '-var_stream_map', map]
  const maps = streams.flatMap((stream) => ['-map', stream])
  const args = ['-v', 'error', '-i', rtmpUrl, '-filter_complex', filter, ...maps, ...codecs, ...hls, ...files, join(folder, '%v.m3u8')]
  const child = spawn(ffmpegPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  signal?.addEventListener('abort', () => child.kill('SIGKILL'))
  let isOver = false
  child.once('close', () => {
    isOver = true
  })
  const sent = new Set<string>()
  const statuses: number[] = []
  const look = async (): Promise<boolean> => {
    // The last piece of a killed runner is not complete.
    if (signal?.aborted) return true
    const wasOver = isOver
    const names = (await readdir(folder)).filter((name) => name.endsWith('.ts')).toSorted()
    const isLast = (name: string) => names.findLast((other) => other.split('-')[0] === name.split('-')[0]) === name
    const complete = names.filter((name) => !sent.has(name) && (wasOver || !isLast(name)))
    // Video first: the order of simultaneous requests is undefined.
    for (const name of complete.toReversed()) {
      sent.add(name)
      const { status } = await sendPiece(job, folder, name, sent.size > 3)
      statuses.push(status)
      if (status !== 204) child.kill('SIGKILL')
    }
    return wasOver
  }
  await until(look, { what: 'the end of the stream' })
  await rm(folder, { recursive: true })
  return { statuses }
}

const SPLIT = [['a:0', '[out240]', '[out144]'], 'a:0,agroup:Audio v:0,agroup:Audio v:1,agroup:Audio'] as const
const JOINED = [['a:0', '[out240]', 'a:0', '[out144]'], 'a:0,v:0 a:1,v:1'] as const

/** Kinds of the streams at a URL, as a player sees them, with their packets. */
async function playedAt(url: string): Promise<{ kinds: string[]; packets: Record<string, number> }> {
  const { ffprobePath } = await serverFfmpeg()
  const options = { env: { ...process.env, GCONV_PATH: '/nonexistent' }, maxBuffer: 2 ** 26 }
  const args = ['-v', 'error', '-show_entries', 'stream=index,codec_type,height:packet=codec_type', '-of', 'json', url]
  const { stdout } = await promisify(execFile)(ffprobePath, args, options)
  const found: { streams: { codec_type: string; height?: number }[]; packets: { codec_type: string }[] } = JSON.parse(stdout)
  const kinds = found.streams.map(({ codec_type, height = '' }) => `${codec_type}${height}`)
  return { kinds: kinds.toSorted(), packets: Object.fromEntries(['audio', 'video'].map((kind) => [kind, count(kind)])) }

  function count(kind: string): number {
    return found.packets.filter(({ codec_type }) => codec_type === kind).length
  }
}

it('play with a separate audio rendition', async () => {
  const live = await createLive(world)
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  const job = await accept()
  expect(job.payload.output).toMatchObject({ toTranscode: [{ resolution: 240 }, { resolution: 144 }] })
  const encoding = encodeAs(job, ...SPLIT)
  await until(async () => (await world.video(live.uuid)).state.id === 1, { what: 'the live' })
  expect(linesOf(await text(live, 'master.m3u8'))).toEqual([
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",AUTOSELECT=YES,DEFAULT=YES,URI="3.m3u8"',
    expect.stringMatching(/BANDWIDTH=\d+,RESOLUTION=320x240,CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2",AUDIO="audio"$/),
    '1.m3u8',
    expect.stringMatching(/BANDWIDTH=\d+,RESOLUTION=192x144,CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2",AUDIO="audio"$/),
    '2.m3u8',
  ])
  await until(async () => namesIn(await text(live, '3.m3u8')).length >= 4, { what: 'pieces of the sound' })
  stop.abort()
  await sending
  expect((await encoding).statuses.every((status) => status === 204)).toBe(true)
  expect(await jobOf(job)).toMatchObject({ failures: 0, state: { label: 'Processing' } })
  await world.protocol.ofJob(runnerToken, job).success({})
  const playlists = await until(
    async () => {
      const all = await Promise.all([1, 2, 3].map((rendition) => text(live, `${rendition}.m3u8`)))
      return all.every((playlist) => playlist.includes('#EXT-X-ENDLIST')) ? all : undefined
    },
    { what: 'the end of all renditions' },
  )
  for (const playlist of playlists) expect(playlist).not.toMatch(/DISCONTINUITY|GAP/)
  const hashes: Record<string, string> = JSON.parse(await text(live, 'segments-sha256.json'))
  expect(Object.keys(hashes).toSorted()).toEqual(playlists.flatMap(namesIn).toSorted())

  const { kinds, packets } = await playedAt(addressOf(world, live, 'master.m3u8'))
  expect(new Set(kinds)).toEqual(new Set(['audio', 'video144', 'video240']))
  expect(packets.video).toBeGreaterThanOrEqual(2 * 3 * 25)
  expect(packets.audio).toBeGreaterThanOrEqual(3 * 43)
})

it('of older runners play with audio in each rendition', async () => {
  const live = await createLive(world)
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  const job = await accept()
  const encoding = encodeAs(job, ...JOINED)
  await until(async () => namesIn(await text(live, '2.m3u8')).length >= 3, { what: 'pieces' })
  expect(await text(live, 'master.m3u8')).not.toContain('AUDIO')
  stop.abort()
  await sending
  await encoding
  await world.protocol.ofJob(runnerToken, job).success({})
  await until(async () => (await text(live, '2.m3u8')).includes('#EXT-X-ENDLIST'), { what: 'the end' })
  const { kinds } = await playedAt(addressOf(world, live, 'master.m3u8'))
  expect(kinds).toEqual(['audio', 'audio', 'video144', 'video240'])
})

it('continue with separate audio when a runner that sends muxed segments takes over', async () => {
  const live = await createLive(world)
  const stop = new AbortController()
  const sending = publish(`${rtmp}/${live.key}`, { seconds: 600, paced: true, signal: stop.signal })
  const first = await accept()
  const lost = new AbortController()
  const encoding = encodeAs(first, ...SPLIT, lost.signal)
  await until(async () => namesIn(await text(live, '3.m3u8')).length >= 2, { what: 'pieces of the sound' })
  lost.abort()
  await encoding
  await world.protocol.ofJob(runnerToken, first).abort('It ends.')
  // The next runner must send audio too: players wait for it.
  const next = await accept()
  expect([next.uuid, next.payload.output]).toMatchObject([
    first.uuid,
    { toTranscode: [{ resolution: 240 }, { resolution: 144 }, { resolution: 0, fps: 0 }] },
  ])
  await world.protocol.ofJob(runnerToken, next).abort('It ends.')
  const end = await world.work(runnerToken)
  for (const rendition of [1, 2, 3]) {
    const isNext = async () => (await text(live, `${rendition}.m3u8`)).includes('#EXT-X-DISCONTINUITY\n')
    await until(isNext, { what: 'pieces of the next runner' })
  }
  expect(await text(live, 'master.m3u8')).toContain('URI="3.m3u8"')
  stop.abort()
  await sending
  await end()
})
