// Makes the storyboard of a media file: one ffmpeg process extracts the frames, which become one JPEG.

import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MediaError } from '../errors.ts'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import type { MediaProbe } from '../ffmpeg/media-probe.ts'
import { type Looks, toStandardColours, upright } from '../ffmpeg/picture.ts'
import type { FfmpegCommandSpec } from '../ffmpeg/run.ts'
import { type RunLimits, runFfmpeg } from '../ffmpeg/run.ts'
import { type EncodedImage, JPEG_QUALITY } from '../images/images.ts'
import { DECODE_SECONDS, loadSharp, readImage, withTypedErrors } from '../images/sharp.ts'
import { arrangeSprites, planStoryboard, type StoryboardPlan, totalSize } from './plan.ts'

export interface Storyboard extends EncodedImage {
  plan: StoryboardPlan
}

export interface MakeStoryboardOptions {
  ffmpeg: Ffmpeg
  probe: MediaProbe
  input: string
  /** Seconds, for players; or the plan of another machine. */
  wanted: number | StoryboardPlan
  /** A folder for the frames; it is emptied afterwards. */
  workFolder: string
  limits: RunLimits
  niceness?: number
  signal?: AbortSignal | undefined
  /** 0 to 100. */
  onProgress?: (percent: number) => void
}

/** Undefined if the file has no readable picture. Throws MediaError like `runFfmpeg`. */
export async function makeStoryboard(options: MakeStoryboardOptions): Promise<Storyboard | undefined> {
  const { ffmpeg, probe, input, wanted, workFolder, limits, niceness, signal, onProgress } = options
  if (!probe.video) return undefined
  const { width, height, index } = probe.video
  const plan = typeof wanted === 'number' ? planStoryboard({ duration: wanted, width, height }) : wanted
  const target = join(workFolder, 'frames.rgb')
  await mkdir(workFolder, { recursive: true })
  try {
    await runFfmpeg({
      ffmpeg,
      limits,
      signal,
      duration: plan.count * plan.spriteDuration,
      ...(niceness === undefined ? {} : { niceness }),
      ...(onProgress ? { onProgress } : {}),
      spec: framesCommand({ plan, input, index, target, looks: probe.video, canToneMap: ffmpeg.canToneMap }),
    })
    const picture = arrangeSprites(await readFile(target), plan)
    return picture && { ...(await encode(picture, plan)), plan }
  } finally {
    await rm(target, { force: true })
  }
}

/** A storyboard that another machine made, encoded anew. Throws MediaError unless it is a picture of the planned size. */
export async function readStoryboard(path: string, plan: StoryboardPlan): Promise<Storyboard> {
  const { bytes: received } = await readImage(path)
  const { width, height } = totalSize(plan)
  const sharp = await loadSharp()
  const picture = sharp(received, { limitInputPixels: width * height }).timeout({ seconds: DECODE_SECONDS })
  const found = await withTypedErrors(() => picture.metadata())
  if (found.width !== width || found.height !== height) {
    throw new MediaError('failed', `The picture has ${found.width} x ${found.height} px instead of ${width} x ${height}.`)
  }
  return { width, height, plan, bytes: await withTypedErrors(() => picture.jpeg({ quality: JPEG_QUALITY }).toBuffer()) }
}

/**
 * The rate of the result is that of the sprites, so that the frame in the middle of each is used, and one frame for several of them if
 * there are no more. Only key frames are read if the container allows it, and only they are decoded. One thread, since each further one
 * holds frames of its own, and nobody waits.
 */
export function framesCommand(frames: {
  plan: StoryboardPlan
  input: string
  /** Index of the stream. */
  index: number
  target: string
  looks: Looks
  canToneMap: boolean
}): FfmpegCommandSpec {
  const { plan, input, index, target, looks, canToneMap } = frames
  const turning = upright(looks)
  const { sprite, spriteDuration, count, keyFramesOnly } = plan
  const sparse = keyFramesOnly ? ['-skip_frame', 'nokey', `-discard:${index}`, 'nokey'] : []
  const filters = [
    `fps=fps=1/${spriteDuration}:start_time=0`,
    ...turning.filters,
    `scale=${sprite.width}:${sprite.height}:flags=bicubic`,
    'setsar=1',
    ...toStandardColours(looks, canToneMap),
    'format=rgb24',
  ]
  return {
    inputs: [{ source: input, options: [...inputGuard(), '-threads', '1', ...turning.options, ...sparse] }],
    filter: `[0:${index}]${filters.join(',')}[sprites]`,
    threads: 1,
    outputs: [{ target, options: ['-map', '[sprites]', '-frames:v', `${count}`, '-f', 'rawvideo'] }],
  }
}

async function encode(picture: Buffer, plan: StoryboardPlan): Promise<EncodedImage> {
  const { width, height } = totalSize(plan)
  const sharp = await loadSharp()
  const bytes = await sharp(picture, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
  return { width, height, bytes }
}
