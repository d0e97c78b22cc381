// Probing of uploaded files: metadata of valid ones, and a reason for invalid ones.

import { chmod, copyFile, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { ProbeOptions } from '../../../src/media/ffmpeg/probe.ts'
import { sniff } from '../../../src/media/ffmpeg/sniff.ts'
import { type Ffmpeg, isRefusal, MediaError, makeWarmFfprobe, probe, type RunFfprobe } from '../../../src/media/index.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { faultyFfmpeg } from '../../support/faulty-ffmpeg.ts'
import { type MediaName, media, temporaryFolder, testFfmpeg } from '../../support/media.ts'
import { until } from '../../support/until.ts'

/** An empty box. */
const EMPTY = Buffer.from('\0\0\0\x08free', 'latin1')
const ffmpeg: Ffmpeg = await testFfmpeg()
const probed = async (name: MediaName) => probe({ ffmpeg, path: await media(name) })
const reasonOf = (path: string) =>
  probe({ ffmpeg, path }).then(
    () => 'accepted',
    (error: unknown) => (isRefusal(error) ? error.reason : error),
  )

describe('a valid file', () => {
  it('has its streams', async () => {
    const found = await probed('small.mp4')
    expect(found).toMatchObject({ duration: 2, coverIndex: undefined })
    expect(found.video).toMatchObject({
      codec: 'h264',
      pixelFormat: 'yuv420p',
      width: 320,
      height: 240,
      rotation: 0,
      squarePixels: true,
      rate: { num: 25, den: 1 },
      fps: 25,
      variableRate: false,
      hdr: false,
    })
    expect(found.video?.bitrate).toBeGreaterThan(10_000)
    expect(found.audio).toMatchObject({ codec: 'aac', profile: 'LC', channels: 1, sampleRate: 44_100 })
  })

  it('may have no audio', async () => {
    expect((await probed('silent.mp4')).audio).toBeUndefined()
  })

  it('may have only audio', async () => {
    const found = await probed('sound.mp3')
    expect([found.video, found.audio?.codec]).toEqual([undefined, 'mp3'])
    expect(found.duration).toBeCloseTo(3, 0)
  })

  it('may have cover art, which is not a video stream', async () => {
    const found = await probed('cover.mp3')
    expect([found.video, found.coverIndex]).toEqual([undefined, 1])
  })

  it.each([
    ['portrait.mp4', 240, 426, 0],
    ['rotated.mp4', 426, 240, 90],
    ['odd.mkv', 321, 241, 0],
    ['anamorphic.mp4', 640, 288, 0],
    ['webm.webm', 320, 180, 0],
    ['transport.ts', 320, 240, 0],
  ] as const)('%s has %i × %i displayed px, rotated by %i degrees', async (name, width, height, rotation) => {
    expect((await probed(name)).video).toMatchObject({ width, height, rotation })
  })

  it('may have a variable frame rate', async () => {
    expect((await probed('variable.mp4')).video).toMatchObject({ variableRate: true })
  })

  it('has metadata in the format of the REST API, with numbers and without a path', async () => {
    const { metadata } = await probed('small.mp4')
    expect(Object.keys(metadata)).toEqual(['format', 'streams', 'chapters'])
    expect(metadata.format).toMatchObject({ duration: 2, nb_streams: 2, format_long_name: 'QuickTime / MOV' })
    expect(metadata.streams[0]).toMatchObject({ codec_name: 'h264', width: 320, r_frame_rate: '25/1', start_pts: 0 })
    expect(metadata.streams[1]).toMatchObject({ codec_name: 'aac', nb_read_frames: 'N/A', nb_read_packets: 'N/A' })
    expect(JSON.stringify(metadata)).not.toContain('/vireo-')
  })
})

describe('an invalid file', () => {
  it.each([
    ['text.mp4', 'not-media'],
    ['picture.png', 'not-media'],
    ['playlist.mp4', 'playlist'],
    ['concat.mp4', 'playlist'],
    ['truncated.mp4', 'truncated'],
    ['truncated-faststart.mp4', 'truncated'],
    ['empty.mp4', 'empty'],
    ['uncommon.mkv', 'unsupported-codec'],
  ] as const)('%s is refused as %s', async (name, reason) => {
    expect(await reasonOf(await media(name))).toBe(reason)
  })

  const scripts: [string, string][] = [
    ['a playlist with a byte order mark', '\uFEFF#EXTM3U\n#EXTINF:4,\n/etc/passwd\n'],
    ['a playlist after blank lines', '\n\n  #EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n'],
    ['a DASH manifest', '<?xml version="1.0"?><MPD></MPD>'],
    ['a session description', 'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n'],
  ]
  it.each(scripts)('%s is refused as a playlist', async (_what, content) => {
    const path = join(await temporaryFolder(), 'upload.mp4')
    await writeFile(path, content)
    expect(await reasonOf(path)).toBe('playlist')
  })

  it('is refused if a playlist follows a comment', async () => {
    const path = join(await temporaryFolder(), 'upload.m3u8')
    await writeFile(path, `#\n#EXTM3U\n#EXTINF:4,\n${await media('small.mp4')}\n`)
    expect(await reasonOf(path)).toBe('not-media')
  })

  it('is refused if it is noise after an MP4 header', async () => {
    const path = join(await temporaryFolder(), 'upload.mp4')
    const head = Buffer.from([0, 0, 0, 16, 0x66, 0x74, 0x79, 0x70, 0x69, 0x73, 0x6f, 0x6d, 0, 0, 0, 0])
    await writeFile(path, Buffer.concat([head, Buffer.alloc(5000, 0xaa)]))
    expect(['truncated', 'unreadable']).toContain(await reasonOf(path))
  })
})

describe('MP4 boxes with wrong sizes or counts', () => {
  const box = (type: string, content: Buffer, stated?: bigint): Buffer => {
    const header = Buffer.alloc(stated === undefined ? 8 : 16)
    header.writeUInt32BE(stated === undefined ? 8 + content.length : 1, 0)
    header.write(type, 4, 'latin1')
    if (stated !== undefined) header.writeBigUInt64BE(stated, 8)
    return Buffer.concat([header, content])
  }
  const movie = (...tracks: Buffer[]): Buffer =>
    Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0')), box('moov', Buffer.concat(tracks))])
  const sniffed = async (content: Buffer, signal?: AbortSignal) => {
    const path = join(await temporaryFolder(), 'upload.mp4')
    await writeFile(path, content)
    return await sniff(path, { signal })
  }
  const many = movie(...Array.from({ length: 3 }, () => box('trak', Buffer.alloc(800_000, EMPTY))))

  it('are not counted endlessly', async () => {
    const spent = startCpuTime()
    await expect(sniffed(many)).rejects.toMatchObject({ reason: 'unreadable' })
    expect(spent()).toBeLessThan(1_000)
  })

  it.each([
    ['a track beyond the file', movie(box('trak', EMPTY, 2n ** 40n))],
    ['a track beyond all numbers', movie(box('trak', box('mdia', box('mdhd', Buffer.alloc(4), 2n ** 60n), 2n ** 62n)))],
    ['an edit list without edits', movie(box('trak', box('edts', box('elst', Buffer.alloc(0)))))],
    ['a length shorter than its own header', movie(box('trak', Buffer.alloc(0), 9n))],
  ])('end with their parent: %s', async (_what, content) => {
    const spent = startCpuTime()
    const found = await sniffed(content)
    expect(spent()).toBeLessThan(500)
    expect(found).toEqual({
      size: content.length,
      isIsoMedia: true,
      isCut: false,
      isFragmented: false,
      keyFrameEvery: undefined,
    })
    const path = join(await temporaryFolder(), 'upload.mp4')
    await writeFile(path, content)
    expect(['unreadable', 'no-streams']).toContain(await reasonOf(path))
  })

  it('are skipped once the caller has enough', async () => {
    await expect(sniffed(many, AbortSignal.abort())).rejects.toMatchObject({ reason: 'aborted' })
  })
})

describe('a file without a known duration', () => {
  it('is measured by a low-priority process, which ends with its caller', async () => {
    const slow = await faultyFfmpeg({ when: ' -f null ' })
    await slow.become('hang')
    const leaving = new AbortController()
    const failure = probe({ ffmpeg: slow.ffmpeg, path: await media('sound.mp3'), signal: leaving.signal })
    const reason = failure.catch((error: unknown) => (error instanceof MediaError ? error.reason : error))
    const pid = await until(async () => (await slow.pids().catch(() => [])).at(0))
    await until(() => getPriority(pid) === 10)
    leaving.abort()
    expect(await reason).toBe('aborted')
  })
})

describe('a slow probe', () => {
  it('is killed, with an error', async () => {
    const path = await media('small.mp4')
    await expect(probe({ ffmpeg, path, timeoutMs: 1 })).rejects.toMatchObject({ reason: 'time-out' })
  })

  it('is ended by the caller', async () => {
    const path = await media('small.mp4')
    const signal = AbortSignal.abort()
    await expect(probe({ ffmpeg, path, signal })).rejects.toMatchObject({ reason: 'aborted' })
  })
})

describe('a prestarted ffprobe', () => {
  /** The results of a prestarted process and of one started on demand. */
  async function bothWays(paths: readonly string[], waits: Ffmpeg = ffmpeg) {
    const warm = makeWarmFfprobe()
    const outcome = (path: string, runFfprobe?: RunFfprobe) =>
      probe({ ffmpeg: waits, path, runFfprobe }).catch((error: unknown) => (error instanceof MediaError ? error.reason : error))
    try {
      // The first call finds no prestarted process.
      await outcome(paths[0] ?? '', warm.run)
      const found: [unknown, unknown][] = []
      for (const path of paths) found.push([await outcome(path, warm.run), await outcome(path)])
      return found
    } finally {
      await warm.close()
    }
  }

  async function withoutExtension(name: MediaName): Promise<string> {
    const path = join(await temporaryFolder(), 'a file')
    await copyFile(await media(name), path)
    return path
  }

  it('has the same result as any other', async () => {
    const names = ['small.mp4', 'rotated.mp4', 'sound.mp3', 'cover.mp3', 'text.mp4', 'silent.mp4'] as const
    for (const [waited, started] of await bothWays(await Promise.all(names.map(withoutExtension)))) {
      expect(waited).toEqual(started)
    }
  })

  it('serves one of many simultaneous probes, and the others are served too', async () => {
    const [path, warm] = [await withoutExtension('small.mp4'), makeWarmFfprobe()]
    try {
      const ask = () => probe({ ffmpeg, path, runFfprobe: warm.run })
      const first = await ask()
      expect(await Promise.all([ask(), ask(), ask()])).toEqual([first, first, first])
    } finally {
      await warm.close()
    }
  })

  it('is killed when nobody waits for its result', async () => {
    const [path, warm] = [await withoutExtension('small.mp4'), makeWarmFfprobe()]
    try {
      const ask = (options: Partial<ProbeOptions> = {}) => probe({ ffmpeg, path, runFfprobe: warm.run, ...options })
      await ask()
      await expect(ask({ signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: 'aborted' })
      expect(await ask()).toMatchObject({ duration: 2 })
    } finally {
      await warm.close()
    }
  })

  it('is not needed where ffprobe cannot wait', async () => {
    const folder = await temporaryFolder()
    const ffprobePath = join(folder, 'ffprobe')
    await writeFile(ffprobePath, `#!/bin/sh\ncase "$*" in *" -o "*) exit 1 ;; esac\nexec "${ffmpeg.ffprobePath}" "$@"\n`)
    await chmod(ffprobePath, 0o755)
    const path = await withoutExtension('small.mp4')
    for (const [waited, started] of await bothWays([path, path], { ...ffmpeg, ffprobePath })) {
      expect(waited).toEqual(started)
    }
  })
})
