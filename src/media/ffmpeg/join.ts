// Muxes the picture of one file and the sound of another, or the streams of one, into a plain MP4, without encoding.

import type { Ffmpeg } from './find.ts'
import { inputGuard } from './guard.ts'
import { type RunLimits, runFfmpeg } from './run.ts'

interface CopyOptions {
  ffmpeg: Ffmpeg
  /** The path of the MP4 to write. */
  target: string
  limits: RunLimits
  signal?: AbortSignal | undefined
}

export interface JoinOptions extends CopyOptions {
  /** The paths of files from a ladder. */
  picture: string
  sound: string
}

/** Throws MediaError like `runFfmpeg`. */
export const joinStreams = ({ picture, sound, ...run }: JoinOptions): Promise<void> =>
  copyStreams([picture, sound], ['-map', '0:v:0', '-map', '1:a:0'], run)

/** The first picture and sound of a file, if present. Throws MediaError like `runFfmpeg`. */
export const unfragment = ({ source, ...run }: CopyOptions & { source: string }): Promise<void> =>
  copyStreams([source], ['-map', '0:v:0?', '-map', '0:a:0?'], run)

async function copyStreams(sources: string[], streams: string[], { target, ...run }: CopyOptions): Promise<void> {
  const options = [...streams, '-c', 'copy', '-map_metadata', '-1', '-strict', '-2']
  await runFfmpeg({
    ...run,
    duration: 0,
    spec: {
      inputs: sources.map((source) => ({ source, options: inputGuard() })),
      filter: undefined,
      threads: 0,
      outputs: [{ target, options: [...options, '-max_muxing_queue_size', '4096', '-f', 'mp4'] }],
    },
  })
}
