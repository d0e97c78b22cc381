// The plan of the ladder: renditions with their size, frame rate and bit rate, and what is copied.

import { describe, expect, it } from '@jest/globals'
import { targetBitrate, theoreticalBitrate } from '../../../src/media/ffmpeg/bitrate.ts'
import { outputRate } from '../../../src/media/ffmpeg/output-rate.ts'
import { outlineOf, stepsOf } from '../../../src/media/ffmpeg/plan.ts'
import { snapRate, toNumber } from '../../../src/media/ffmpeg/rate.ts'
import { type AudioProbe, type LadderSettings, type MediaProbe, planLadder, type VideoProbe } from '../../../src/media/index.ts'

const ALL = ['144p', '240p', '360p', '480p', '720p', '1080p', '1440p', '2160p']

function settings(patch: { enabled?: string[]; always?: boolean; maxFps?: number; split?: boolean } = {}): LadderSettings {
  return {
    always_transcode_original_resolution: patch.always ?? true,
    resolutions: Object.fromEntries((patch.enabled ?? ALL).map((name) => [name, true])),
    fps: { max: patch.maxFps ?? 60 },
    hls: { enabled: true, split_audio_and_video: patch.split ?? false },
    web_videos: { enabled: false },
  }
}

function video(patch: Partial<VideoProbe> = {}): VideoProbe {
  const [width, height] = [patch.width ?? 1920, patch.height ?? 1080]
  return {
    index: 0,
    codec: 'h264',
    profile: 'High',
    level: 31,
    pixelFormat: 'yuv420p',
    codedWidth: width,
    codedHeight: height,
    width,
    height,
    rotation: 0,
    rotatedByTag: false,
    squarePixels: true,
    rate: { num: 30, den: 1 },
    fps: 30,
    variableRate: false,
    interlaced: false,
    hdr: false,
    colours: { matrix: undefined, primaries: undefined, transfer: undefined },
    bitrate: 5_000_000,
    startsAt: 0,
    endsAt: 10,
    startsWhole: true,
    ...patch,
  }
}

const aac: AudioProbe = {
  index: 1,
  codec: 'aac',
  profile: 'LC',
  channels: 2,
  sampleRate: 48_000,
  bitrate: 128_000,
  layout: 'stereo',
  startsAt: 0,
  endsAt: 10,
}

function probeOf(patch: { video?: Partial<VideoProbe> | false; audio?: Partial<AudioProbe> | false } = {}): MediaProbe {
  return {
    size: 1,
    duration: 10,
    format: 'mov',
    bitrate: 5_200_000,
    video: patch.video === false ? undefined : video(patch.video),
    audio: patch.audio === false ? undefined : { ...aac, ...patch.audio },
    isCut: false,
    startTime: 0,
    isFragmented: false,
    keyFrameEvery: undefined,
    coverIndex: undefined,
    metadata: { format: {}, streams: [], chapters: [] },
  }
}

const resolutionsOf = (plan: ReturnType<typeof planLadder>) => ({
  copied: plan.copied?.resolution,
  encoded: plan.encoded.map(({ resolution }) => resolution),
})

describe('bit rates of the contract', () => {
  it.each([
    [1080, 30, 1_244_160, 6_220_800, 10_575_360],
    [1080, 60, 2_488_320, 12_441_600, 21_150_720],
    [720, 30, 552_960, 3_041_280, 5_253_120],
    [480, 30, 245_760, 1_474_560, 2_703_360],
    [360, 60, 276_480, 2_073_600, 3_594_240],
    [2160, 30, 4_976_640, 19_906_560, 34_836_480],
  ])('are right for %ip at %i frames per second', (resolution, fps, min, average, max) => {
    const picture = { width: (resolution * 16) / 9, height: resolution, fps }
    expect(theoreticalBitrate(picture, 'min')).toBe(min)
    expect(theoreticalBitrate(picture, 'average')).toBe(average)
    // The contract's figures were truncated after an inexact division.
    expect(Math.abs(theoreticalBitrate(picture, 'max') - max)).toBeLessThanOrEqual(1)
  })

  it('are the same for portrait and landscape', () => {
    const landscape = theoreticalBitrate({ width: 1280, height: 720, fps: 30 }, 'average')
    expect(theoreticalBitrate({ width: 720, height: 1280, fps: 30 }, 'average')).toBe(landscape)
  })

  it('use the next lower defined one for an unknown resolution', () => {
    expect(theoreticalBitrate({ width: 960, height: 540, fps: 30 }, 'average')).toBe(Math.floor(540 * 540 * (960 / 540) * 30 * 0.12))
  })

  it('use the smallest one below the smallest resolution', () => {
    expect(theoreticalBitrate({ width: 96, height: 64, fps: 30 }, 'average')).toBe(192_000)
    expect(theoreticalBitrate({ width: 96, height: 64, fps: 30 }, 'min')).toBe(10_000)
  })

  it('target the average, at most 1.3 times the input, at least the minimum', () => {
    const picture = { width: 1280, height: 720, fps: 30 }
    expect(targetBitrate(picture, undefined)).toBe(3_041_280)
    expect(targetBitrate(picture, 50_000_000)).toBe(3_041_280)
    expect(targetBitrate(picture, 1_000_000)).toBe(1_300_000)
    expect(targetBitrate(picture, 1_000)).toBe(552_960)
  })
})

