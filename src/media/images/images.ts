// Thumbnails and previews: from an uploaded image, checked by its content and encoded anew, or from a frame of the video.

import { access, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import { toStandardColours, upright } from '../ffmpeg/picture.ts'
import type { MediaProbe } from '../ffmpeg/probe.ts'
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
 * Fits an image of any accepted kind to each size, cropped at the centre, as JPEG without metadata. Of an animation the
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
        .flatten({ background: '#000' })
        .jpeg({ quality: JPEG_QUALITY })
        .toBuffer(),
    )
    images.push({ width, height, bytes })
  }
  return images
}

export interface ImagesFromMediaOptions {
  ffmpeg: Ffmpeg
  probe: MediaProbe
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

/** From here on a film shows more than black or a title: the share of the duration that is passed over. */
const SKIPPED_SHARE = 0.1
const LONG_ENOUGH_SECONDS = 5

/** One picture per size of a media file: a typical frame, the cover of an audio file, or a plain field without either. */
export async function imagesFromMedia(options: ImagesFromMediaOptions): Promise<EncodedImage[]> {
  const { probe, sizes, workFolder } = options
  const target = join(workFolder, 'frame.png')
  const skip = probe.video && probe.duration > LONG_ENOUGH_SECONDS ? probe.duration * SKIPPED_SHARE : 0
  await mkdir(workFolder, { recursive: true })
  try {
    // A file whose duration is wrong may have no frame after the skipped part.
    for (const start of skip > 0 ? [skip, 0] : [0]) {
      if (await extractFrame(options, start, target)) return await fitImage(target, sizes)
    }
  } finally {
    await rm(target, { force: true })
  }
  return Promise.all(sizes.map(plainImage))
}

/** Writes the most typical of the frames from `start` (seconds) on; false when there is none. */
async function extractFrame(options: ImagesFromMediaOptions, start: number, target: string): Promise<boolean> {
  const { probe, ffmpeg, limits, signal, niceness, framesToAnalyze } = options
  const index = probe.video?.index ?? probe.coverIndex
  if (index === undefined) return false
  const filters = probe.video ? [`thumbnail=${Math.max(1, framesToAnalyze)}`] : []
  if (probe.video?.squarePixels === false) filters.push('scale=iw*sar:ih', 'setsar=1')
  const turning = probe.video ? upright(probe.video) : undefined
  if (probe.video) filters.push(...(turning?.filters ?? []), ...toStandardColours(probe.video, ffmpeg.canToneMap))
  const seek = start > 0 ? ['-ss', start.toFixed(3)] : []
  await runFfmpeg({
    ...{ ffmpeg, limits, signal },
    ...(niceness === undefined ? {} : { niceness }),
    duration: 0,
    spec: {
      inputs: [{ source: options.input, options: [...inputGuard(), ...(turning?.options ?? []), ...seek] }],
      filter: `[0:${index}]${[...filters, 'format=rgb24'].join(',')}[frame]`,
      threads: 1,
      outputs: [
        { target, options: ['-map', '[frame]', '-frames:v', '1', '-c:v', 'png', '-f', 'image2', '-update', '1'] },
      ],
    },
  })
  return access(target).then(
    () => true,
    () => false,
  )
}

async function plainImage({ width, height }: ImageSize): Promise<EncodedImage> {
  const sharp = await loadSharp()
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#1b1b1f' } })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
  return { width, height, bytes }
}
