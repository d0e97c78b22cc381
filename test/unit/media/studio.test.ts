// Plans of editions: clips and their times, and the single ffmpeg command.

import { describe, expect, it } from '@jest/globals'
import { retimeChapters } from '../../../src/actors/chapter/chapters.ts'
import { growthOf } from '../../../src/actors/studio/growth.ts'
import { type MediaProbe, retimeWebVtt } from '../../../src/media/index.ts'
import { studioCommand } from '../../../src/media/studio/command.ts'
import { planStudio, type StudioTask } from '../../../src/media/studio/plan.ts'
import { afterAnother, arrangeClips, lengthOf, retimingOf, type TimelineTask } from '../../../src/media/studio/timeline.ts'

const clip = (of: 'video' | number, from: number, to: number, marks: number[] = []) => ({ of, from, to, marks })

describe('a timeline', () => {
  it.each<[string, TimelineTask[], ReturnType<typeof clip>[], [number, number, number]]>([
    ['nothing', [], [clip('video', 0, 10)], [0, 10, 0]],
    ['a start', [{ name: 'cut', start: 3 }], [clip('video', 3, 10)], [3, 10, 0]],
    ['an end', [{ name: 'cut', end: 4 }], [clip('video', 0, 4)], [0, 4, 0]],
    ['an end after the end', [{ name: 'cut', start: 1, end: 99 }], [clip('video', 1, 10)], [1, 10, 0]],
    [
      'two cuts, the second of what the first left',
      [
        { name: 'cut', start: 3 },
        { name: 'cut', start: 1, end: 5 },
      ],
      [clip('video', 4, 8)],
      [4, 8, 0],
    ],
    [
      'an intro, cut afterwards',
      [
        { name: 'add-intro', duration: 2 },
        { name: 'cut', start: 1, end: 5 },
      ],
      [clip(0, 1, 2), clip('video', 0, 3)],
      [0, 3, 1],
    ],
    [
      'a watermark that the outro after it does not have',
      [{ name: 'add-intro', duration: 2 }, { name: 'add-watermark' }, { name: 'add-outro', duration: 1 }, { name: 'add-watermark' }],
      [clip(0, 0, 2, [1, 3]), clip('video', 0, 10, [1, 3]), clip(2, 0, 1, [3])],
      [0, 10, 2],
    ],
    [
      'a cut that leaves the intro alone',
      [
        { name: 'add-intro', duration: 2 },
        { name: 'cut', end: 2 },
      ],
      [clip(0, 0, 2)],
      [0, 0, 0],
    ],
  ])('of %s', (_what, tasks, clips, [from, to, at]) => {
    const arranged = arrangeClips(10, tasks)
    expect(arranged).toEqual(clips)
    expect(retimingOf(arranged)).toEqual({ from, to, at })
    expect(lengthOf(arranged)).toBeCloseTo(clips.reduce((sum, one) => sum + one.to - one.from, 0))
  })

  it('without content is refused, with the task that removed it', () => {
    const tasks: TimelineTask[] = [
      { name: 'cut', end: 5 },
      { name: 'cut', start: 5 },
    ]
    expect(() => arrangeClips(10, tasks)).toThrow(expect.objectContaining({ reason: 'empty', task: 1 }))
  })

  it('applied after another one is a single timeline', () => {
    const first = { from: 3, to: 10, at: 2 }
    expect(afterAnother(first, { from: 1, to: 5, at: 0 })).toEqual({ from: 3, to: 6, at: 1 })
    expect(afterAnother(first, { from: 4, to: 9, at: 1 })).toEqual({ from: 5, to: 10, at: 1 })
    expect(afterAnother(first, { from: 0, to: 1, at: 0 })).toEqual({ from: 0, to: 0, at: 0 })
  })
})

