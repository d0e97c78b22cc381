// Editing of real files in which ffmpeg has difficulties to seek.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { probe } from '../../../src/media/ffmpeg/probe.ts'
import { editVideo } from '../../../src/media/studio/edit.ts'
import { packagedFfmpeg, temporaryFolder } from '../../support/media.ts'

const run = promisify(execFile)

it('can start within a fragmented file whose audio pauses for longer than a fragment', async () => {
  const ffmpeg = await packagedFfmpeg()
  const folder = await temporaryFolder()
  const source = join(folder, 'fragmented.mp4')
  await run(ffmpeg.ffmpegPath, [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'testsrc=size=128x72:rate=25:duration=24',
    '-f',
    'lavfi',
    '-i',
    'sine=frequency=440:sample_rate=44100:d=24',
    '-af',
    "aselect='not(between(t,3,15))'",
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-g',
    '50',
    '-c:a',
    'aac',
    '-f',
    'hls',
    '-hls_playlist_type',
    'vod',
    '-hls_time',
    '4',
    '-hls_segment_type',
    'fmp4',
    '-hls_flags',
    'single_file',
    '-hls_segment_filename',
    source,
    join(folder, 'fragmented.m3u8'),
  ])
  expect(await probe({ ffmpeg, path: source })).toMatchObject({ isFragmented: true })

  const { path, retiming } = await editVideo({
    ffmpeg,
    picture: source,
    sound: source,
    workFolder: folder,
    maxFps: 60,
    threads: 1,
    tasks: [{ name: 'cut', start: 4, end: 14 }],
    limits: { stallMs: 10_000, maxMemoryBytes: 2 ** 31 },
    probeTimeoutMs: 10_000,
  })
  expect(retiming).toBeDefined()
  const edited = await probe({ ffmpeg, path })
  expect(edited.duration).toBeCloseTo(10, 0)
  expect(edited).toMatchObject({ isFragmented: false, video: { width: 128, height: 72 }, audio: { codec: 'aac' } })
})
