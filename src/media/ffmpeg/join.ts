// Puts the picture of one file and the sound of another into one file, without encoding.

import type { Ffmpeg } from './find.ts'
import { inputGuard } from './guard.ts'
import { type RunLimits, runFfmpeg } from './run.ts'

export interface JoinOptions {
  ffmpeg: Ffmpeg
  /** The paths of files that a ladder made. */
  picture: string
  sound: string
  /** The path of the MP4 to write. */
  target: string
  limits: RunLimits
  signal?: AbortSignal
}

/** Throws MediaError as `runFfmpeg` does. */
export async function joinStreams({ picture, sound, target, ...run }: JoinOptions): Promise<void> {
  const streams = ['-map', '0:v:0', '-map', '1:a:0', '-c', 'copy', '-map_metadata', '-1']
  await runFfmpeg({
    ...run,
    duration: 0,
    spec: {
      inputs: [picture, sound].map((source) => ({ source, options: inputGuard() })),
      filter: undefined,
      threads: 0,
      outputs: [{ target, options: [...streams, '-max_muxing_queue_size', '4096', '-f', 'mp4'] }],
    },
  })
}