describe('timestamps of a video', () => {
  const retiming = { from: 10, to: 30, at: 5 }

  it('of chapters are moved, and those outside are removed', () => {
    const chapters = [0, 8, 20, 30].map((timecode) => ({ timecode, title: `at ${timecode}` }))
    expect(retimeChapters(chapters, retiming)).toEqual([
      { timecode: 5, title: 'at 8' },
      { timecode: 15, title: 'at 20' },
    ])
  })

  it('of captions are moved, truncated at the edges, and those outside are removed', async () => {
    const cue = (start: string, end: string) => `00:00:${start}.000 --> 00:00:${end}.000 align:start\n${start}`
    const text = ['WEBVTT', cue('01', '09'), cue('09', '12'), cue('20', '21'), cue('29', '40'), cue('31', '32')].join('\n\n')
    expect(await retimeWebVtt(Buffer.from(text), retiming)).toBe(
      `${['WEBVTT', cue('05', '07').replace(/05$/, '09'), cue('15', '16').replace(/15$/, '20'), cue('24', '25').replace(/24$/, '29')].join('\n\n')}\n`,
    )
  })
})

const probed = (changes: { width?: number; height?: number; sound?: boolean; picture?: boolean; duration?: number }): MediaProbe => {
  const { width = 640, height = 360, sound = true, picture = true, duration = 10 } = changes
  return {
    startTime: 0,
    isCut: false,
    isFragmented: false,
    keyFrameEvery: undefined,
    size: 1000,
    duration,
    format: 'mov',
    bitrate: 100_000,
    coverIndex: undefined,
    metadata: { format: {}, streams: [], chapters: [] },
    video: picture
      ? {
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
          squarePixels: true,
          rate: { num: 25, den: 1 },
          fps: 25,
          variableRate: false,
          interlaced: false,
          hdr: false,
          bitrate: 90_000,
          rotatedByTag: false,
          colours: UNTOLD,
          startsAt: 0,
          endsAt: undefined,
          startsWhole: true,
        }
      : undefined,
    audio: sound
      ? {
          index: picture ? 1 : 0,
          codec: 'aac',
          profile: 'LC',
          channels: 6,
          sampleRate: 44_100,
          bitrate: 96_000,
          layout: '5.1',
          startsAt: 0,
          endsAt: undefined,
        }
      : undefined,
  }
}

const UNTOLD = { matrix: undefined, primaries: undefined, transfer: undefined }

const planOf = (video: MediaProbe, tasks: StudioTask[]) => planStudio({ video, tasks, maxFps: 60 })

describe('a plan', () => {
  it('fits an intro of another shape into the size of the video', () => {
    const { picture, clips, duration } = planOf(probed({}), [
      { name: 'add-intro', probe: probed({ width: 90, height: 160, duration: 1 }) },
      { name: 'add-outro', probe: probed({ width: 1281, height: 721, duration: 2 }) },
    ])
    expect(picture).toMatchObject({ width: 640, height: 360, rate: { num: 25, den: 1 } })
    expect(clips.map((one) => one.picture)).toEqual([
      expect.objectContaining({ width: 202, height: 360 }),
      expect.objectContaining({ width: 640, height: 360 }),
      expect.objectContaining({ width: 640, height: 360 }),
    ])
    expect(duration).toBe(13)
  })

  it('places watermarks at the top right, a tenth of the height high, and never wider than the video', () => {
    const { marks } = planOf(probed({}), [
      { name: 'add-watermark', size: { width: 200, height: 100 } },
      { name: 'add-watermark', size: { width: 4000, height: 10 } },
    ])
    expect(marks.get(0)).toEqual({ width: 72, height: 36, x: 640 - 72 - 18, y: 18 })
    expect(marks.get(1)).toEqual({ width: 604, height: 2, x: 18, y: 18 })
  })

  it('has audio if any input has, at the sample rate of the video if it has one', () => {
    const silent = probed({ sound: false })
    expect(planOf(silent, [{ name: 'cut', end: 1 }]).sound).toBeUndefined()
    expect(planOf(silent, [{ name: 'add-outro', probe: probed({}) }])).toMatchObject({
      sound: { sampleRate: 44_100, bitrate: 128_000 },
      clips: [{ sound: undefined }, { sound: 1 }],
    })
  })

  it('reports unchanged times when the video starts at zero and is complete', () => {
    expect(planOf(probed({}), [{ name: 'add-outro', probe: probed({}) }]).retiming).toBeUndefined()
    expect(planOf(probed({}), [{ name: 'cut', end: 4 }]).retiming).toEqual({ from: 0, to: 4, at: 0 })
  })

  it('refuses files without a duration', () => {
    expect(() => planOf(probed({ duration: 0 }), [])).toThrow(expect.objectContaining({ reason: 'unreadable' }))
  })
})

