// Real renditions of small real files, and interrupted work.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { parseMediaPlaylist } from '../../../src/media/ffmpeg/playlists.ts'
import {
  buildMasterPlaylist,
  type Ffmpeg,
  type FileKind,
  fileKinds,
  fitImage,
  hlsFolder,
  type LadderFile,
  type LadderSettings,
  MediaError,
  makeFileStore,
  planLadder,
  probe,
  type RunLadderOptions,
  runLadder,
  StorageOutage,
  type Store,
  storeLadderFiles,
  storeMaster,
  webVideoFile,
} from '../../../src/media/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { type MediaName, media, serverFfmpeg, temporaryFolder } from '../../support/media.ts'

const run = promisify(execFile)
const ffmpeg: Ffmpeg = await serverFfmpeg()

let root: string
let store: Store

beforeEach(async () => {
  root = await temporaryFolder()
  const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(root, kind)]))
  store = makeFileStore({ directories: directories as Record<FileKind, string>, tmp: join(root, 'tmp') })
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

interface Patch {
  resolutions?: string[]
  hls?: boolean
  webVideos?: boolean
  split?: boolean
}

const settings = ({ resolutions, hls, webVideos, split }: Patch): LadderSettings => ({
  always_transcode_original_resolution: true,
  resolutions: Object.fromEntries((resolutions ?? ['240p', '144p']).map((name) => [name, true])),
  fps: { max: 60 },
  hls: { enabled: hls ?? true, split_audio_and_video: split ?? false },
  web_videos: { enabled: webVideos ?? false },
})

interface Started {
  step: string
  commandLine: string
  pid: number
}

/** Runs a whole ladder into the store, and returns its events. */
async function ladder(name: MediaName, patch: Patch = {}, more: Partial<RunLadderOptions> = {}) {
  const input = await media(name)
  const plan = planLadder({ probe: await probe({ ffmpeg, path: input }), settings: settings(patch) })
  const files: LadderFile[] = []
  const started: Started[] = []
  const progress: number[] = []
  const workFolder = join(root, 'work')
  await runLadder({
    ffmpeg,
    plan,
    input,
    workFolder,
    newUuid,
    threads: 1,
    limits: { stallMs: 20_000 },
    onProgress: (percent) => progress.push(percent),
    onStart: (process) => started.push(process),
    onFiles: async (made) => {
      files.push(...made)
      await storeLadderFiles({ store, files: made, videoUuid: 'v1', isPrivate: false })
    },
    ...more,
  })
  const entries = files.flatMap(({ hls }) => (hls ? [hls.entry] : []))
  return { plan, files, entries, started, progress }
}

const stored = (file: LadderFile) =>
  join(root, file.type === 'hls' ? `streaming_playlists/hls/v1/${file.filename}` : `web_videos/${file.filename}`)