describe('the frame rate of a rendition', () => {
  const ask = (fps: number, resolution: number, patch: { isOriginal?: boolean; maxFps?: number } = {}) =>
    toNumber(
      outputRate({
        rate: { num: fps, den: 1 },
        variable: false,
        resolution,
        isOriginal: patch.isOriginal ?? false,
        maxFps: patch.maxFps ?? 60,
      }),
    )

  it.each([
    [24, 480, 24],
    [30, 480, 30],
    [15, 240, 15],
    [60, 480, 30],
    [50, 480, 25],
    [48, 480, 24],
    [120, 360, 30],
    [60, 720, 60],
    [50, 1080, 50],
    [120, 1080, 60],
    [100, 1080, 50],
    [1000, 1080, 50],
  ])('of %i frames per second in %ip is %i', (fps, resolution, expected) => {
    expect(ask(fps, resolution)).toBe(expected)
  })

  it('is kept in the original resolution, however small', () => {
    expect(ask(60, 240, { isOriginal: true })).toBe(60)
  })

  it('never exceeds the configured maximum', () => {
    expect(ask(60, 1080, { maxFps: 50 })).toBe(50)
    expect(ask(60, 1080, { maxFps: 30 })).toBe(30)
  })

  it('is raised to 1, and refused below 0.1', () => {
    const slow = { variable: false, resolution: 720, isOriginal: true, maxFps: 60 }
    expect(outputRate({ ...slow, rate: { num: 1, den: 2 } })).toEqual({ num: 1, den: 1 })
    expect(() => outputRate({ ...slow, rate: { num: 1, den: 20 } })).toThrow(expect.objectContaining({ reason: 'frame-rate' }))
  })

  it('stays exact for NTSC, also when halved', () => {
    const ntsc = { variable: false, isOriginal: false, maxFps: 60 }
    expect(outputRate({ ...ntsc, rate: { num: 30_000, den: 1001 }, resolution: 480 })).toEqual({
      num: 30_000,
      den: 1001,
    })
    expect(toNumber(outputRate({ ...ntsc, rate: { num: 60_000, den: 1001 }, resolution: 480 }))).toBeCloseTo(29.97, 3)
  })

  it('of a variable source is the nearest integer', () => {
    const rate = outputRate({
      rate: { num: 1247, den: 50 },
      variable: true,
      resolution: 720,
      isOriginal: true,
      maxFps: 60,
    })
    expect(rate).toEqual({ num: 25, den: 1 })
  })

  it.each([
    [
      { num: 2997, den: 100 },
      { num: 30_000, den: 1001 },
    ],
    [
      { num: 30_000, den: 1001 },
      { num: 30_000, den: 1001 },
    ],
    [
      { num: 29_999, den: 1000 },
      { num: 30, den: 1 },
    ],
    [
      { num: 25, den: 1 },
      { num: 25, den: 1 },
    ],
    [
      { num: 25, den: 2 },
      { num: 12_500, den: 1000 },
    ],
  ])('is derived from a measured average', (measured, expected) => {
    expect(snapRate(measured)).toEqual(expected)
  })
})