describe('the command', () => {
  const commandOf = (video: MediaProbe, tasks: StudioTask[], sound = 'video.mp4') =>
    studioCommand({
      plan: planOf(video, tasks),
      paths: { picture: 'video.mp4', sound, tasks: new Map(tasks.map((_task, index) => [index, `task-${index}`])) },
      target: 'result.mp4',
      threads: 2,
      canToneMap: true,
      asFiltered: ['-vsync', 'vfr'],
    })

  it('reads each file once, only the shown part, and encodes once', () => {
    const { inputs, outputs, filter } = commandOf(probed({}), [
      { name: 'add-intro', probe: probed({ duration: 2 }) },
      { name: 'add-watermark', size: { width: 10, height: 10 } },
      { name: 'cut', start: 1, end: 8 },
    ])
    expect(inputs.map(({ source }) => source)).toEqual(['task-0', 'video.mp4', 'task-1'])
    expect(inputs[0]?.options.slice(-4)).toEqual(['-ss', '1.000', '-t', '1.000'])
    expect(inputs[1]?.options.slice(-2)).toEqual(['-t', '6.000'])
    expect(inputs.slice(0, 2).every(({ options }) => options.includes('-format_whitelist'))).toBe(true)
    expect(outputs).toHaveLength(1)
    expect(filter).toContain('[2:v:0]format=rgba,split=2[m1_0][m1_1]')
    expect(filter).toContain('[v0][a0][v1][a1]concat=n=2:v=1:a=1[v][a]')
  })

  it('takes audio from its file, and generates silence and black frames', () => {
    const apart = commandOf(probed({}), [{ name: 'cut', start: 2 }], 'sound.mp4')
    expect(apart.inputs.map(({ source }) => source)).toEqual(['video.mp4', 'sound.mp4'])
    const mixed = commandOf(probed({}), [{ name: 'add-intro', probe: probed({ sound: false, duration: 1 }) }])
    expect(mixed.filter).toContain('anullsrc=r=44100:cl=stereo')
    const dark = commandOf(probed({}), [{ name: 'add-outro', probe: probed({ picture: false, duration: 1 }) }])
    expect(dark.filter).toContain('color=c=black:s=640x360:r=25:d=1.000')
  })

  it('shows at least one frame of each clip', () => {
    const { filter, outputs } = commandOf(probed({}), [{ name: 'cut', start: 1, end: 1.015 }])
    expect(filter).toContain('trim=duration=0.040,')
    expect(filter).toContain('atrim=duration=0.040,')
    expect(outputs[0]?.options.join(' ')).toContain('-t 5.015 ')
  })

  it('makes audio only from a video with audio only', () => {
    const { filter, outputs } = commandOf(probed({ picture: false }), [{ name: 'cut', start: 1 }])
    expect(filter).toContain('concat=n=1:v=0:a=1[a]')
    expect(outputs[0]?.options).toContain('-vn')
  })
})

it('an edition grows by the size of its intro and outro at the bit rate of the video', () => {
  const tasks: TimelineTask[] = [
    { name: 'add-intro', duration: 3 },
    { name: 'cut', start: 1 },
    { name: 'add-outro', duration: 2 },
  ]
  expect(growthOf({ duration: 10, bytes: 1000, tasks })).toBe(500)
  expect(growthOf({ duration: 0, bytes: 1000, tasks })).toBe(0)
})