const keyFramesOf = async (path: string) => {
  const entries = ['-select_streams', 'v:0', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0']
  const { stdout } = await run(ffmpeg.ffprobePath, ['-v', 'error', ...entries, path])
  const keys = stdout.split('\n').filter((line) => line.includes('K'))
  return keys.map((line) => Number(Number(line.split(',')[0]).toFixed(2)))
}

describe('the ladder of a video that needs encoding', () => {
  it('has every rendition in its size, as H.264 and AAC, with the duration of the source', async () => {
    const { files } = await ladder('webm.webm', { resolutions: ['144p', '0p'], webVideos: true })
    const found = await Promise.all(
      files.map(async (file) => {
        const { video, audio, duration } = await probe({ ffmpeg, path: stored(file) })
        return [file.type, file.resolution, video?.codec, video?.width, video?.fps, audio?.codec, Math.round(duration)]
      }),
    )
    expect(found).toEqual([
      ['hls', 180, 'h264', 320, 30, 'aac', 2],
      ['web-video', 180, 'h264', 320, 30, 'aac', 2],
      ['hls', 144, 'h264', 256, 30, 'aac', 2],
      ['web-video', 144, 'h264', 256, 30, 'aac', 2],
      ['hls', 0, undefined, undefined, undefined, 'aac', 2],
      ['web-video', 0, undefined, undefined, undefined, 'aac', 2],
    ])
    const described = files.map(({ width, height, fps, hasVideo, hasAudio }) => [width, height, fps, hasVideo, hasAudio])
    expect(described.slice(2)).toEqual([
      [256, 144, 30, true, true],
      [256, 144, 30, true, true],
      [0, 0, 0, false, true],
      [0, 0, 0, false, true],
    ])
  })

  it('is decoded once, by one process', async () => {
    const { started } = await ladder('webm.webm', { resolutions: ['144p', '0p'] })
    expect(started.map(({ step }) => step)).toEqual(['encode'])
    expect(started[0]?.commandLine.match(/ -i /g)).toHaveLength(1)
  })

  it('has key frames at the same times in all renditions', async () => {
    const { files } = await ladder('copyable-1080p.mp4', { resolutions: ['360p', '240p', '144p'] })
    const encoded = files.filter(({ resolution }) => resolution < 1080)
    const times = await Promise.all(encoded.map((file) => keyFramesOf(stored(file))))
    expect(times).toEqual([
      [0, 2, 4],
      [0, 2, 4],
      [0, 2, 4],
    ])
  })

  it('reports monotonic progress up to 100', async () => {
    const { progress } = await ladder('small.mp4', { webVideos: true })
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(progress.at(-1)).toBe(100)
  })

  it('has file names in the form of the reference, each with its own uuid', async () => {
    const { files } = await ladder('small.mp4', { webVideos: true })
    const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}'
    for (const { type, resolution, filename, hls } of files) {
      const end = type === 'hls' ? `-${resolution}-fragmented` : `-${resolution}`
      expect(filename).toMatch(new RegExp(`^${uuid}${end}\\.mp4$`))
      if (hls) expect(hls.entry.playlistFilename).toBe(filename.replace('-fragmented.mp4', '.m3u8'))
    }
    expect(new Set(files.map(({ filename }) => filename.slice(0, 36))).size).toBe(files.length)
  })

  it.each([
    [
      'odd.mkv',
      [
        [242, 322, 242],
        [240, 320, 240],
        [144, 192, 144],
      ],
    ],
    [
      'portrait.mp4',
      [
        [240, 240, 426],
        [144, 144, 256],
      ],
    ],
    [
      'rotated.mp4',
      [
        [240, 426, 240],
        [144, 256, 144],
      ],
    ],
    [
      'anamorphic.mp4',
      [
        [288, 640, 288],
        [240, 534, 240],
        [144, 320, 144],
      ],
    ],
  ] as const)('shows %s upright, with square pixels and even dimensions', async (name, expected) => {
    const { files } = await ladder(name)
    const found = await Promise.all(
      files.map(async (file) => {
        const { video } = await probe({ ffmpeg, path: stored(file) })
        expect(video).toMatchObject({ rotation: 0, squarePixels: true, pixelFormat: 'yuv420p' })
        return [file.resolution, video?.width, video?.height]
      }),
    )
    expect(found).toEqual(expected)
  })

  it('limits the frame rate of small renditions of fast sources', async () => {
    const { files } = await ladder('fast.mp4', { resolutions: ['144p'] })
    const rates = await Promise.all(files.map(async (file) => (await probe({ ffmpeg, path: stored(file) })).video?.fps))
    expect([files.map(({ fps }) => fps), rates]).toEqual([
      [60, 30],
      [60, 30],
    ])
  })

  it('converts a variable frame rate to a constant one', async () => {
    const { files } = await ladder('variable.mp4', { resolutions: ['144p'] })
    const last = files.at(-1)
    expect((await probe({ ffmpeg, path: last ? stored(last) : '' })).video).toMatchObject({ variableRate: false })
  })

  it.each(['silent.mp4', 'surround.mp4', 'transport.ts'] as const)('works for %s', async (name) => {
    const { files } = await ladder(name, { webVideos: true })
    for (const file of files) {
      const { audio } = await probe({ ffmpeg, path: stored(file) })
      expect(file.hasAudio).toBe(name !== 'silent.mp4')
      expect(audio?.channels).toBe({ 'silent.mp4': undefined, 'surround.mp4': 2, 'transport.ts': 1 }[name])
    }
  })
})

