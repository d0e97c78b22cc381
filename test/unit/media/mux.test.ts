// A picture and a sound in one stream: whole, cut off, stalled, and never half a file that looks whole.

import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Ffmpeg, MediaError, makeZipWriter, muxStreams, openArchive, probe } from '../../../src/media/index.ts'
import { faultyFfmpeg, isRunning } from '../../support/faulty-ffmpeg.ts'
import { media, temporaryFolder, testFfmpeg } from '../../support/media.ts'
import { makeTestStore } from '../../support/test-store.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
let ffmpeg: Ffmpeg
let folder: string
let picture: string
let sound: string

beforeAll(async () => {
  ffmpeg = await testFfmpeg()
  folder = await temporaryFolder()
  ;[picture, sound] = [join(folder, 'picture.mp4'), join(folder, 'sound.mp4')]
  const journey = await media('journey.mp4')
  await run(ffmpeg.ffmpegPath, ['-v', 'error', '-i', journey, '-an', '-c', 'copy', picture])
  await run(ffmpeg.ffmpegPath, ['-v', 'error', '-i', journey, '-vn', '-c', 'copy', sound])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const mux = (options: Partial<Parameters<typeof muxStreams>[0]> = {}) =>
  muxStreams({ ffmpeg, picture, sound, stallMs: 20_000, niceness: 5, ...options })

describe('a picture and a sound', () => {
  it('become one file with both, as long as they are', async () => {
    const { stream, gone } = mux()
    const target = join(folder, 'whole.mp4')
    await pipeline(stream, createWriteStream(target))
    await gone
    const found = await probe({ ffmpeg, path: target })
    expect({ video: found.video?.codec, audio: found.audio?.codec }).toEqual({ video: 'h264', audio: 'aac' })
    expect(found.duration).toBeCloseTo(4, 0)
    const { stdout } = await run(ffmpeg.ffprobePath, [
      ...['-v', 'error', '-show_entries', 'stream=codec_type', '-of', 'csv=p=0', target],
    ])
    expect(stdout.trim().split('\n')).toEqual(['video', 'audio'])
    // Every frame of the four seconds.
    const { stdout: frames } = await run(ffmpeg.ffprobePath, [
      ...['-v', 'error', '-count_packets', '-select_streams', 'v', '-show_entries', 'stream=nb_read_packets'],
      ...['-of', 'csv=p=0', target],
    ])
    expect(Number.parseInt(frames, 10)).toBe(100)
  })

  it('are written into an archive as they are made, and read from it whole', async () => {
    const store = (await makeTestStore(join(folder, 'store'))).open()
    const archive = { kind: 'user_exports', name: 'archive.zip' } as const
    const zip = makeZipWriter({ modifiedAt: new Date() })
    const stored = store.put(archive, zip.stream)
    const { stream, gone } = mux()
    await zip.add('files/video.mp4', stream, { compress: false })
    await zip.add('files/after.txt', Readable.from(['after it']), { compress: true })
    zip.end()
    const { size } = await stored
    await gone
    const opened = await openArchive({ store, ref: archive, size })
    const target = join(folder, 'read.mp4')
    const file = opened.file('files/video.mp4')
    if (!file) throw new Error('There is no video.')
    await pipeline(await file.open(), createWriteStream(target))
    expect(await text((await opened.file('files/after.txt')?.open()) ?? Readable.from([]))).toBe('after it')
    opened.close()
    const found = await probe({ ffmpeg, path: target })
    expect({ video: found.video?.codec, audio: found.audio?.codec }).toEqual({ video: 'h264', audio: 'aac' })
    expect([found.duration, file.size]).toEqual([expect.closeTo(4, 0), (await stat(target)).size])
  })

  it('fail where one of them is no media file, or a playlist that names others', async () => {
    const playlist = join(folder, 'playlist.mp4')
    await writeFile(playlist, `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${sound}\n#EXT-X-ENDLIST\n`)
    for (const broken of [await media('text.mp4'), playlist]) {
      const { stream, gone } = mux({ sound: broken })
      await expect(stream.toArray()).rejects.toMatchObject({ reason: 'failed' })
      await gone
    }
  })

  it('are given up when nobody reads them', async () => {
    const big = join(folder, 'big.mp4')
    const noise = ['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25:duration=1', '-vf', 'noise=alls=100:allf=t']
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...noise, '-c:v', 'mpeg4', '-q:v', '1', big])
    const { stream, gone } = mux({ picture: big, stallMs: 200 })
    const failure = new Promise((resolve) => stream.once('error', resolve))
    stream.read(0)
    await gone
    expect(await failure).toBeInstanceOf(MediaError)
    expect(await failure).toMatchObject({ reason: 'stalled' })
  })

  it.each(['stalls', 'is left'])('end, with all that was started, when an ffmpeg that says nothing %s', async (how) => {
    const silent = await faultyFfmpeg({ when: ' -f mp4 ' })
    await silent.become('hang')
    const { stream, gone } = mux({ ffmpeg: silent.ffmpeg, ...(how === 'stalls' ? { stallMs: 200 } : {}) })
    const failure = new Promise((resolve) => stream.once('error', resolve).once('close', () => resolve('no error')))
    stream.resume()
    if (how === 'is left') {
      await until(async () => (await silent.pids().catch(() => [])).length === 2)
      stream.destroy()
    }
    expect(await failure).toEqual(how === 'stalls' ? expect.objectContaining({ reason: 'stalled' }) : 'no error')
    await gone
    for (const pid of await silent.pids().catch(() => [])) await until(async () => !(await isRunning(pid)))
  })

  it('end at once when their reader leaves', async () => {
    const { stream, gone } = mux()
    stream.destroy()
    await gone
    expect(stream.destroyed).toBe(true)
  })
})
