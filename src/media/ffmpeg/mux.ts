// Puts the picture of one file and the sound of another into one MP4 on the fly, without encoding: fragmented, so that its
// first bytes are there at once and nothing is written to the disk.

import { spawn } from 'node:child_process'
import { type Readable, Transform } from 'node:stream'
import { MediaError } from '../errors.ts'
import { killGroup, lowerPriority } from '../process.ts'
import type { Ffmpeg } from './find.ts'
import { inputGuard } from './guard.ts'

export interface MuxOptions {
  ffmpeg: Ffmpeg
  /** The paths of files that a ladder made. */
  picture: string
  sound: string
  /** Milliseconds in which no byte is made, or none is read, until the process is killed. */
  stallMs: number
  /** 0 to 19: how much the process yields to others. */
  niceness: number
}

export interface Mux {
  /**
   * The MP4. Destroying it kills the process. Fails with MediaError `stalled` or `failed`, and ends only when the file is
   * whole.
   */
  stream: Readable
  /** When the process is gone, however it ended. */
  gone: Promise<void>
}

/** Milliseconds. */
const LOOK_EVERY = 1000
const TAIL_CHARS = 2000
/** Microseconds: sound alone has no key frames to cut at. */
const FRAGMENT = 4_000_000

/** Reads no faster than its reader: ffmpeg waits with the pipe full. */
export function muxStreams({ ffmpeg, picture, sound, stallMs, niceness }: MuxOptions): Mux {
  const child = spawn(ffmpeg.ffmpegPath, argumentsOf(picture, sound), {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) lowerPriority(child.pid, niceness)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-TAIL_CHARS)
  })
  // `close` would wait until all that was made is read.
  const end = new Promise<number | null>((resolve) => {
    child.once('exit', resolve)
    child.once('error', (error) => {
      said ||= error.message
      resolve(null)
    })
  })

  let movedAt = performance.now()
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      movedAt = performance.now()
      done(null, chunk)
    },
    // A file that was cut off must not look like a whole one.
    flush(done) {
      end.then((code) => {
        const isWhole = code === 0
        done(isWhole ? null : new MediaError('failed', 'The files cannot be put together.', { detail: said }))
      }, done)
    },
  })
  child.stdout.on('error', (error) => stream.destroy(error)).pipe(stream)
  const watch = setInterval(
    () => {
      if (performance.now() - movedAt <= stallMs) return
      stream.destroy(new MediaError('stalled', 'The download made no progress, or was not read.', { detail: said }))
    },
    Math.min(LOOK_EVERY, stallMs),
  )
  stream.once('close', () => {
    clearInterval(watch)
    killGroup(child)
    child.stdout.destroy()
  })
  return { stream, gone: end.then(() => undefined) }
}

function argumentsOf(picture: string, sound: string): string[] {
  const inputs = [picture, sound].flatMap((path) => [...inputGuard(), '-i', path])
  const streams = ['-map', '0:v:0', '-map', '1:a:0', '-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1']
  const fragments = ['-movflags', '+frag_keyframe+empty_moov+delay_moov+default_base_moof']
  const shape = [...fragments, '-frag_duration', `${FRAGMENT}`, '-max_muxing_queue_size', '4096', '-f', 'mp4']
  return ['-hide_banner', '-nostdin', '-loglevel', 'error', ...inputs, ...streams, ...shape, 'pipe:1']
}
