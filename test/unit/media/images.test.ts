// Thumbnails and previews from uploaded images and from media files.

import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflateSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { type Ffmpeg, fitActorImage, fitImage, imagesFromMedia, probe } from '../../../src/media/index.ts'
import { cachedFile, type MediaName, media, serverFfmpeg, temporaryFolder } from '../../support/media.ts'

const ffmpeg: Ffmpeg = await serverFfmpeg()
const sizes = [
  { width: 280, height: 157 },
  { width: 850, height: 480 },
]

const describeAll = (images: { bytes: Buffer }[]) =>
  Promise.all(
    images.map(async ({ bytes }) => {
      const { format, width, height, exif } = await sharp(bytes).metadata()
      return { format, width, height, hasExif: exif !== undefined }
    }),
  )

const bothSizes = [
  { format: 'jpeg', width: 280, height: 157, hasExif: false },
  { format: 'jpeg', width: 850, height: 480, hasExif: false },
]

const fileWith = async (bytes: Buffer | string, name = 'upload.png') => {
  const path = join(await temporaryFolder(), name)
  await writeFile(path, bytes)
  return path
}

describe('an uploaded image', () => {
  it('is fitted to each size as JPEG', async () => {
    expect(await describeAll(await fitImage(await media('picture.png'), sizes))).toEqual(bothSizes)
  })

  it.each(['jpeg', 'png', 'webp', 'gif'] as const)('may be %s, and loses its metadata', async (format) => {
    const source = sharp({ create: { width: 300, height: 900, channels: 3, background: 'red' } })
    const bytes = await source
      .withExif({ IFD0: { Artist: 'Somebody' } })
      [format]()
      .toBuffer()
    const images = await fitImage(await fileWith(bytes, 'upload.bin'), sizes)
    expect(await describeAll(images)).toEqual(bothSizes)
    expect(images[0]?.bytes.includes('Somebody')).toBe(false)
  })

  it('is rotated by its orientation', async () => {
    const left = await sharp({ create: { width: 200, height: 100, channels: 3, background: 'white' } })
      .composite([{ input: { create: { width: 100, height: 100, channels: 3, background: 'black' } }, gravity: 'west' }])
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const [image] = await fitImage(await fileWith(left, 'upload.jpg'), [{ width: 100, height: 200 }])
    const { data } = await sharp(image?.bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
    expect([(data[50] ?? 0) < 20, (data[199 * 100 + 50] ?? 0) > 235]).toEqual([true, true])
  })

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>'],
    ['a text', 'This is no image.'],
    ['nothing', ''],
  ])('is refused when it is %s', async (_what, content) => {
    await expect(fitImage(await fileWith(content), sizes)).rejects.toMatchObject({ reason: 'not-media' })
  })

  it('has a white background where it is transparent', async () => {
    const clear = sharp({ create: { width: 300, height: 200, channels: 4, background: '#00000000' } })
    for (const bytes of [await clear.png().toBuffer(), await clear.webp().toBuffer()]) {
      const [image] = await fitImage(await fileWith(bytes), [{ width: 30, height: 20 }])
      const { channels } = await sharp(image?.bytes).stats()
      expect(channels.map(({ min }) => min)).toEqual([255, 255, 255])
    }
  })

  it('is refused when it is truncated', async () => {
    const whole = await readFile(await media('picture.png'))
    const path = await fileWith(whole.subarray(0, Math.floor(whole.length / 2)))
    await expect(fitImage(path, sizes)).rejects.toMatchObject({ reason: 'unreadable' })
  })

  it('is refused when it claims 50,000 × 50,000 px', async () => {
    await expect(fitImage(await fileWith(pngHeader(50_000, 50_000)), sizes)).rejects.toMatchObject({
      reason: 'too-large',
    })
  })
})

