// Muxes the picture of one file and the sound of another into one MP4 on the fly, without encoding: fragmented, so that its first bytes are
// available at once and nothing is written to disk.

import { spawn } from 'node:child_process'
import { Readable, Transform, Writable } from 'node:stream'
import { MediaError } from '../errors.ts'
import { killGroup, lowerPriority } from '../process.ts'
import type { Ffmpeg } from './find.ts'
import { inputGuard } from './guard.ts'

export interface MuxOptions {
  ffmpeg: Ffmpeg
  picture: MuxInput
  sound: MuxInput
  /** Milliseconds without written or read bytes until the process is killed. Received bytes of an input count too. */
  stallMs: number
  /** 0 to 19: the niceness of the process. */
  niceness: number
}

/** The path of a file, or a stream of its bytes that can be read without seeking. */
export type MuxInput = string | Readable

export interface Mux {
  /**
   * The MP4. Destroying it kills the process and destroys the inputs. Fails with MediaError `stalled` or `failed`, or with the error of an
   * input, and ends only if the file is complete.
   */
  stream: Readable
  /** Resolves when the process has ended, in any way. */
  gone: Promise<void>
}

/** The descriptor of the first piped input. */
const FIRST_PIPE = 3
/** Milliseconds. */
const LOOK_EVERY = 1000
const TAIL_CHARS = 2000
/** Microseconds: sound alone has no key frames to cut at. */
const FRAGMENT = 4_000_000

/** Limited by its reader: ffmpeg waits while the pipe is full. */
export function muxStreams({ ffmpeg, picture, sound, stallMs, niceness }: MuxOptions): Mux {
  const inputs = [picture, sound].filter((input) => input instanceof Readable)
  const child = spawn(ffmpeg.ffmpegPath, argumentsOf([picture, sound]), {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...inputs.map((): 'pipe' => 'pipe')],
  })
  let said = ''
  // `close` would wait until all output is read.
  const end = new Promise<number | null>((resolve) => {
    child.once('exit', resolve)
    child.once('error', (error) => {
      said ||= error.message
      resolve(null)
    })
  })
  const { stdout, stderr } = child
  const pipes = (child.stdio ?? []).slice(FIRST_PIPE).filter((pipe) => pipe instanceof Writable)
  // For example if too many files are open.
  if (!stdout || !stderr || pipes.length < inputs.length) throw new MediaError('failed', 'ffmpeg cannot be started.')
  if (child.pid !== undefined) lowerPriority(child.pid, niceness)
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-TAIL_CHARS)
  })

  let movedAt = performance.now()
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      movedAt = performance.now()
      done(null, chunk)
    },
    // A truncated file must not look complete.
    flush(done) {
      end.then((code) => {
        const isWhole = code === 0
        done(isWhole ? null : new MediaError('failed', 'The files cannot be put together.', { detail: said }))
      }, done)
    },
  })
  stdout.on('error', (error) => stream.destroy(error)).pipe(stream)
  for (const [index, input] of inputs.entries()) {
    const fail = (error: Error): void => void stream.destroy(error)
    input.on('error', fail).on('data', () => {
      movedAt = performance.now()
    })
    if (input.errored) fail(input.errored)
    // ffmpeg may end before it has read everything; its exit code tells whether it succeeded.
    const pipe = pipes[index]?.on('error', () => input.destroy())
    if (pipe) input.pipe(pipe)
  }
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
    stdout.destroy()
    leave()
  })
  return { stream, gone: end.then(leave) }

  function leave(): void {
    for (const one of [...inputs, ...pipes]) one.destroy()
  }
}

function argumentsOf(given: readonly MuxInput[]): string[] {
  const pipes = given.filter((input) => input instanceof Readable)
  const inputs = given.flatMap((input) =>
    input instanceof Readable ? [...inputGuard('pipe'), '-i', `pipe:${FIRST_PIPE + pipes.indexOf(input)}`] : [...inputGuard(), '-i', input],
  )
  // If it has to seek in a pipe, it would continue with an incomplete file.
  const strict = pipes.length > 0 ? ['-xerror'] : []
  const streams = ['-map', '0:v:0', '-map', '1:a:0', '-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1']
  const fragments = ['-movflags', '+frag_keyframe+empty_moov+delay_moov+default_base_moof']
  const shape = [...fragments, '-frag_duration', `${FRAGMENT}`, '-max_muxing_queue_size', '4096', '-f', 'mp4']
  return ['-hide_banner', '-nostdin', '-loglevel', 'error', ...strict, ...inputs, ...streams, ...shape, 'pipe:1']
}
