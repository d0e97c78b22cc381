import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { pictureSize } from '../../../../src/media/live/picture-size.ts'
import { packagedFfmpeg, temporaryFolder } from '../../../support/media.ts'

const run = promisify(execFile)

// Coded sizes: whole macroblocks of H.264, whole coding blocks of 8 px of H.265.
test.each([
  ['h264', 'avcC', ['libx264', '-profile:v', 'baseline'], '1280x720', { width: 1280, height: 720 }],
  ['h264', 'avcC', ['libx264', '-profile:v', 'high', '-bf', '2'], '1920x1080', { width: 1920, height: 1088 }],
  ['h264', 'avcC', ['libx264', '-profile:v', 'high444', '-pix_fmt', 'yuv444p'], '100x50', { width: 112, height: 64 }],
  ['h264', 'avcC', ['libx264', '-flags', '+ilme+ildct'], '720x576', { width: 720, height: 576 }],
  ['hevc', 'hvcC', ['libx265', '-x265-params', 'log-level=none'], '1280x720', { width: 1280, height: 720 }],
] as const)('the frame size is parsed from %s (%s, %j)', async (codec, box, options, size, expected) => {
  const folder = await temporaryFolder()
  const path = join(folder, 'one.mp4')
  const picture = ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=25`, '-frames:v', '1', '-pix_fmt', 'yuv420p']
  await run((await packagedFfmpeg()).ffmpegPath, ['-v', 'error', ...picture, '-preset', 'ultrafast', '-c:v', ...options, path])
  const bytes = await readFile(path)
  await rm(folder, { recursive: true })
  const record = bytes.subarray(bytes.indexOf(box) + 4)
  expect(pictureSize(codec, record)).toEqual(expected)
  expect(pictureSize(codec, record.subarray(0, 12))).toBeUndefined()
})
