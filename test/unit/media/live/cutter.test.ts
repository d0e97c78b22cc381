import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type CutPiecesOptions, cutPieces, type LivePiece } from '../../../../src/media/index.ts'
import { type FlvTag, flvHeader, flvTag } from '../../../../src/media/live/flv.ts'
import { silentLogger } from '../../../../src/platform/logger.ts'
import { fakeClock } from '../../../support/clock.ts'
import { cachedFile, serverFfmpeg, temporaryFolder } from '../../../support/media.ts'
import { until } from '../../../support/until.ts'

const run = promisify(execFile)
const NOW = new Date('2030-01-02T03:04:05Z')

let folder: string

beforeEach(async () => {
  folder = await temporaryFolder()
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function cut(options: Partial<CutPiecesOptions> = {}) {
  const pieces: LivePiece[] = []
  const end = await cutPieces({
    ffmpeg: await serverFfmpeg(),
    flv: createReadStream(await source('five.flv', 25)),
    folder,
    seconds: 1,
    firstSequence: 1,
    isContinuation: false,
    onPiece: (piece) => void pieces.push(piece),
    clock: fakeClock(NOW),
    logger: silentLogger,
    ...options,
  })
  return { pieces, end }
}

/** Five seconds of video and audio at 25 fps, with a key frame every `gop` frames. */
function source(name: string, keyFrames: number, seconds = 5): Promise<string> {
  const picture = ['-f', 'lavfi', '-i', `testsrc=size=160x90:rate=25:duration=${seconds}`]
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:d=${seconds}`]
  const codecs = [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-g',
    `${keyFrames}`,
    '-sc_threshold',
    '0',
    '-c:a',
    'aac',
  ]
  const args = [...picture, ...sound, ...codecs, '-f', 'flv']
  return cachedFile(name, args.join(), async (target, { ffmpegPath }) => await run(ffmpegPath, ['-v', 'error', '-y', ...args, target]))
}

const flvOf = (...bodies: [FlvTag['type'], Buffer][]): Readable => {
  const tags = bodies.map(([type, body]) => flvTag({ type, timestamp: 0, body }))
  return Readable.from([flvHeader({ hasAudio: false, hasVideo: true }), ...tags])
}

test('a later generation continues the sequence with a discontinuity', async () => {
  const { pieces, end } = await cut({ seconds: 2, firstSequence: 8, isContinuation: true })
  expect(end).toEqual({ reason: 'ended', detail: '' })
  expect(pieces.map(({ path, sequence, seconds, startsAt, discontinuity }) => [path, sequence, seconds, startsAt, discontinuity])).toEqual([
    [`${folder}/0-000008.ts`, 8, 2, NOW, true],
    [`${folder}/0-000009.ts`, 9, 2, new Date(NOW.getTime() + 2000), false],
    [`${folder}/0-000010.ts`, 10, 1, new Date(NOW.getTime() + 4000), false],
  ])
})

test('audio alone is segmented', async () => {
  const path = await cachedFile('sound.flv', 'sound', async (target, { ffmpegPath }) => {
    await run(ffmpegPath, ['-v', 'error', '-y', '-f', 'lavfi', '-i', 'sine=sample_rate=44100:d=3', '-c:a', 'aac', '-f', 'flv', target])
  })
  const { pieces, end } = await cut({ flv: createReadStream(path) })
  expect(end.reason).toBe('ended')
  for (const { seconds } of pieces.slice(0, -1)) expect(Math.abs(seconds - 0.95)).toBeLessThan(0.06)
  expect(pieces.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(3, 1)
})

test('segments are cut while the previous one is processed, and reported in order', async () => {
  const { promise: open, resolve } = Promise.withResolvers<void>()
  const seen: number[] = []
  const cutting = cut({
    async onPiece({ sequence }) {
      await open
      seen.push(sequence)
    },
  })
  await until(async () => (await readdir(folder)).length === 5)
  expect(seen).toEqual([])
  resolve()
  await cutting
  expect(seen).toEqual([1, 2, 3, 4, 5])
})

test('an error of onPiece ends the segmentation', async () => {
  const failure = new Error('fenced')
  await expect(
    cut({
      onPiece() {
        throw failure
      },
    }),
  ).rejects.toBe(failure)
})

test.each([
  ['AV1', Buffer.from('\x90av01\x81', 'latin1'), 'MPEG-TS cannot carry the picture (av1); send H.264.'],
  ['VP9', Buffer.from('\x90vp09\x81', 'latin1'), 'MPEG-TS cannot carry the picture (vp9); send H.264.'],
  ['Sorenson', Buffer.from([0x12, 0]), 'MPEG-TS cannot carry the picture (other); send H.264.'],
])('%s is unsupported', async (_name, body, detail) => {
  expect(await cut({ flv: flvOf(['video', body]) })).toEqual({ pieces: [], end: { reason: 'unsupported', detail } })
})

test('HEVC in enhanced RTMP is unsupported where ffmpeg cannot read it', async () => {
  const ffmpeg = { ...(await serverFfmpeg()), version: '5.1.9-0+deb12u1' }
  const { end } = await cut({ ffmpeg, flv: flvOf(['video', Buffer.from('\x90hvc1\x01', 'latin1')]) })
  expect(end).toEqual({ reason: 'unsupported', detail: expect.stringContaining('ffmpeg 5.1.9-0+deb12u1 cannot read hevc') })
})

test('video without key frames for a minute is invalid', async () => {
  const { end } = await cut({ flv: createReadStream(await source('keyless.flv', 10_000, 70)) })
  expect(end).toEqual({ reason: 'invalid', detail: expect.stringContaining('No key frame came for 6') })
})

test('a stream that ends before it sent anything is no error', async () => {
  expect(await cut({ flv: Readable.from([]) })).toEqual({ pieces: [], end: { reason: 'ended', detail: '' } })
})

test('data that is not FLV is invalid', async () => {
  expect((await cut({ flv: Readable.from([Buffer.alloc(100, 1)]) })).end.reason).toBe('invalid')
})

test('a missing or failing ffmpeg is reported, before or after the first byte', async () => {
  const ffmpeg = await serverFfmpeg()
  const flv = async () => createReadStream(await source('five.flv', 25))
  expect((await cut({ ffmpeg: { ...ffmpeg, ffmpegPath: '/nowhere/ffmpeg' }, flv: await flv() })).end).toEqual({
    reason: 'failed',
    detail: expect.stringContaining('ENOENT'),
  })
  for (const source of [await flv(), new Readable({ read() {} })]) {
    expect((await cut({ ffmpeg: { ...ffmpeg, ffmpegPath: '/bin/false' }, flv: source })).end.reason).toBe('failed')
  }
})

test('the signal ends it without the current segment', async () => {
  const stop = new AbortController()
  const endless = new Readable({ read() {} })
  const cutting = cut({ flv: endless, signal: stop.signal })
  stop.abort()
  expect(await cutting).toEqual({ pieces: [], end: { reason: 'aborted', detail: 'The signal ended it.' } })
  expect(await readdir(folder)).toEqual([])
})