describe('the ladder of a video with much longer timestamps than its header says', () => {
  it('is aborted, and leaves nothing', async () => {
    const input = join(root, 'gap.mkv')
    const gap = ['-vf', "setpts='(N+gt(N,2)*72000)/TB'", '-vsync', 'passthrough', '-c:v', 'ffv1']
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=size=64x48:rate=1:duration=5', ...gap, input])
    await expect(probe({ ffmpeg, path: input })).rejects.toMatchObject({ reason: 'too-long' })
    const bytes = await readFile(input)
    // The Duration element, in milliseconds.
    bytes.writeDoubleBE(5000, bytes.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3)
    await writeFile(input, bytes)
    const found = await probe({ ffmpeg, path: input })
    expect(found.duration).toBe(5)
    const workFolder = join(root, 'work')
    const made = runLadder({
      ffmpeg,
      input,
      workFolder,
      newUuid,
      threads: 1,
      limits: { stallMs: 20_000 },
      plan: planLadder({ probe: found, settings: settings({}) }),
      onFiles: async () => {},
    })
    await expect(made).rejects.toMatchObject({ reason: 'too-long' })
    const left = await readdir(workFolder, { recursive: true })
    expect(left.filter((name) => name.endsWith('.mp4'))).toEqual([])
  })
})

describe('the ladder of a video whose top rendition can be copied', () => {
  it('copies it first, bit for bit, and encodes the others in one process', async () => {
    const steps: [string, number[]][] = []
    const { started, files } = await ladder(
      'copyable-1080p.mp4',
      { resolutions: ['144p'], webVideos: true },
      {
        onFiles: async (made, step) => {
          steps.push([step, made.map(({ resolution }) => resolution)])
          await storeLadderFiles({ store, files: made, videoUuid: 'v1', isPrivate: false })
        },
      },
    )
    expect(files).toEqual([])
    expect(steps).toEqual([
      ['copy', [1080, 1080]],
      ['encode', [144, 144]],
    ])
    expect(started.map(({ step }) => step)).toEqual(['copy', 'encode', 'package'])
    const streams = async (path: string) => {
      const hash = ['-map', '0:v', '-map', '0:a', '-c', 'copy', '-f', 'md5', '-']
      return (await run(ffmpeg.ffmpegPath, ['-v', 'error', '-i', path, ...hash])).stdout
    }
    const names: string[] = []
    for await (const { name } of store.list('web_videos')) names.push(name)
    const top = names.find((name) => name.endsWith('-1080.mp4')) ?? ''
    expect(await streams(join(root, 'web_videos', top))).toBe(await streams(await media('copyable-1080p.mp4')))
  })

  it('removes location metadata', async () => {
    const { files } = await ladder('small.mp4', { resolutions: ['144p'], webVideos: true })
    expect(files).toHaveLength(4)
    expect((await readFile(await media('small.mp4'))).includes('48.8577')).toBe(true)
    for (const file of files) {
      const bytes = await readFile(stored(file))
      expect([bytes.includes('48.8577'), bytes.includes('Somebody')]).toEqual([false, false])
    }
  })
})

