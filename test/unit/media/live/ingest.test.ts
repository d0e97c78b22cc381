import { execFile, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { LiveAcceptor, LivePiece } from '../../../../src/media/index.ts'
import { encode, liveResult, notedPieces, publish, startAcceptor } from '../../../support/live.ts'
import { serverFfmpeg, temporaryFolder } from '../../../support/media.ts'
import { until } from '../../../support/until.ts'

const run = promisify(execFile)

let folder: string
let running: LiveAcceptor | undefined

beforeEach(async () => {
  folder = await temporaryFolder()
  running = undefined
})

afterEach(async () => {
  await running?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function start(options: Partial<Parameters<typeof startAcceptor>[0]> = {}) {
  const started = await startAcceptor({ folder, ...options })
  running = started.acceptor
  return started
}

/** The presentation times in seconds of the frames of all pieces, in order of decoding. `codec`: copied, or decoded to see that it can be. */
async function framesOf(
  pieces: LivePiece[],
  codec: 'copy' | 'decoded' = 'copy',
): Promise<{ video: number[]; audio: number[]; errors: string }> {
  const { ffmpegPath } = await serverFfmpeg()
  const whole = join(folder, 'whole.bin')
  await writeFile(whole, Buffer.concat(await Promise.all(pieces.map(({ path }) => readFile(path)))))
  const how = codec === 'copy' ? ['-c', 'copy'] : []
  const maps = ['-map', '0:v', '-map', '0:a']
  const { stdout, stderr } = await run(ffmpegPath, [
    '-v',
    'error',
    '-copyts',
    '-f',
    'mpegts',
    '-i',
    whole,
    ...maps,
    ...how,
    '-f',
    'framecrc',
    '-',
  ])
  const frames = stdout
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').map(Number))
  const timesOf = (stream: number): number[] => frames.flatMap(([index, , time = 0]) => (index === stream ? [time / 90_000] : []))
  return { video: timesOf(0), audio: timesOf(1), errors: stderr }
}

test('a stream with timestamps that start after eleven hours is accepted', async () => {
  const { port } = await start()
  const to = ['-output_ts_offset', '40000', '-f', 'flv', `rtmp://127.0.0.1:${port}/live/secret`]
  expect((await encode(to, { seconds: 3 })).code).toBe(0)
  const { pieces, end } = await liveResult(folder)
  expect([end.reason, pieces.length]).toEqual(['finished', 3])
  // MPEG-TS starts slightly after 0.
  expect((await framesOf(pieces)).video[0]).toBeLessThan(2)
})

test('a stream of ffmpeg becomes segments with every frame, and continuous timestamps', async () => {
  const { port, requested } = await start()
  const sent = await publish(`rtmp://127.0.0.1:${port}/live/secret`, { seconds: 5 })
  const { pieces, end, cut } = await liveResult(folder)

  expect(sent.code).toBe(0)
  expect(requested).toEqual(['secret'])
  expect(end.reason).toBe('finished')
  expect(cut).toEqual({ reason: 'ended', detail: '' })
  expect(pieces.map(({ path, sequence, discontinuity }) => ({ path, sequence, discontinuity }))).toEqual(
    [1, 2, 3, 4, 5].map((sequence) => ({ path: join(folder, `0-00000${sequence}.ts`), sequence, discontinuity: false })),
  )
  for (const { seconds } of pieces) expect(seconds).toBeCloseTo(1, 3)
  for (const { path, bytes, sha256 } of pieces) {
    const content = await readFile(path)
    expect([content.length, createHash('sha256').update(content).digest('hex')]).toEqual([bytes, sha256])
  }
  const starts = pieces.map(({ startsAt }) => new Date(startsAt).getTime())
  expect(starts.map((time) => time - (starts[0] ?? 0))).toEqual([0, 1000, 2000, 3000, 4000])

  const { video, audio } = await framesOf(pieces)
  expect(video).toHaveLength(125)
  const times = video.sort((one, other) => one - other)
  for (const [index, time] of times.entries()) expect(time - (times[0] ?? 0)).toBeCloseTo(index / 25, 2)
  expect(audio.length).toBeGreaterThanOrEqual(215)
  for (const [index, time] of audio.slice(1).entries()) expect(time - (audio[index] ?? 0)).toBeCloseTo(1024 / 44100, 2)
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('each segment can be decoded alone', async () => {
  const { port } = await start()
  await publish(`rtmp://127.0.0.1:${port}/live/secret`, { seconds: 3 })
  const { pieces } = await liveResult(folder)
  for (const piece of pieces) {
    const { video, audio, errors } = await framesOf([piece], 'decoded')
    expect({ frames: video.length, errors }).toEqual({ frames: 25, errors: '' })
    expect(audio.length).toBeGreaterThan(30)
  }
})

test('a wrong key is refused with the reason', async () => {
  const { port, requested } = await start()
  const sent = await publish(`rtmp://127.0.0.1:${port}/live/guess?x=1`, { seconds: 1 })
  expect(sent.code).not.toBe(0)
  expect(sent.said).toContain('No such key.')
  expect(requested).toEqual(['guess'])
})

test('another application name is refused before the key is checked', async () => {
  const { port, requested } = await start()
  const sent = await publish(`rtmp://127.0.0.1:${port}/vod/secret`, { seconds: 1 })
  expect(sent.code).not.toBe(0)
  expect(sent.said).toContain('The application is not "live".')
  expect(requested).toEqual([])
})

test('a stream over TLS becomes segments', async () => {
  const [keyPath, certPath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-days', '2', '-nodes']
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-keyout',
    keyPath,
    '-out',
    certPath,
    ...subject,
  ])
  const { port } = await start({ tls: { key: await readFile(keyPath, 'utf8'), cert: await readFile(certPath, 'utf8') } })
  const sent = await publish(`rtmps://127.0.0.1:${port}/live/secret`, { seconds: 3 })
  const { pieces, end } = await liveResult(folder)
  expect([sent.code, end.reason]).toEqual([0, 'finished'])
  expect((await framesOf(pieces)).video).toHaveLength(75)
})

test('a stream continues when its acceptor is killed', async () => {
  const script = fileURLToPath(new URL('../../../support/live-acceptor.ts', import.meta.url))
  const acceptor = fork(script, [folder, '1'], { execArgv: ['--disable-warning=ExperimentalWarning'] })
  const [{ port }] = await once(acceptor, 'message')
  const sending = publish(`rtmp://127.0.0.1:${port}/live/secret`, { seconds: 4, paced: true })
  await until(async () => (await notedPieces(folder)).length > 0)
  acceptor.kill('SIGKILL')
  await once(acceptor, 'exit')
  const [sent, { pieces, end }] = await Promise.all([sending, liveResult(folder)])
  expect([sent.code, end.reason]).toEqual([0, 'finished'])
  expect((await framesOf(pieces)).video).toHaveLength(100)
})

test('a killed stream process leaves only whole segments under their final names', async () => {
  const { port, children } = await start()
  const sending = publish(`rtmp://127.0.0.1:${port}/live/secret`, { seconds: 30, paced: true })
  await until(async () => (await notedPieces(folder)).length > 0)
  children[0]?.kill('SIGKILL')
  expect((await sending).code).not.toBe(0)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts')).sort()
  const pieces = await notedPieces(folder)
  expect(names.slice(0, pieces.length)).toEqual(pieces.map(({ path }) => basename(path)))
  for (const piece of pieces) {
    const { video, errors } = await framesOf([piece], 'decoded')
    expect({ frames: video.length, errors }).toEqual({ frames: 25, errors: '' })
  }
})
