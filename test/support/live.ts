// Live streams in tests: an acceptor that passes each stream to a child process, and ffmpeg as the publisher.

import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  type CutEnd,
  type LiveAcceptor,
  type LiveAcceptorLimits,
  type LivePiece,
  makeLiveAcceptor,
  type StreamEnd,
} from '../../src/media/index.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import { serverFfmpeg } from './media.ts'
import { until } from './until.ts'

const CHILD = fileURLToPath(new URL('./live-child.ts', import.meta.url))

export interface AcceptorOptions {
  folder: string
  seconds?: number
  tls?: { key: string; cert: string }
  limits?: Partial<LiveAcceptorLimits>
  logger?: Logger
  /** Awaited before a stream is admitted. */
  beforeAdmission?: () => Promise<unknown>
}

export interface Started {
  port: number
  acceptor: LiveAcceptor
  /** Stream keys. */
  requested: string[]
  children: ChildProcess[]
}

/** Accepts the key `secret`. */
export async function startAcceptor(options: AcceptorOptions): Promise<Started> {
  const { folder, seconds = 1, tls, limits = {}, logger = silentLogger, beforeAdmission } = options
  const requested: string[] = []
  const children: ChildProcess[] = []
  const acceptor = makeLiveAcceptor({
    hostname: '127.0.0.1',
    port: 0,
    tls,
    limits,
    logger,
    async admit({ name }) {
      requested.push(name)
      await beforeAdmission?.()
      return name === 'secret' ? { accepted: true as const } : { accepted: false as const, reason: 'No such key.' }
    },
    adopt({ socket, handover }) {
      const child = fork(CHILD, [folder, `${seconds}`], { execArgv: ['--disable-warning=ExperimentalWarning'] })
      children.push(child)
      child.send({ handover }, socket)
    },
  })
  return { ...(await acceptor.start()), acceptor, requested, children }
}

export interface Published {
  code: number | null
  /** Output of ffmpeg. */
  said: string
}

export interface Sending {
  seconds: number
  /** In real time; otherwise as fast as possible. */
  paced?: boolean
  /** Draws the frame number on each frame, from this number on; `numbersIn` reads it. */
  numberedFrom?: number
  /** Ends the stream like an encoder that its user stops; with the reason `vanished`, like one whose machine fails. */
  signal?: AbortSignal
}

/** Publishes `seconds` of a test picture with sound (25 fps, a key frame each second). */
export const publish = (url: string, options: Sending): Promise<Published> => encode(['-f', 'flv', url], options)

/** The same, to any output of ffmpeg. */
export async function encode(output: string[], { seconds, paced = false, numberedFrom, signal }: Sending): Promise<Published> {
  const { ffmpegPath } = await serverFfmpeg()
  const speed = paced ? ['-re'] : []
  const shown = numberedFrom === undefined ? `testsrc=size=320x240:rate=25:duration=${seconds}` : numbered(numberedFrom, seconds)
  const picture = [...speed, '-f', 'lavfi', '-i', shown]
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:d=${seconds}`]
  const codecs = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-g', '25', '-sc_threshold', '0', '-c:a', 'aac']
  const child = spawn(ffmpegPath, ['-v', 'info', ...picture, ...sound, ...codecs, ...output], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  signal?.addEventListener('abort', () => child.kill(signal.reason === 'vanished' ? 'SIGKILL' : 'SIGINT'))
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  return { code, said }
}

/** The bits of a frame number, each drawn as a black or white block. */
const BITS = 16

const numbered = (from: number, seconds: number): string =>
  `color=black:size=${BITS}x2:rate=25:duration=${seconds},` +
  `geq=lum='if(mod(floor((N+${from})/pow(2,X)),2),235,16)':cb=128:cr=128,scale=320:240:flags=neighbor,setsar=1`

/** The frame numbers of a file, in order. */
export async function numbersIn(path: string): Promise<number[]> {
  const { ffmpegPath } = await serverFfmpeg()
  const small = ['-vf', `scale=${BITS}:1:flags=area,format=gray`, '-vsync', 'passthrough', '-f', 'rawvideo', 'pipe:1']
  const env = { ...process.env, GCONV_PATH: '/nonexistent' }
  const options = { encoding: 'buffer', maxBuffer: 2 ** 26, env } as const
  const { stdout } = await promisify(execFile)(ffmpegPath, ['-v', 'error', '-i', path, '-map', '0:v:0', ...small], options)
  return Array.from({ length: stdout.length / BITS }, (_, place) =>
    stdout.subarray(place * BITS, (place + 1) * BITS).reduce((sum, level, bit) => sum + (level > 127 ? 2 ** bit : 0), 0),
  )
}

export interface LiveResult {
  pieces: LivePiece[]
  end: StreamEnd
  cut: CutEnd
}

export async function notedPieces(folder: string): Promise<LivePiece[]> {
  return (await notesOf(folder)).flatMap(({ piece }) => (piece ? [piece] : []))
}

/** The log of the child, once its stream has ended. */
export async function liveResult(folder: string): Promise<LiveResult> {
  return await until(
    async () => {
      const notes = await notesOf(folder)
      const last = notes.at(-1)
      if (!last?.end || !last.cut) return undefined
      return { pieces: notes.flatMap(({ piece }) => (piece ? [piece] : [])), end: last.end, cut: last.cut }
    },
    { what: 'the end of the stream' },
  )
}

interface Note {
  piece?: LivePiece
  end?: StreamEnd
  cut?: CutEnd
}

async function notesOf(folder: string): Promise<Note[]> {
  const text = await readFile(join(folder, 'log.jsonl'), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