describe('the HLS of a ladder', () => {
  it('covers each file exactly, with right hashes and codecs', async () => {
    const { files } = await ladder('copyable-1080p.mp4', { resolutions: ['240p'] })
    expect(files).toHaveLength(2)
    for (const file of files) {
      const bytes = await readFile(stored(file))
      const text = await readFile(join(root, 'streaming_playlists/hls/v1', file.hls?.entry.playlistFilename ?? ''), 'utf8')
      const { init, segments } = parseMediaPlaylist(text)
      let next = init.offset
      expect(next).toBe(0)
      for (const { offset, length } of [init, ...segments]) {
        expect(offset).toBe(next)
        next += length
      }
      expect(next).toBe(bytes.length)
      expect(segments.map(({ duration }) => Math.round(duration))).toEqual([4, 2])
      const hashes = segments.map(({ offset, length }) => [
        `${offset}-${offset + length - 1}`,
        createHash('sha256')
          .update(bytes.subarray(offset, offset + length))
          .digest('hex'),
      ])
      expect(file.hls?.entry.hashes).toEqual(Object.fromEntries(hashes))
      const { metadata } = await probe({ ffmpeg, path: stored(file) })
      const level = Number(metadata.streams[0]?.level).toString(16).padStart(2, '0')
      expect(file.hls?.entry.codecs).toEqual([expect.stringMatching(`^avc1\\.[0-9a-f]{4}${level}$`), 'mp4a.40.2'])
    }
  })

  it.each([false, true])('plays from the master playlist (separate audio: %s)', async (split) => {
    const { files, entries } = await ladder('small.mp4', { resolutions: ['144p'], split })
    const names = { masterFilename: 'm-master.m3u8', hashesFilename: 'm-segments-sha256.json' }
    await storeMaster({ store, entries, videoUuid: 'v1', isPrivate: false, ...names })
    expect(files.map(({ resolution, hasAudio }) => [resolution, hasAudio])).toEqual(
      split
        ? [
            [240, false],
            [0, true],
            [144, false],
          ]
        : [
            [240, true],
            [144, true],
          ],
    )
    const folder = join(root, 'streaming_playlists/hls/v1')
    const master = join(folder, 'm-master.m3u8')
    expect(await readFile(master, 'utf8')).toBe(buildMasterPlaylist(entries))
    const decode = ['-v', 'error', '-allowed_extensions', 'ALL', '-i', master, '-map', '0:v', '-map', '0:a', '-f', 'null', '-']
    expect((await run(ffmpeg.ffmpegPath, decode)).stderr).toBe('')
    const hashes: unknown = JSON.parse(await readFile(join(folder, 'm-segments-sha256.json'), 'utf8'))
    expect(Object.keys(hashes as object)).toEqual(entries.map(({ filename }) => filename))
  })

  it('starts video and audio at the same time, in one file or in two', async () => {
    const startsOf = async (file: LadderFile) => {
      const { metadata } = await probe({ ffmpeg, path: stored(file) })
      return metadata.streams.map((stream) => Math.abs(Number(stream.start_time)) < 0.03)
    }
    const joined = await ladder('webm.webm', { resolutions: [] })
    const split = await ladder('webm.webm', { resolutions: [], split: true })
    const starts = await Promise.all([...joined.files, ...split.files].map(startsOf))
    expect(starts).toEqual([[true, true], [true], [true]])
  })

  it('with separate audio still makes web videos with both', async () => {
    const { files } = await ladder('webm.webm', { resolutions: ['144p'], split: true, webVideos: true })
    const web = files.filter(({ type }) => type === 'web-video')
    expect(web.map(({ resolution, hasVideo, hasAudio }) => [resolution, hasVideo, hasAudio])).toEqual([
      [180, true, true],
      [144, true, true],
      [0, false, true],
    ])
  })
})

describe('a ladder with an early first rendition', () => {
  it.each([
    ['copyable-1080p.mp4', 1080, 'copy'],
    ['webm.webm', 144, 'quick'],
  ] as const)('has audio with it, and web videos with both: %s', async (name, first, step) => {
    const input = await media(name)
    const wanted = settings({ resolutions: ['240p', '144p'], split: true, webVideos: true })
    const planned = planLadder({ probe: await probe({ ffmpeg, path: input }), settings: wanted })
    const plan = step === 'quick' ? { ...planned, quick: first } : planned
    const steps: [string, ...unknown[]][] = []
    let inputs = 0
    await runLadder({
      ffmpeg,
      plan,
      input,
      workFolder: join(root, 'work'),
      newUuid,
      threads: 1,
      limits: { stallMs: 20_000 },
      onStart: (started) => {
        if (started.step === 'encode') inputs = started.commandLine.split(' -i ').length - 1
      },
      // They are moved away at once, like by the server.
      onFiles: async (files, made) => {
        steps.push([made, ...files.map(({ type, resolution, hasVideo, hasAudio }) => [type, resolution, hasVideo, hasAudio])])
        await storeLadderFiles({ store, files, videoUuid: 'v1', isPrivate: false })
      },
    })
    expect(steps[0]).toEqual([
      step,
      ['hls', first, true, false],
      ['web-video', first, true, true],
      ['hls', 0, false, true],
      ['web-video', 0, false, true],
    ])
    const rest = steps[1]?.slice(1)
    expect(rest?.length).toBeGreaterThan(0)
    for (const file of rest ?? []) expect(file).toEqual([expect.any(String), expect.any(Number), true, expect.any(Boolean)])
    for (const file of rest ?? []) {
      const [type, , , hasAudio] = file as unknown[]
      expect(hasAudio).toBe(type === 'web-video')
    }
    expect([steps.length, inputs]).toEqual([2, 1])
  })
})

