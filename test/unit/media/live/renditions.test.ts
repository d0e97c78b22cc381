// The renditions of a live: planned from its first segment, and made from each segment so that they join without gaps.

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type EncodedRendition, encodePiece, type Ffmpeg, type MediaProbe, planLive, probe } from '../../../../src/media/index.ts'
import { encode } from '../../../support/live.ts'
import { serverFfmpeg } from '../../../support/media.ts'

const SETTINGS = { enabled: true, always_transcode_original_resolution: true, resolutions: {}, fps: { max: 60 } }
const video: NonNullable<MediaProbe['video']> = {
  index: 0,
  codec: 'h264',
  profile: 'High',
  level: 31,
  pixelFormat: 'yuv420p',
  codedWidth: 1280,
  codedHeight: 720,
  width: 1280,
  height: 720,
  rotation: 0,
  rotatedByTag: false,
  squarePixels: true,
  rate: { num: 60, den: 1 },
  fps: 60,
  variableRate: false,
  interlaced: false,
  hdr: false,
  colours: { matrix: undefined, primaries: undefined, transfer: undefined },
  bitrate: 4_000_000,
  startsAt: 0,
  endsAt: undefined,
  startsWhole: true,
}
const audio: NonNullable<MediaProbe['audio']> = {
  index: 1,
  codec: 'aac',
  profile: 'LC',
  channels: 2,
  sampleRate: 48_000,
  layout: 'stereo',
  bitrate: undefined,
  startsAt: 0,
  endsAt: undefined,
}
/** The height of each encoded rendition. */
const heights = ({ encoded }: { encoded: EncodedRendition[] }) => encoded.map(({ height }) => height)

describe('the plan', () => {
  it('without transcoding is the source stream', () => {
    expect(planLive({ video, audio }, { ...SETTINGS, enabled: false, resolutions: { '480p': true } })).toEqual({
      source: { rendition: 0, width: 1280, height: 720, codecs: ['avc1.64001f', 'mp4a.40.2'] },
      isSourceShown: true,
      encoded: [],
    })
  })

  it('contains the source, the enabled resolutions below it with a lower frame rate, and audio alone', () => {
    const resolutions = { '0p': true, '240p': true, '480p': true, '720p': true, '1080p': true }
    expect(planLive({ video, audio }, { ...SETTINGS, resolutions })).toEqual({
      source: { rendition: 0, width: 1280, height: 720, codecs: ['avc1.64001f', 'mp4a.40.2'] },
      isSourceShown: true,
      encoded: [
        {
          rendition: 1,
          width: 854,
          height: 480,
          codecs: ['avc1.64001f', 'mp4a.40.2'],
          picture: { targetBitrate: 1_475_712, fps: 30, everyNth: 2, keyFrameEvery: 120, level: 31 },
          bandwidth: expect.any(Number),
        },
        {
          rendition: 2,
          width: 426,
          height: 240,
          codecs: ['avc1.64001e', 'mp4a.40.2'],
          picture: { targetBitrate: 521_424, fps: 30, everyNth: 2, keyFrameEvery: 120, level: 30 },
          bandwidth: expect.any(Number),
        },
        { rendition: 3, width: 0, height: 0, codecs: ['mp4a.40.2'], picture: undefined, bandwidth: expect.any(Number) },
      ],
    })
  })

  it('contains no source larger than the largest resolution, if it is disabled', () => {
    const settings = { ...SETTINGS, always_transcode_original_resolution: false }
    const lower = planLive({ video, audio }, { ...settings, resolutions: { '480p': true } })
    expect([lower.isSourceShown, heights(lower)]).toEqual([false, [480]])
    const same = planLive({ video, audio }, { ...settings, resolutions: { '480p': true, '720p': true } })
    expect([same.isSourceShown, heights(same)]).toEqual([true, [480]])
    const none = planLive({ video, audio }, { ...settings, resolutions: { '1080p': true } })
    expect([none.isSourceShown, heights(none)]).toEqual([true, []])
  })

  it.each([
    ['another codec', { codec: 'hevc', profile: 'Main' }],
    ['another pixel format', { pixelFormat: 'yuv422p' }],
    ['another profile', { profile: 'High 4:2:2' }],
    ['too many bits', { bitrate: 40_000_000 }],
    ['too many frames', { rate: { num: 120, den: 1 }, fps: 120 }],
  ])('also encodes a source of %s in its own resolution', (_, other) => {
    const plan = planLive({ video: { ...video, ...other }, audio }, { ...SETTINGS, resolutions: { '480p': true } })
    expect([plan.isSourceShown, heights(plan)]).toEqual([false, [720, 480]])
    expect(plan.encoded[0]?.picture?.keyFrameEvery).toBe(240)
  })

  it('drops whole frames only, for frame rates that divide badly', () => {
    const odd = planLive(
      { video: { ...video, rate: { num: 144, den: 1 }, fps: 144 }, audio },
      { ...SETTINGS, resolutions: { '480p': true } },
    )
    expect(odd.encoded.map(({ picture }) => picture?.everyNth)).toEqual([3, 6])
  })

  it('encodes nothing for audio alone, and contains no audio without an audio stream', () => {
    const resolutions = { '0p': true, '480p': true }
    expect(heights(planLive({ video: undefined, audio }, { ...SETTINGS, resolutions }))).toEqual([])
    const mute = planLive({ video, audio: undefined }, { ...SETTINGS, resolutions })
    expect(mute.encoded.map(({ codecs }) => codecs)).toEqual([['avc1.64001f']])
  })
})