describe('an image of an actor', () => {
  const square = (side: number) => ({ width: side, height: side })

  it('keeps its transparency', async () => {
    const clear = sharp({ create: { width: 20, height: 20, channels: 4, background: '#00000000' } })
    const [image] = await fitActorImage(await fileWith(await clear.png().toBuffer()), [square(48)])
    const { channels } = await sharp(image?.bytes).stats()
    expect([image?.extension, channels[3]?.max]).toEqual(['.png', 0])
  })

  it('is rotated before its metadata is removed', async () => {
    const bytes = await sharp({ create: { width: 200, height: 100, channels: 3, background: 'white' } })
      .composite([{ input: { create: { width: 100, height: 100, channels: 3, background: 'black' } }, gravity: 'west' }])
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const [image] = await fitActorImage(await fileWith(bytes), [{ width: 100, height: 200 }])
    const { data } = await sharp(image?.bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
    expect([(data[50] ?? 0) < 20, (data[199 * 100 + 50] ?? 0) > 235]).toEqual([true, true])
  })

  it('is animated as WebP, if it is small', async () => {
    const frames = 5
    const pixels = Buffer.from(Array.from({ length: 30 * 30 * frames * 3 }, (_, index) => (index * 7) % 256))
    const raw = { width: 30, height: 30 * frames, channels: 3 as const, pageHeight: 30 }
    const bytes = await sharp(pixels, { raw }).webp().toBuffer()
    const images = await fitActorImage(await fileWith(bytes), [square(600), square(48)])
    const pages = await Promise.all(images.map(async (image) => (await sharp(image.bytes).metadata()).pages ?? 1))
    expect([images.map(({ extension }) => extension), pages]).toEqual([
      ['.webp', '.webp'],
      [1, frames],
    ])
  })

  it('is not animated when its frames are too many in total', async () => {
    const [side, frames] = [2000, 3000]
    const screen = Buffer.from('47494638396100000000800000000000ffffff', 'hex')
    for (const at of [6, 8]) screen.writeUInt16LE(side, at)
    // Each is a dot, but as large as the screen once it is decoded.
    const frame = Buffer.from('21f90400010000002c0000000001000100000202440100', 'hex')
    const bytes = Buffer.concat([screen, ...Array<Buffer>(frames).fill(frame), Buffer.from(';')])
    expect((await sharp(bytes, { limitInputPixels: false }).metadata()).pages).toBe(frames)
    const images = await fitActorImage(await fileWith(bytes), [square(48)])
    const pages = await Promise.all(images.map(async (image) => (await sharp(image.bytes).metadata()).pages ?? 1))
    expect([images.map(({ extension }) => extension), pages]).toEqual([['.png'], [1]])
  })

  it('keeps no data appended to it', async () => {
    const script = '<html><script>alert(1)</script></html>'
    const image = await sharp({ create: { width: 60, height: 60, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer()
    const path = await fileWith(Buffer.concat([image, Buffer.from(script)]))
    for (const { bytes } of await fitActorImage(path, [square(48), square(120)])) expect(bytes.includes('script')).toBe(false)
  })

  it('is refused when it claims 50,000 × 50,000 px', async () => {
    const path = await fileWith(pngHeader(50_000, 50_000))
    await expect(fitActorImage(path, [square(48)])).rejects.toMatchObject({ reason: 'too-large' })
  })
})

describe('a media file', () => {
  const images = async (name: MediaName, workFolder: string) => {
    const input = await media(name)
    const found = await probe({ ffmpeg, path: input })
    return imagesFromMedia({
      ffmpeg,
      probe: found,
      input,
      sizes,
      framesToAnalyze: 50,
      workFolder,
      limits: { stallMs: 20_000 },
    })
  }

  it.each(['small.mp4', 'portrait.mp4', 'rotated.mp4', 'anamorphic.mp4', 'webm.webm', 'cover.mp3', 'sound.mp3'] as const)(
    '%s gives a picture in each size and leaves no other files',
    async (name) => {
      const workFolder = await temporaryFolder()
      expect(await describeAll(await images(name, workFolder))).toEqual(bothSizes)
      expect(await readdir(workFolder)).toEqual([])
    },
  )

  it('gives a picture that is not blank', async () => {
    const [thumbnail] = await images('copyable-1080p.mp4', await temporaryFolder())
    const { channels } = await sharp(thumbnail?.bytes).stats()
    expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(20)
  })
})

describe('the thumbnail of a video', () => {
  const made = async (name: string, source: string, framesToAnalyze = 50) => {
    const input = await cachedFile(name, source, (target, { ffmpegPath }) =>
      promisify(execFile)(ffmpegPath, ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, '-c:v', 'ffv1', target]),
    )
    const images = await imagesFromMedia({
      ffmpeg,
      input,
      sizes,
      framesToAnalyze,
      limits: { stallMs: 20_000 },
      probe: await probe({ ffmpeg, path: input }),
      workFolder: await temporaryFolder(),
    })
    const { channels } = await sharp(images[0]?.bytes).greyscale().stats()
    return channels[0] ?? { mean: 0, stdev: 0 }
  }
  const picture = 'testsrc=s=128x72:r=10'

  it.each([
    ['a few black frames', 'color=black:s=128x72:r=10:d=1[a];testsrc=s=128x72:r=10:d=2[b];[a][b]concat'],
    ['half of it black', 'color=black:s=128x72:r=10:d=8[a];testsrc=s=128x72:r=10:d=8[b];[a][b]concat'],
    ['white but for its last fifth', 'color=white:s=128x72:r=10:d=10[a];testsrc=s=128x72:r=10:d=6[b];[a][b]concat'],
  ])('is not its black or blank beginning: %s', async (_what, source) => {
    const { stdev } = await made('opening.mkv', source)
    expect(stdev).toBeGreaterThan(40)
  })

  it('is a typical frame of the configured number of frames', async () => {
    // One frame in three is a flash; the first one is.
    const flashes = `${picture}:d=3,drawbox=t=fill:c=white:enable='not(mod(n,3))'`
    expect((await made('flashes.mkv', flashes, 1)).mean).toBeGreaterThan(240)
    expect((await made('flashes.mkv', flashes, 9)).mean).toBeLessThan(200)
  })

  it('is a dark frame when all of them are dark', async () => {
    expect((await made('dark.mkv', 'color=black:s=128x72:r=10:d=1')).mean).toBeLessThan(20)
  })
})

/** A PNG with a large declared size and hardly any data. */
function pngHeader(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, crc])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const data = deflateSync(Buffer.alloc(1000))
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}
