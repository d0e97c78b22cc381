// How long a file really is, where its header does not say or cannot be trusted: all packets are read once, none decoded.

import type { Ffmpeg } from './find.ts'
import { inputGuard } from './guard.ts'
import { runFfmpeg } from './run.ts'

export interface MeasureOptions {
  ffmpeg: Ffmpeg
  path: string
  /** Of the stream to follow. */
  index: number
  stallMs: number
  /** Bytes beyond which it is killed. */
  maxMemoryBytes: number
  signal?: AbortSignal | undefined
}

/** The whole file is read, for one number. */
const NICENESS = 10

/** Seconds; 0 when there are no packets. Throws MediaError as `runFfmpeg` does. */
export async function measureDuration(options: MeasureOptions): Promise<number> {
  const { ffmpeg, path, index, stallMs, maxMemoryBytes, signal } = options
  let duration = 0
  await runFfmpeg({
    ffmpeg,
    signal,
    limits: { stallMs, maxMemoryBytes },
    niceness: NICENESS,
    duration: 0,
    onTime: (seconds) => {
      duration = Math.max(duration, seconds)
    },
    spec: {
      inputs: [{ source: path, options: inputGuard() }],
      filter: undefined,
      threads: 1,
      outputs: [{ target: '-', options: ['-map', `0:${index}`, '-c', 'copy', '-f', 'null'] }],
    },
  })
  return duration
}