describe('web videos', () => {
  it('are the only format when HLS is off, ready for progressive playback', async () => {
    const { files, started } = await ladder('webm.webm', { resolutions: ['144p'], hls: false, webVideos: true })
    expect(files.map(({ type, resolution }) => [type, resolution])).toEqual([
      ['web-video', 180],
      ['web-video', 144],
    ])
    expect(started.map(({ step }) => step)).toEqual(['encode'])
    for (const file of files) {
      const bytes = await readFile(stored(file))
      expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'))
    }
  })
})

describe('an audio file', () => {
  it('becomes a black 480p video at 25 frames per second', async () => {
    const { files } = await ladder('sound.mp3', { resolutions: ['240p'] })
    const found = await Promise.all(files.map((file) => probe({ ffmpeg, path: stored(file) })))
    expect(found.map(({ video, audio, duration }) => [video?.height, video?.fps, audio?.codec, Math.round(duration)])).toEqual([
      [480, 25, 'aac', 3],
      [240, 25, 'aac', 3],
    ])
  })

  it('shows its uploaded picture', async () => {
    const [still] = await fitImage(await media('picture.png'), [{ width: 850, height: 480 }])
    const stillPath = join(root, 'still.jpg')
    await writeFile(stillPath, still?.bytes ?? '')
    const { files } = await ladder('sound.ogg', { resolutions: [] }, { stillPath })
    const [file] = files
    const frame = join(root, 'frame.png')
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-i', file ? stored(file) : '', '-frames:v', '1', frame])
    const { channels } = await sharp(frame).stats()
    expect([file?.width, file?.height]).toEqual([850, 480])
    expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(20)
  })
})

