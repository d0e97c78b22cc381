// Thumbnails and previews: from an uploaded image, checked by its content and encoded anew, or from a frame of the video.

import { access, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import type { MediaProbe, VideoProbe } from '../ffmpeg/media-probe.ts'
import { toStandardColours, upright } from '../ffmpeg/picture.ts'
import { type RunLimits, runFfmpeg } from '../ffmpeg/run.ts'
import { DECODE_SECONDS, loadSharp, MAX_PIXELS, readImage, withTypedErrors } from './sharp.ts'

export interface ImageSize {
  /** px. */
  width: number
  height: number
}

/** An encoded JPEG. */
export interface EncodedImage extends ImageSize {
  bytes: Buffer
}

export const JPEG_QUALITY = 80

/**
 * Fits an image of any accepted kind to each size, cropped at the centre, as JPEG without metadata, on white where it is transparent. Of an animation the
 * first picture counts. Throws MediaError `not-media`, `unreadable` or `too-large`.
 */
export async function fitImage(path: string, sizes: readonly ImageSize[]): Promise<EncodedImage[]> {
  const { bytes: input } = await readImage(path)
  const sharp = await loadSharp()
  const images: EncodedImage[] = []
  for (const { width, height } of sizes) {
    const bytes = await withTypedErrors(() =>
      sharp(input, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true })
        .timeout({ seconds: DECODE_SECONDS })
        .autoOrient()
        .resize(width, height, { fit: 'cover' })
        .flatten({ background: '#fff' })
        .jpeg({ quality: JPEG_QUALITY })
        .toBuffer(),
    )
    images.push({ width, height, bytes })
  }
  return images
}

/** What has to be known of a file from which pictures are drawn. */
export type DrawnProbe = Pick<MediaProbe, 'video' | 'duration' | 'coverIndex'>

export interface ImagesFromMediaOptions {
  ffmpeg: Ffmpeg
  probe: DrawnProbe
  input: string
  sizes: readonly ImageSize[]
  /** Configuration `thumbnails.generation_from_video.frames_to_analyze`. */
  framesToAnalyze: number
  /** A folder for the frame; it is left as it was. */
  workFolder: string
  limits: RunLimits
  niceness?: number
  signal?: AbortSignal | undefined
}

/**
 * Where frames are looked for, as shares of the duration: first where a film shows more than black or a title, then
 * elsewhere, until there is one that shows something.
 */
const PLACES = [0.1, 0.4, 0.7, 0.25, 0]
const PLACES_OF_SHORT = [0, 0.6]
const LONG_ENOUGH_SECONDS = 5
/** Spread of the brightness, of 255: fields of one colour have none, and what is hardly seen has little. */
const SHOWS_SOMETHING = 12

/** One picture per size of a media file: a typical frame, the cover of an audio file, or a plain field without either. */
export async function imagesFromMedia(options: ImagesFromMediaOptions): Promise<EncodedImage[]> {
  const { probe, sizes, workFolder } = options
  await mkdir(workFolder, { recursive: true })
  const made: string[] = []
  try {
    let best: { path: string; spread: number } | undefined
    for (const [index, place] of placesIn(probe).entries()) {
      const path = join(workFolder, `frame-${index}.png`)
      made.push(path)
      // A file whose duration is wrong may have no frame so late.
      if (!(await extractFrame(options, place * probe.duration, path))) continue
      const spread = await spreadOf(path)
      if (!best || spread > best.spread) best = { path, spread }
      if (spread >= SHOWS_SOMETHING) break
    }
    if (best) return await fitImage(best.path, sizes)
  } finally {
    await Promise.all(made.map((path) => rm(path, { force: true })))
  }
  return Promise.all(sizes.map(plainImage))
}

function placesIn({ video, duration }: DrawnProbe): number[] {
  if (!video) return [0]
  return duration > LONG_ENOUGH_SECONDS ? PLACES : PLACES_OF_SHORT
}

async function spreadOf(path: string): Promise<number> {
  const sharp = await loadSharp()
  const { channels } = await withTypedErrors(() => sharp(path, { limitInputPixels: MAX_PIXELS }).greyscale().stats())
  return channels[0]?.stdev ?? 0
}

/** Writes the most typical of the frames from `start` (seconds) on; false when there is none. */
async function extractFrame(options: ImagesFromMediaOptions, start: number, target: string): Promise<boolean> {
  const { probe, ffmpeg, limits, signal, niceness } = options
  const index = probe.video?.index ?? probe.coverIndex
  if (index === undefined) return false
  const turning = probe.video ? upright(probe.video).options : []
  const seek = start > 0 ? ['-ss', start.toFixed(3)] : []
  await runFfmpeg({
    ffmpeg,
    limits,
    signal,
    ...(niceness === undefined ? {} : { niceness }),
    duration: 0,
    spec: {
      inputs: [{ source: options.input, options: [...inputGuard(), ...turning, ...seek] }],
      filter: `[0:${index}]${filtersFor(options).join(',')}[frame]`,
      threads: 1,
      outputs: [{ target, options: ['-map', '[frame]', '-frames:v', '1', '-c:v', 'png', '-f', 'image2', '-update', '1'] }],
    },
  })
  return access(target).then(
    () => true,
    () => false,
  )
}

/** Made small before they are compared, since all frames are held in memory until then. */
function filtersFor({ probe: { video }, ffmpeg, sizes, framesToAnalyze }: ImagesFromMediaOptions): string[] {
  // A cover may be transparent, as `fitImage` knows.
  if (!video) return ['format=rgba']
  const share = Math.min(1, Math.max(...sizes.map((size) => Math.max(size.width / video.width, size.height / video.height))))
  const scaled = (side: number): number => Math.max(1, Math.ceil(side * share))
  const [width, height] = [scaled(video.width), scaled(video.height)]
  return [
    ...upright(video).filters,
    ...(share < 1 && video.squarePixels ? smaller(video, { width, height }) : [`scale=${width}:${height}`]),
    'setsar=1',
    // It wants two at least.
    ...(framesToAnalyze > 1 ? [`thumbnail=${framesToAnalyze}`] : []),
    ...toStandardColours(video, ffmpeg.canToneMap),
    'format=rgb24',
  ]
}

/** Scaling and changing the pixel format in one step costs more than twice as much as one after the other. */
const smaller = ({ pixelFormat }: VideoProbe, { width, height }: ImageSize): string[] => [
  `scale=${width}:${height}:flags=area`,
  ...(pixelFormat === 'yuv420p' ? ['format=yuv420p'] : []),
]

/** A field of one colour, for what shows nothing. */
export async function plainImage({ width, height }: ImageSize): Promise<EncodedImage> {
  const sharp = await loadSharp()
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#1b1b1f' } })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
  return { width, height, bytes }
}