describe('renditions of a ladder', () => {
  const encodedOnly = { video: { codec: 'vp9' } }

  it.each([
    [1920, 1080, ALL, [1080, 720, 480, 360, 240, 144]],
    [1280, 720, ['1080p', '720p', '240p'], [720, 240]],
    [1280, 720, [], [720]],
    [1080, 1920, ALL, [1080, 720, 480, 360, 240, 144]],
    [3840, 2160, ['480p'], [2160, 480]],
    [960, 540, ['480p', '720p'], [540, 480]],
    [64, 48, ALL, [48]],
    [321, 241, ['240p', '144p'], [242, 240, 144]],
  ])('of %i × %i px are the enabled ones up to it, and its own', (width, height, enabled, expected) => {
    const plan = planLadder({
      probe: probeOf({ video: { codec: 'vp9', width, height } }),
      settings: settings({ enabled }),
    })
    expect(resolutionsOf(plan)).toEqual({ copied: undefined, encoded: expected })
  })

  it.each([
    [1920, 1080, ['720p', '480p'], [720, 480]],
    [1280, 720, ['720p', '480p'], [720, 480]],
    [320, 240, ['720p', '480p'], [240]],
    [1280, 720, [], [720]],
    [1280, 720, ['0p'], [720, 0]],
  ])('of %i × %i px are only enabled ones if the original is not always made', (width, height, enabled, expected) => {
    const probe = probeOf({ video: { codec: 'vp9', width, height } })
    expect(resolutionsOf(planLadder({ probe, settings: settings({ enabled, always: false }) })).encoded).toEqual(expected)
  })

  it('have even dimensions in the aspect ratio of the source', () => {
    const sizes = (width: number, height: number) =>
      planLadder({ probe: probeOf({ video: { codec: 'vp9', width, height } }), settings: settings() }).encoded.map(
        (rendition) => `${rendition.video?.width}x${rendition.video?.height}`,
      )
    expect(sizes(1920, 1080)).toEqual(['1920x1080', '1280x720', '854x480', '640x360', '426x240', '256x144'])
    expect(sizes(240, 426)).toEqual(['240x426', '144x256'])
    expect(sizes(321, 241)).toEqual(['322x242', '320x240', '192x144'])
    expect(sizes(1000, 300)).toEqual(['1000x300', '800x240', '480x144'])
  })

  it('include audio only if it is enabled and there is audio', () => {
    const enabled = ['0p', '144p']
    const withSound = planLadder({ probe: probeOf(encodedOnly), settings: settings({ enabled }) })
    expect(resolutionsOf(withSound).encoded).toEqual([1080, 144, 0])
    const silent = planLadder({ probe: probeOf({ ...encodedOnly, audio: false }), settings: settings({ enabled }) })
    expect(resolutionsOf(silent).encoded).toEqual([1080, 144])
    expect(silent.audio).toBeUndefined()
  })

  it('have separate audio if it is enabled, and there is audio', () => {
    const plan = planLadder({ probe: probeOf(encodedOnly), settings: settings({ enabled: ['144p'], split: true }) })
    expect({ ...resolutionsOf(plan), split: plan.splitAudio }).toEqual({
      copied: undefined,
      encoded: [1080, 144, 0],
      split: true,
    })
    const silent = planLadder({ probe: probeOf({ ...encodedOnly, audio: false }), settings: settings({ split: true }) })
    expect(silent.splitAudio).toBe(false)
  })

  it('of an audio file show a still picture in 480p at 25 frames per second', () => {
    const plan = planLadder({
      probe: probeOf({ video: false }),
      settings: settings({ enabled: ['1080p', '480p', '240p'] }),
    })
    expect(plan.source.picture).toBe('still')
    expect(plan.copied).toBeUndefined()
    expect(plan.encoded.map(({ resolution, fps }) => [resolution, fps])).toEqual([
      [480, 25],
      [240, 25],
    ])
    expect(plan.encoded[0]?.video).toMatchObject({ width: 850, height: 480 })
  })

  it('refuse a frame rate that is too low', () => {
    const probe = probeOf({ video: { rate: { num: 1, den: 100 }, fps: 0.01 } })
    expect(() => planLadder({ probe, settings: settings() })).toThrow(expect.objectContaining({ reason: 'frame-rate' }))
  })
})

