// Measures the duration of a file whose header lacks it or cannot be trusted: reads all packets, decodes none.

import type { Ffmpeg } from './find.ts'
import { inputGuard } from './guard.ts'
import { runFfmpeg } from './run.ts'

export interface MeasureOptions {
  ffmpeg: Ffmpeg
  path: string
  /** Index of the stream. */
  index: number
  stallMs: number
  /** Bytes beyond which it is killed. */
  maxMemoryBytes: number
  signal?: AbortSignal | undefined
}

/** The whole file is read, for one number. */
const NICENESS = 10

/** Seconds; 0 without packets. Throws MediaError like `runFfmpeg`. */
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
