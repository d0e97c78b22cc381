// Encodes a live stream into the renditions of HLS, as remote runners do: one process decodes it once.

import { join } from 'node:path'
import { targetBitrate } from '../ffmpeg/bitrate.ts'
import { half, SCALE_FLAGS, threadsOf, x264 } from '../ffmpeg/command.ts'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import { type RunLimits, runFfmpeg } from '../ffmpeg/run.ts'

export interface EncodeStreamOptions {
  ffmpeg: Ffmpeg
  /** RTMP or RTMPS. */
  url: string
  /** The resolution is the shorter side in px; 0 for sound only. */
  renditions: readonly { resolution: number; fps: number }[]
  /** Seconds of a piece, and pieces in a playlist: older ones are removed. */
  segmentSeconds: number
  listSize: number
  /** Gets a playlist `N.m3u8` for each rendition, from 0, with pieces `N-000000.ts`. */
  folder: string
  threads: number
  limits: RunLimits
  signal: AbortSignal
}

/** Of what is not known before the stream comes. */
const USUAL_RATIO = 16 / 9

/** Resolves at the end of the stream. Throws MediaError like `runFfmpeg`. */
export async function encodeStream(options: EncodeStreamOptions): Promise<void> {
  const { ffmpeg, url, renditions, segmentSeconds, listSize, folder, threads, limits, signal } = options
  const pictures = renditions.flatMap(({ resolution, fps }, place) => (resolution > 0 ? [{ resolution, fps, place }] : []))
  const outputs = renditions.map(({ resolution, fps }, place) => {
    const index = pictures.findIndex((picture) => picture.place === place)
    const bitrate = targetBitrate({ width: Math.round(resolution * USUAL_RATIO), height: resolution, fps }, undefined)
    const picture = [
      ...['-map', `[v${index}]`],
      ...x264({ targetBitrate: bitrate, keyFrameEvery: Math.ceil(fps * segmentSeconds), threads: threadsOf(index, threads) }),
      ...['-force_key_frames', `expr:gte(t,n_forced*${segmentSeconds})`],
    ]
    return {
      target: join(folder, `${place}.m3u8`),
      options: [
        ...(index < 0 ? ['-vn'] : picture),
        ...['-map', '0:a:0?', '-c:a', 'copy', '-map_metadata', '-1', '-f', 'hls'],
        ...[
          '-hls_time',
          `${segmentSeconds}`,
          '-hls_list_size',
          `${listSize}`,
          '-hls_delete_threshold',
          `${listSize}`,
          '-hls_flags',
          'delete_segments+independent_segments+temp_file',
        ],
        ...['-hls_segment_filename', join(folder, `${place}-%06d.ts`)],
      ],
    }
  })
  await runFfmpeg({
    ffmpeg,
    limits,
    signal,
    duration: 0,
    spec: {
      inputs: [{ source: url, options: [...inputGuard('rtmp,rtmps,tls,tcp'), '-threads', `${half(threads)}`] }],
      filter: pictures.length > 0 ? filterOf(pictures) : undefined,
      threads,
      outputs,
    },
  })
}

/** The shorter side is the resolution, however the camera is held. */
function filterOf(pictures: readonly { resolution: number; fps: number }[]): string {
  const inputs = pictures.map((_, index) => `[i${index}]`)
  const scaled = pictures.map(({ resolution, fps }, index) => {
    const size = `w='if(gte(iw,ih),-2,${resolution})':h='if(gte(iw,ih),${resolution},-2)'`
    return `${inputs[index]}fps=${fps},scale=${size}:flags=${SCALE_FLAGS},format=yuv420p[v${index}]`
  })
  return [`[0:v:0]split=${pictures.length}${inputs.join('')}`, ...scaled].join(';')
}