describe('copying', () => {
  const planned = (patch: Parameters<typeof probeOf>[0], from = settings()) =>
    planLadder({ probe: probeOf(patch), settings: from }).copied?.resolution

  it('copies the top rendition, and encodes the others', () => {
    const plan = planLadder({ probe: probeOf(), settings: settings() })
    expect(resolutionsOf(plan)).toEqual({ copied: 1080, encoded: [720, 480, 360, 240, 144] })
    expect(plan.copied?.video).toEqual({ width: 1920, height: 1080, rate: { num: 30, den: 1 }, encode: undefined })
    expect(plan.audio).toEqual({ mode: 'copy' })
  })

  it('works without audio too', () => {
    expect(planned({ audio: false })).toBe(1080)
  })

  const reasons: [string, Parameters<typeof probeOf>[0]][] = [
    ['another codec', { video: { codec: 'hevc' } }],
    ['another pixel format', { video: { pixelFormat: 'yuv420p10le' } }],
    ['a bit rate above the maximum', { video: { bitrate: 10_575_361 } }],
    ['an unknown bit rate', { video: { bitrate: undefined } }],
    ['fewer than 2 frames per second', { video: { rate: { num: 1, den: 1 }, fps: 1 } }],
    ['more frames than the maximum', { video: { rate: { num: 120, den: 1 }, fps: 120 } }],
    ['a rotation', { video: { rotation: 90, width: 1080, height: 1920 } }],
    ['pixels that are not square', { video: { squarePixels: false } }],
    ['interlaced fields', { video: { interlaced: true } }],
    ['high dynamic range', { video: { hdr: true } }],
    ['a first frame that needs those before it', { video: { startsWhole: false } }],
    ['sound that goes on after the picture', { video: { endsAt: 9 } }],
    ['sound of another codec', { audio: { codec: 'opus' } }],
    ['sound of too high a bit rate', { audio: { bitrate: 500_000 } }],
  ]
  it.each(reasons)('is not possible with %s', (_reason, patch) => {
    expect(planned(patch)).toBeUndefined()
  })

  it('is not possible out of a format without presentation times', () => {
    const copied = (format: string) => planLadder({ probe: { ...probeOf({}), format }, settings: settings() }).copied?.resolution
    expect(['mov,mp4,m4a,3gp,3g2,mj2', 'matroska,webm', 'flv', 'mpegts'].map(copied)).toEqual([1080, 1080, 1080, 1080])
    expect(['avi', 'asf', 'mpeg'].map(copied)).toEqual([undefined, undefined, undefined])
  })

  it('is not possible with key frames so far apart that a segment would be most of the file', () => {
    const copied = (keyFrameEvery: number) =>
      planLadder({ probe: { ...probeOf({}), keyFrameEvery }, settings: settings() }).copied?.resolution
    expect([2, 20, 21].map(copied)).toEqual([1080, 1080, undefined])
  })

  it('is not possible when the original resolution is disabled', () => {
    expect(planned({}, settings({ enabled: ['720p'], always: false }))).toBeUndefined()
    expect(planned({}, settings({ enabled: ['1080p', '720p'], always: false }))).toBe(1080)
  })

  it('copies the video, and mixes more channels to stereo', () => {
    const plan = planLadder({ probe: probeOf({ audio: { channels: 6 } }), settings: settings() })
    expect(plan.copied?.resolution).toBe(1080)
    expect(plan.audio).toEqual({ mode: 'encode', bitrate: 128_000, sampleRate: undefined, filters: [] })
  })
})

describe('audio', () => {
  const audioOf = (audio: Partial<AudioProbe>) => planLadder({ probe: probeOf({ audio }), settings: settings() }).audio

  it('keeps the bit rate of the source, at most 384 kbit/s, and 256 when it is not known', () => {
    expect(audioOf({ codec: 'mp3', bitrate: 96_000 })).toMatchObject({ mode: 'encode', bitrate: 96_000 })
    expect(audioOf({ codec: 'flac', bitrate: 900_000 })).toMatchObject({ bitrate: 384_000 })
    expect(audioOf({ codec: 'opus', bitrate: undefined })).toMatchObject({ bitrate: 256_000 })
  })

  it('is converted to a sample rate that browsers play', () => {
    expect(audioOf({ codec: 'flac', sampleRate: 192_000 })).toMatchObject({ sampleRate: 48_000 })
    expect(audioOf({ codec: 'flac', sampleRate: 44_100 })).toMatchObject({ sampleRate: undefined })
  })

  it('is encoded unless it is plain AAC', () => {
    expect(audioOf({ profile: 'HE-AAC' })).toMatchObject({ mode: 'encode' })
  })
})

