// Thumbnails and previews: from an uploaded image, validated by its content and encoded again, or from a frame of the video.

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
 * Resizes an image of any accepted kind to each size, cropped at the centre, as JPEG without metadata, with a white background. For an
 * animation the first picture is used. Throws MediaError `not-media`, `unreadable` or `too-large`.
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

/** Properties of a file that pictures are drawn from. */
export type DrawnProbe = Pick<MediaProbe, 'video' | 'duration' | 'coverIndex'>

export interface ImagesFromMediaOptions {
  ffmpeg: Ffmpeg
  probe: DrawnProbe
  input: string
  sizes: readonly ImageSize[]
  /** Configuration `thumbnails.generation_from_video.frames_to_analyze`. */
  framesToAnalyze: number
  /** A folder for the frame; it is emptied afterwards. */
  workFolder: string
  limits: RunLimits
  niceness?: number
  signal?: AbortSignal | undefined
}

/**
 * Positions to try, as shares of the duration: first where a film usually shows more than black or a title, then others, until a frame
 * shows something.
 */
const PLACES = [0.1, 0.4, 0.7, 0.25, 0]
const PLACES_OF_SHORT = [0, 0.6]
const LONG_ENOUGH_SECONDS = 5
/** Deviation of the brightness, of 255: a single colour has none. */
const SHOWS_SOMETHING = 12

/** One picture per size of a media file: a typical frame, the cover of an audio file, or a plain colour without either. */
export async function imagesFromMedia(options: ImagesFromMediaOptions): Promise<EncodedImage[]> {
  const { probe, sizes, workFolder } = options
  await mkdir(workFolder, { recursive: true })
  const made: string[] = []
  try {
    let best: { path: string; spread: number } | undefined
    for (const [index, place] of placesIn(probe).entries()) {
      const path = join(workFolder, `frame-${index}.png`)
      made.push(path)
      // A file with a wrong duration may have no frame at this position.
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

/** Writes the most typical of the frames from `start` (seconds); false if there is none. */
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

/** Scaled down before they are compared, since all frames are in memory until then. */
function filtersFor({ probe: { video }, ffmpeg, sizes, framesToAnalyze }: ImagesFromMediaOptions): string[] {
  // A cover may be transparent, which `fitImage` supports.
  if (!video) return ['format=rgba']
  const share = Math.min(1, Math.max(...sizes.map((size) => Math.max(size.width / video.width, size.height / video.height))))
  const scaled = (side: number): number => Math.max(1, Math.ceil(side * share))
  const [width, height] = [scaled(video.width), scaled(video.height)]
  return [
    ...upright(video).filters,
    ...(share < 1 && video.squarePixels ? smaller(video, { width, height }) : [`scale=${width}:${height}`]),
    'setsar=1',
    // It requires at least two.
    ...(framesToAnalyze > 1 ? [`thumbnail=${framesToAnalyze}`] : []),
    ...toStandardColours(video, ffmpeg.canToneMap),
    'format=rgb24',
  ]
}

/** Scaling and converting the pixel format in one step costs more than twice as much as in two. */
const smaller = ({ pixelFormat }: VideoProbe, { width, height }: ImageSize): string[] => [
  `scale=${width}:${height}:flags=area`,
  ...(pixelFormat === 'yuv420p' ? ['format=yuv420p'] : []),
]

/** A single colour, if there is nothing to show. */
export async function plainImage({ width, height }: ImageSize): Promise<EncodedImage> {
  const sharp = await loadSharp()
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#1b1b1f' } })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
  return { width, height, bytes }
}
