// Muxing of video and audio in one stream: complete, truncated, stalled, and never a partial file that looks complete.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { objectSettings } from '../../../src/connections.ts'
import {
  type Ffmpeg,
  type FileKind,
  type FileStore,
  fileKinds,
  MediaError,
  makeFileStore,
  makePlacedStore,
  makeS3Store,
  makeZipWriter,
  muxStreams,
  type ObjectStore,
  openArchive,
  probe,
  StorageOutage,
  type Store,
  withMuxInputs,
} from '../../../src/media/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { testConfig } from '../../support/config.ts'
import { faultyFfmpeg, isRunning } from '../../support/faulty-ffmpeg.ts'
import { media, temporaryFolder, testFfmpeg } from '../../support/media.ts'
import { everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
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

describe('video and audio files', () => {
  it('become one file with both, in full length', async () => {
    const { stream, gone } = mux()
    const target = join(folder, 'whole.mp4')
    await pipeline(stream, createWriteStream(target))
    await gone
    const found = await probe({ ffmpeg, path: target })
    expect({ video: found.video?.codec, audio: found.audio?.codec }).toEqual({ video: 'h264', audio: 'aac' })
    expect(found.duration).toBeCloseTo(4, 0)
    const { stdout } = await run(ffmpeg.ffprobePath, ['-v', 'error', '-show_entries', 'stream=codec_type', '-of', 'csv=p=0', target])
    expect(stdout.trim().split('\n')).toEqual(['video', 'audio'])
    // Every frame of the four seconds.
    const { stdout: frames } = await run(ffmpeg.ffprobePath, [
      '-v',
      'error',
      '-count_packets',
      '-select_streams',
      'v',
      '-show_entries',
      'stream=nb_read_packets',
      '-of',
      'csv=p=0',
      target,
    ])
    expect(Number.parseInt(frames, 10)).toBe(100)
  })

  it('are written into an archive while they are muxed, and read from it completely', async () => {
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

  it('fail if one of them is no media file, or a playlist that names others', async () => {
    const playlist = join(folder, 'playlist.mp4')
    await writeFile(playlist, `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${sound}\n#EXT-X-ENDLIST\n`)
    for (const broken of [await media('text.mp4'), playlist]) {
      const { stream, gone } = mux({ sound: broken })
      await expect(stream.toArray()).rejects.toMatchObject({ reason: 'failed' })
      await gone
    }
  })

  it('are aborted when nobody reads the result', async () => {
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

  it.each(['stalls', 'is left'])('end, with all processes, when an ffmpeg without output %s', async (how) => {
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

  it('end at once when their reader stops', async () => {
    const { stream, gone } = mux()
    stream.destroy()
    await gone
    expect(stream.destroyed).toBe(true)
  })
})

describe('video and audio streams', () => {
  const SECONDS = 30
  let long: { picture: string; sound: string }
  beforeAll(async () => {
    long = { picture: join(folder, 'long-picture.mp4'), sound: join(folder, 'long-sound.mp4') }
    const lavfi = (source: string) => ['-f', 'lavfi', '-i', `${source}:duration=${SECONDS}`]
    const noise = [...lavfi('testsrc2=size=320x180:rate=25'), '-vf', 'noise=alls=60:allf=t']
    const picture = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50']
    const start = ['-v', 'error', '-y']
    await run(ffmpeg.ffmpegPath, [...start, ...noise, ...picture, '-movflags', '+faststart', long.picture])
    const sine = [...lavfi('sine=frequency=440'), '-c:a', 'aac']
    const fragmented = ['-movflags', '+frag_keyframe+empty_moov', '-frag_duration', '2000000']
    await run(ffmpeg.ffmpegPath, [...start, ...sine, ...fragmented, long.sound])
  })

  const streamed = () => ({ picture: createReadStream(long.picture), sound: createReadStream(long.sound) })

  /** A line for each packet, with its timestamp and checksum. */
  async function packetsOf(stream: Readable): Promise<string[]> {
    const target = join(folder, `${newUuid()}.mp4`)
    await pipeline(stream, createWriteStream(target))
    const { stdout } = await run(ffmpeg.ffmpegPath, ['-v', 'error', '-i', target, '-map', '0', '-c', 'copy', '-f', 'framemd5', '-'])
    return stdout.trim().split('\n').toSorted()
  }

  it.each([
    ['both', (from: ReturnType<typeof streamed>) => from],
    ['the picture', ({ picture }: ReturnType<typeof streamed>) => ({ picture })],
    ['the sound', ({ sound }: ReturnType<typeof streamed>) => ({ sound })],
  ])('become the same packets as files (%s)', async (_which, choose) => {
    const [fromFiles, fromStreams] = [mux(long), mux({ ...long, ...choose(streamed()) })]
    const packets = await packetsOf(fromFiles.stream)
    expect(packets.length).toBeGreaterThan(25 * SECONDS)
    expect(await packetsOf(fromStreams.stream)).toEqual(packets)
    await fromStreams.gone
  })

  it('have output before they are read completely, and are read no faster than the output', async () => {
    const bytes = await readFile(long.picture)
    const picture = new PassThrough()
    picture.write(bytes.subarray(0, bytes.length / 2))
    const { stream, gone } = mux({ ...long, picture })
    await once(stream, 'readable')
    expect(picture.writableEnded).toBe(false)
    picture.end(bytes.subarray(bytes.length / 2))
    expect((await packetsOf(stream)).length).toBeGreaterThan(25 * SECONDS)
    await gone
    const inputs = streamed()
    const unread = mux(inputs)
    await once(unread.stream, 'readable')
    expect(inputs.picture.bytesRead).toBeLessThan(bytes.length)
    unread.stream.destroy()
    await unread.gone
    await until(() => inputs.picture.destroyed && inputs.sound.destroyed)
  })

  it('may be longer than needed', async () => {
    const padding = Buffer.alloc(8 * 2 ** 20)
    padding.writeUInt32BE(padding.length)
    padding.write('free', 4)
    const picture = Readable.from([await readFile(long.picture), padding], { objectMode: false })
    const { stream, gone } = mux({ ...long, picture })
    expect(await packetsOf(stream)).toEqual(await packetsOf(mux(long).stream))
    await gone
    expect(picture.destroyed).toBe(true)
  })

  it('fail with their source, with all processes, and never look complete', async () => {
    const bytes = await readFile(long.picture)
    const broken = new PassThrough()
    const { stream, gone } = mux({ ...long, picture: broken })
    broken.write(bytes.subarray(0, bytes.length / 2))
    stream.once('readable', () => broken.destroy(new StorageOutage('away')))
    await expect(stream.toArray()).rejects.toThrow('away')
    await gone
    const early = new PassThrough()
    early.on('error', () => undefined).destroy(new StorageOutage('away before'))
    await expect(mux({ ...long, sound: early }).stream.toArray()).rejects.toThrow('away before')
  })

  it('are aborted when they stall, and not while they make progress', async () => {
    const picture = new PassThrough()
    const { stream, gone } = mux({ ...long, picture, stallMs: 300 })
    const failure = new Promise((resolve) => stream.once('error', resolve))
    stream.resume()
    picture.write((await readFile(long.picture)).subarray(0, 4096))
    expect(await failure).toMatchObject({ reason: 'stalled' })
    await gone
    expect(picture.destroyed).toBe(true)
  })

  it('fail where they would have to be read backwards', async () => {
    const backwards = join(folder, 'index-last.mp4')
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', '-i', long.picture, '-c', 'copy', backwards])
    const { stream, gone } = mux({ ...long, picture: createReadStream(backwards) })
    await expect(stream.toArray()).rejects.toMatchObject({ reason: 'failed' })
    await gone
  })
})

describe('the source of a stored file', () => {
  let s3: TestS3
  let objects: ObjectStore
  let files: FileStore
  let store: Store
  beforeAll(async () => {
    s3 = await startS3()
    const settings = objectSettings(testConfig(everythingIn(s3.endpoint)))
    if (!settings) throw new Error('The test has no object storage.')
    const [root, tmp] = [join(folder, 'placed'), join(folder, 'placed', 'tmp')]
    const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(root, kind)]))
    objects = makeS3Store({ settings, tmp })
    files = makeFileStore({ directories: directories as Record<FileKind, string>, tmp })
    store = makePlacedStore({ files, objects, preferred: 'object-storage' })
  })
  afterAll(async () => {
    await objects?.close()
    await s3?.stop()
  })
  const video = (name: string) => ({ kind: 'web_videos', name }) as const
  const kindsOf = async (picture: string, sound: string, signal = new AbortController().signal) =>
    await withMuxInputs(
      store,
      { picture: video(picture), sound: video(sound) },
      async (inputs) => [inputs.picture, inputs.sound].map((input) => (typeof input === 'string' ? 'file' : 'stream')),
      signal,
    )

  it('is a stream if the file is in object storage and starts with its index, else a local file', async () => {
    const copy = async (name: string, options: string[], from = picture) => {
      const path = join(folder, name)
      await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', '-i', from, '-c', 'copy', ...options, path])
      await objects.put(video(name), { path, keep: true })
    }
    await copy('first.mp4', ['-movflags', '+faststart'])
    await copy('last.mp4', [])
    await copy('fragments.mp4', ['-movflags', '+frag_keyframe+empty_moov'], sound)
    await copy('other.mkv', [])
    await objects.put(video('empty.mp4'), Buffer.alloc(0))
    await files.put(video('here.mp4'), { path: sound, keep: true })
    const downloads = () => readdir(join(folder, 'placed', 'tmp', 'downloads')).catch(() => [])
    expect(await kindsOf('first.mp4', 'fragments.mp4')).toEqual(['stream', 'stream'])
    expect(await kindsOf('first.mp4', 'here.mp4')).toEqual(['stream', 'file'])
    expect(await kindsOf('last.mp4', 'fragments.mp4')).toEqual(['file', 'stream'])
    expect(await kindsOf('other.mkv', 'empty.mp4')).toEqual(['file', 'file'])
    expect(await downloads()).toEqual([])
    await expect(kindsOf('first.mp4', 'none.mp4')).rejects.toMatchObject({ reason: 'not-found' })
    await expect(kindsOf('none.mp4', 'first.mp4')).rejects.toMatchObject({ reason: 'not-found' })
    await expect(kindsOf('first.mp4', 'fragments.mp4', AbortSignal.abort())).rejects.toMatchObject({
      reason: 'aborted',
    })
  })
})
