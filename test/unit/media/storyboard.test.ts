// Storyboards: their moments and layout, and real ones made by ffmpeg.

import { readdir } from 'node:fs/promises'
import { describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { makeStoryboard, probe } from '../../../src/media/index.ts'
import { arrangeSprites, planStoryboard } from '../../../src/media/storyboard/plan.ts'
import { framesCommand } from '../../../src/media/storyboard/storyboard.ts'
import { type MediaName, media, serverFfmpeg, temporaryFolder } from '../../support/media.ts'

const ffmpeg = await serverFfmpeg()
const HD = { width: 1280, height: 720 }

describe('the plan of a storyboard', () => {
  it.each([
    [0, { spriteDuration: 1, count: 1, columns: 1, rows: 1 }],
    [3, { spriteDuration: 1, count: 3, columns: 3, rows: 1 }],
    [11, { spriteDuration: 1, count: 11, columns: 11, rows: 1 }],
    [12, { spriteDuration: 1, count: 12, columns: 11, rows: 2 }],
    [121, { spriteDuration: 1, count: 121, columns: 11, rows: 11 }],
    [122, { spriteDuration: 2, count: 61, columns: 11, rows: 6 }],
    [3600, { spriteDuration: 30, count: 120, columns: 11, rows: 11 }],
    [36_000, { spriteDuration: 298, count: 121, columns: 11, rows: 11 }],
  ])('for %d s covers the whole video with at most 121 sprites', (duration, expected) => {
    const plan = planStoryboard({ ...HD, duration })
    expect(plan).toMatchObject(expected)
    expect(plan.count * plan.spriteDuration).toBeGreaterThanOrEqual(duration)
    expect(plan.keyFramesOnly).toBe(plan.spriteDuration > 1)
  })

  it.each([
    [320, 240, 192, 144],
    [1280, 720, 192, 108],
    [720, 1280, 108, 192],
    [321, 241, 192, 144],
    [64, 64, 192, 192],
    [16_384, 2, 192, 1],
  ])('for %d × %d px has sprites of %d × %d px', (width, height, spriteWidth, spriteHeight) => {
    const { sprite } = planStoryboard({ width, height, duration: 10 })
    expect(sprite).toEqual({ width: spriteWidth, height: spriteHeight })
  })

  it('reads key frames only when a sprite covers more than a second', () => {
    const colours = { matrix: undefined, primaries: undefined, transfer: undefined }
    const looks = { rotation: 0, rotatedByTag: false, hdr: false, colours, pixelFormat: 'yuv420p' }
    const frames = { input: '/video.mp4', index: 1, target: '/frames', looks, canToneMap: true }
    const optionsFor = (duration: number) =>
      framesCommand({ ...frames, plan: planStoryboard({ ...HD, duration }) }).inputs[0]?.options.join(' ')
    expect(optionsFor(121)).not.toContain('nokey')
    expect(optionsFor(122)).toContain('-skip_frame nokey -discard:1 nokey')
  })
})

describe('the sprites', () => {
  const plan = {
    sprite: { width: 1, height: 2 },
    spriteDuration: 1,
    count: 3,
    columns: 2,
    rows: 2,
    keyFramesOnly: false,
  }
  /** A frame of two pixels, one above the other. */
  const frame = (value: number) => [value, value, value, value + 1, value + 1, value + 1]
  const reds = (picture: Buffer | undefined) => [...(picture ?? [])].filter((_byte, index) => index % 3 === 0)

  it('are ordered from left to right, then down; the last one fills the row', () => {
    const frames = Buffer.from([...frame(10), ...frame(20), ...frame(30)])
    expect(reds(arrangeSprites(frames, plan))).toEqual([10, 20, 11, 21, 30, 30, 31, 31])
  })

  it('of a truncated file repeat its last whole frame', () => {
    const frames = Buffer.from([...frame(10), ...frame(20).slice(0, 4)])
    expect(reds(arrangeSprites(frames, plan))).toEqual([10, 10, 11, 11, 10, 10, 11, 11])
  })

  it('do not exist for a file without frames', () => {
    expect(arrangeSprites(Buffer.from([1, 2, 3]), plan)).toBeUndefined()
  })
})

describe('the storyboard of a file', () => {
  async function make(name: MediaName, duration?: number) {
    const input = await media(name)
    const found = await probe({ ffmpeg, path: input })
    const workFolder = await temporaryFolder()
    const board = await makeStoryboard({
      ffmpeg,
      probe: found,
      input,
      workFolder,
      wanted: duration ?? Math.round(found.duration),
      limits: { stallMs: 20_000 },
    })
    expect(await readdir(workFolder)).toEqual([])
    return board
  }

  it.each([
    ['small.mp4', { columns: 2, rows: 1, width: 192, height: 144 }],
    ['portrait.mp4', { columns: 1, rows: 1, width: 108, height: 192 }],
    ['rotated.mp4', { columns: 1, rows: 1, width: 192, height: 108 }],
    ['odd.mkv', { columns: 1, rows: 1, width: 192, height: 144 }],
    ['anamorphic.mp4', { columns: 1, rows: 1, width: 192, height: 86 }],
    ['webm.webm', { columns: 2, rows: 1, width: 192, height: 108 }],
    ['transport.ts', { columns: 2, rows: 1, width: 192, height: 144 }],
  ] as const)('%s is a JPEG of whole sprites', async (name, { columns, rows, width, height }) => {
    const board = await make(name)
    expect(board?.plan).toMatchObject({ columns, rows, sprite: { width, height } })
    const { format, ...size } = await sharp(board?.bytes).metadata()
    expect(format).toBe('jpeg')
    expect(size).toMatchObject({ width: columns * width, height: rows * height })
    expect(board).toMatchObject({ width: columns * width, height: rows * height })
  })

  /** The mean brightness of each sprite, in order. */
  async function brightness(board: Awaited<ReturnType<typeof make>>): Promise<number[]> {
    if (!board) throw new Error('There is no storyboard.')
    const { sprite, columns, count } = board.plan
    const means: number[] = []
    for (let index = 0; index < count; index += 1) {
      const [left, top] = [(index % columns) * sprite.width, Math.floor(index / columns) * sprite.height]
      const area = sharp(board.bytes)
        .extract({ left, top, ...sprite })
        .greyscale()
      const [channel] = (await sharp(await area.toBuffer()).stats()).channels
      means.push(channel?.mean ?? Number.NaN)
    }
    return means
  }

  it('shows the middle of each second of a short video, also between key frames', async () => {
    const means = await brightness(await make('brightening.mp4'))
    expect(means).toHaveLength(8)
    means.forEach((mean, index) => {
      expect(Math.abs(mean - (255 * (index + 0.5)) / 8)).toBeLessThan(8)
    })
  })

  it('of an hour shows 120 moments, each within a key frame of its time', async () => {
    const means = await brightness(await make('hour.mp4'))
    expect(means).toHaveLength(120)
    means.forEach((mean, index) => {
      expect(Math.abs(mean - (255 * (index + 0.5)) / 120)).toBeLessThan(4)
    })
  })

  it('of a file that is shorter than its header says ends with its last frame', async () => {
    const means = await brightness(await make('brightening.mp4', 20))
    expect(means).toHaveLength(20)
    expect(new Set(means.slice(8).map(Math.round)).size).toBe(1)
    expect(means[19]).toBeGreaterThan(220)
  })

  it.each(['sound.mp3', 'cover.mp3'] as const)('does not exist for audio alone (%s)', async (name) => {
    expect(await make(name)).toBeUndefined()
  })

  it('is not made when the work is cancelled', async () => {
    const input = await media('hour.mp4')
    const signal = AbortSignal.abort()
    const found = await probe({ ffmpeg, path: input })
    const workFolder = await temporaryFolder()
    const options = { ffmpeg, probe: found, input, workFolder, wanted: 3600, limits: { stallMs: 20_000 }, signal }
    await expect(makeStoryboard(options)).rejects.toMatchObject({ reason: 'aborted' })
    expect(await readdir(workFolder)).toEqual([])
  })
})