describe('the steps of a ladder', () => {
  const stepsFor = (
    patch: Parameters<typeof probeOf>[0],
    { split = false, early = true }: { split?: boolean; early?: boolean } = {},
    duration = 600,
  ) => {
    const plan = planLadder({ probe: { ...probeOf(patch), duration }, settings: settings({ split }), early })
    return stepsOf(plan).map(({ step, renditions }) => [step, renditions.map(({ resolution }) => resolution)])
  }
  const encodedOnly = { video: { codec: 'vp9' } }

  it('start with what can be copied', () => {
    expect(stepsFor({})).toEqual([
      ['copy', [1080]],
      ['encode', [720, 480, 360, 240, 144]],
    ])
  })

  it('have separate audio with the first video, which would be silent otherwise', () => {
    expect(stepsFor({}, { split: true })).toEqual([
      ['copy', [1080, 0]],
      ['encode', [720, 480, 360, 240, 144]],
    ])
    expect(stepsFor(encodedOnly, { split: true })[0]).toEqual(['quick', [480, 0]])
  })

  it('make one rendition before the others if nothing can be copied, in the order of the contract', () => {
    expect(stepsFor(encodedOnly)).toEqual([
      ['quick', [480]],
      ['encode', [1080, 720, 360, 240, 144]],
    ])
    // 480p would be most of the work.
    expect(stepsFor({ video: { codec: 'vp9', width: 854, height: 480 } })[0]).toEqual(['quick', [240]])
  })

  it('have ids by their outputs and time, which differ for another configuration', () => {
    const outline = (changed: Partial<LadderSettings> = {}, { early = true, rate = 4_000_000 } = {}): string => {
      const found = { ...probeOf({ video: { codec: 'vp9', bitrate: rate } }), duration: 600 }
      return outlineOf(planLadder({ probe: found, settings: { ...settings(), ...changed }, early }))
    }
    const one = outline()
    expect(outline({}, { rate: 3_000_000 })).toBe(one)
    const others = [
      outline({}, { early: false }),
      outline({ resolutions: settings({ enabled: ALL.slice(1) }).resolutions }),
      outline({ web_videos: { enabled: true } }),
      outline({ web_videos: { enabled: true }, hls: { enabled: false, split_audio_and_video: false } }),
      outline({ hls: { enabled: true, split_audio_and_video: true } }),
    ]
    expect(new Set([one, ...others]).size).toBe(6)
  })

  it('are one for a short video, and if nobody watches before the end', () => {
    expect(stepsFor(encodedOnly, {}, 5)).toEqual([['encode', [1080, 720, 480, 360, 240, 144]]])
    expect(stepsFor(encodedOnly, { early: false })).toEqual([['encode', [1080, 720, 480, 360, 240, 144]]])
  })
})

describe('audio with an unknown channel layout', () => {
  const filtersFor = (audio: Partial<AudioProbe>) => {
    const plan = planLadder({ probe: probeOf({ audio: { codec: 'pcm_s16le', ...audio } }), settings: settings() })
    return plan.audio?.mode === 'encode' ? plan.audio.filters : undefined
  }

  it('uses its first two channels, or the omnidirectional one', () => {
    expect(filtersFor({ channels: 10, layout: undefined })).toEqual(['pan=stereo|c0=c0|c1=c1'])
    expect(filtersFor({ channels: 2, layout: '2 channels (FL+FL)' })).toEqual(['pan=stereo|c0=c0|c1=c1'])
    expect(filtersFor({ channels: 1, layout: '1 channels (LFE)' })).toEqual(['pan=stereo|c0=c0|c1=c0'])
    expect(filtersFor({ channels: 4, layout: 'ambisonic 1' })).toEqual(['pan=stereo|c0=c0|c1=c0'])
  })

  it('includes layouts that FFmpeg does not know or only guesses', () => {
    expect(filtersFor({ channels: 6, layout: '5.1(side)' })).toEqual([])
    expect(filtersFor({ channels: 4, layout: undefined })).toEqual([])
  })
})

describe('a stream with a delayed start or an edit list', () => {
  it('is not copied: HLS players ignore the metadata', () => {
    const plan = (patch: Partial<MediaProbe>, parts: Parameters<typeof probeOf>[0] = {}) =>
      planLadder({ probe: { ...probeOf(parts), ...patch }, settings: settings() })
    expect(plan({ isCut: true })).toMatchObject({ copied: undefined, audio: { mode: 'encode' } })
    expect(plan({}, { video: { startsAt: 0.5 } })).toMatchObject({ copied: undefined, audio: { mode: 'copy' } })
    const late = plan({}, { audio: { startsAt: 0.5 } })
    expect([late.copied?.resolution, late.audio?.mode]).toEqual([1080, 'encode'])
  })
})