describe('interrupted work', () => {
  const triesIn = async (folder: string): Promise<string[]> => (await readdir(folder)).filter((name) => name.startsWith('try-'))
  const mediaIn = async (folder: string): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => /\.(mp4|m3u8|mkv)$/.test(name))

  it('leaves no process and no partial file when it is cancelled', async () => {
    const controller = new AbortController()
    let pid = 0
    const failure = ladder(
      'copyable-1080p.mp4',
      {},
      {
        signal: controller.signal,
        onStart: (started) => {
          if (started.step !== 'encode') return
          pid = started.pid
          controller.abort()
        },
      },
    )
    await expect(failure).rejects.toMatchObject({ reason: 'aborted' })
    expect(() => process.kill(pid, 0)).toThrow()
    expect(await mediaIn(join(root, 'work'))).toEqual([])
  })

  it('leaves no file when the source turns out to be broken', async () => {
    const input = await media('truncated-faststart.mp4')
    const found = await probe({ ffmpeg, path: await media('small.mp4') })
    const plan = planLadder({
      probe: { ...found, video: found.video && { ...found.video, index: 7 } },
      settings: settings({}),
    })
    const workFolder = join(root, 'work')
    const work = { ffmpeg, plan, input, workFolder, newUuid, threads: 1, limits: { stallMs: 20_000 } }
    await expect(runLadder({ ...work, onFiles: async () => undefined })).rejects.toMatchObject({ reason: 'failed' })
    expect(await mediaIn(workFolder)).toEqual([])
  })

  it('reuses finished steps with the same names after they could not be stored, or the worker was killed', async () => {
    const workFolder = join(root, 'work')
    const input = await media('copyable-1080p.mp4')
    const plan = planLadder({
      probe: await probe({ ffmpeg, path: input }),
      settings: settings({ resolutions: ['144p'] }),
    })
    const work = { ffmpeg, plan, input, workFolder, newUuid, threads: 1, limits: { stallMs: 20_000 } }
    let first: LadderFile[] = []
    const onFiles = async (files: LadderFile[]): Promise<void> => {
      first = files
      throw new StorageOutage('The store is away.')
    }
    for (const _try of [1, 2, 3]) await expect(runLadder({ ...work, onFiles })).rejects.toThrow(StorageOutage)
    const [tried = '', ...others] = await triesIn(workFolder)
    expect(others).toHaveLength(1)
    // The state after a kill.
    await mkdir(join(workFolder, tried, 'encode'))
    await writeFile(join(workFolder, tried, 'encode', 'half.mp4'), 'half')
    const again: LadderFile[] = []
    const steps: string[] = []
    await runLadder({
      ...work,
      onStart: ({ step }) => steps.push(step),
      onFiles: async (files) => {
        again.push(...files)
        await storeLadderFiles({ store, files, videoUuid: 'v1', isPrivate: false })
      },
    })
    expect(steps).toEqual(['encode'])
    expect(again.slice(0, 1)).toEqual(first)
    expect(again.map(({ resolution }) => resolution)).toEqual([1080, 144])
    expect(await readdir(join(root, 'streaming_playlists/hls/v1'))).toHaveLength(4)
    await expect(stat(workFolder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('repeats a step, with other names, when another format is enabled meanwhile', async () => {
    const names: string[][] = []
    const onFiles = async (files: LadderFile[]): Promise<void> => {
      names.push(files.map(({ filename }) => filename))
      throw new StorageOutage('The store is away.')
    }
    for (const webVideos of [false, true, true]) {
      await expect(ladder('small.mp4', { resolutions: [], webVideos }, { onFiles })).rejects.toThrow(StorageOutage)
    }
    const [alone, both, again] = names
    expect([alone?.length, both?.length]).toEqual([1, 2])
    expect(both).not.toEqual(expect.arrayContaining(alone ?? []))
    expect(again).toEqual(both)
  })

  it('repeats a step whose finished files are gone', async () => {
    const onFiles = async (files: LadderFile[]): Promise<void> => {
      for (const { path } of files) {
        await rm(path).catch(() => {
          throw new MediaError('not-found', 'It is gone.')
        })
      }
      throw new StorageOutage('The store is away.')
    }
    for (const _try of [1, 2, 3]) {
      await expect(ladder('small.mp4', { resolutions: [] }, { onFiles })).rejects.toThrow(StorageOutage)
    }
    expect(await triesIn(join(root, 'work'))).toHaveLength(2)
    const { files, started } = await ladder('small.mp4', { resolutions: [] })
    expect([files.at(-1)?.resolution, started.length]).toEqual([240, 1])
    expect((await probe({ ffmpeg, path: stored(files.at(-1) as LadderFile) })).duration).toBeCloseTo(2, 0)
  })

  it('continues in another worker while the first one does not know yet', async () => {
    const taken = Promise.withResolvers<Awaited<ReturnType<typeof ladder>>>()
    const first = ladder(
      'copyable-1080p.mp4',
      { resolutions: ['144p'] },
      {
        skip: ['copy'],
        onStart: ({ step }) => {
          if (step !== 'encode') return
          const second = ladder('copyable-1080p.mp4', { resolutions: ['144p'] }, { skip: ['copy'] })
          second.then(taken.resolve, taken.reject)
        },
      },
    )
    await expect(first).rejects.toThrow()
    const { files } = await taken.promise
    expect(files.map(({ resolution }) => resolution)).toEqual([144])
    await expect(stat(join(root, 'work'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('stores a step twice with the same result', async () => {
    const twice: LadderFile[] = []
    await ladder(
      'small.mp4',
      { webVideos: true },
      {
        onFiles: async (files) => {
          twice.push(...files)
          await storeLadderFiles({ store, files, videoUuid: 'v1', isPrivate: true })
          await storeLadderFiles({ store, files, videoUuid: 'v1', isPrivate: true })
        },
      },
    )
    const web = twice.filter(({ type }) => type === 'web-video')
    expect(web.length).toBeGreaterThan(0)
    for (const { filename, size } of web) {
      expect(await store.stat(webVideoFile(filename, true))).toMatchObject({ size })
    }
    expect(await readdir(join(root, 'streaming_playlists', hlsFolder('v1', true).name))).toHaveLength(4)
  })

  it('does not repeat what an earlier attempt has stored', async () => {
    const { started, files } = await ladder('copyable-1080p.mp4', { resolutions: ['144p'] }, { skip: ['copy'] })
    expect(started.map(({ step }) => step)).toEqual(['encode'])
    expect(files.map(({ resolution }) => resolution)).toEqual([144])
  })
})