describe('encoded segments', () => {
  let folder: string
  let ffmpeg: Ffmpeg
  let sources: string[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vireo-renditions-'))
    ffmpeg = await serverFfmpeg()
    const segments = ['-f', 'segment', '-segment_time', '2', '-segment_format', 'mpegts', join(folder, 'source-%d.ts')]
    await encode(segments, { seconds: 8 })
    sources = (await readdir(folder)).filter((name) => name.startsWith('source-')).toSorted()
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const show = async (path: string, stream: string, ...entries: string[]) => {
    const args = ['-v', 'error', '-select_streams', stream, '-show_entries', ...entries, '-of', 'csv=p=0', path]
    const env = { ...process.env, GCONV_PATH: '/nonexistent' }
    const { stdout } = await promisify(execFile)(ffmpeg.ffprobePath, args, { env })
    return stdout.split('\n').filter((line) => line !== '')
  }
  const timesOf = async (path: string, stream: string) => (await show(path, stream, 'packet=pts_time')).map(Number.parseFloat)

  it('have the frames of the source with their timestamps, and its audio', async () => {
    const resolutions = { '0p': true, '144p': true }
    const source = await probe({ ffmpeg, path: join(folder, 'source-0.ts') })
    const { encoded } = planLive(source, { ...SETTINGS, resolutions })
    expect(encoded.map(({ height }) => height)).toEqual([144, 0])
    const all: Buffer[][] = [[], [], []]
    for (const [sequence, name] of sources.entries()) {
      const path = join(folder, name)
      const made = await encodePiece({ ffmpeg, path, sequence, renditions: encoded, folder, threads: 1, limits: { stallMs: 30_000 } })
      expect(made).toEqual(
        [1, 2].map((rendition) => ({
          rendition,
          path: join(folder, `${rendition}-00000${sequence}.ts`),
          bytes: expect.any(Number),
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        })),
      )
      const [picture = { path: '' }, sound = { path: '' }] = made
      expect((await show(picture.path, 'v:0', 'packet=flags'))[0]).toMatch(/^K/)
      for (const [place, from] of [path, picture.path, sound.path].entries()) all[place]?.push(await readFile(from))
    }
    const joined = await Promise.all(
      all.map(async (parts, place) => {
        const path = join(folder, `joined-${place}.ts`)
        await writeFile(path, Buffer.concat(parts))
        return path
      }),
    )
    const [original = '', picture = '', sound = ''] = joined
    const frames = (await timesOf(picture, 'v:0')).toSorted((a, b) => a - b)
    expect(frames).toHaveLength(200)
    expect(frames).toEqual((await timesOf(original, 'v:0')).toSorted((a, b) => a - b))
    const decoding = (await show(picture, 'v:0', 'packet=dts_time')).map(Number.parseFloat)
    expect(decoding).toEqual(decoding.toSorted((a, b) => a - b))
    const heard = await timesOf(original, 'a:0')
    expect(await timesOf(picture, 'a:0')).toEqual(heard)
    expect(await timesOf(sound, 'a:0')).toEqual(heard)
    expect(new Set(await show(picture, 'v:0', 'stream=width,height,profile,level'))).toEqual(new Set(['High,192,144,30']))
  })
})
