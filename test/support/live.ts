// Live streams in tests: an acceptor that gives each stream to a child process, and ffmpeg as the publisher.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
  /** What the admission waits for. */
  beforeAdmission?: () => Promise<unknown>
}

export interface Started {
  port: number
  acceptor: LiveAcceptor
  /** Keys. */
  asked: string[]
  children: ChildProcess[]
}

/** Accepts the key `secret`. */
export async function startAcceptor(options: AcceptorOptions): Promise<Started> {
  const { folder, seconds = 1, tls, limits = {}, logger = silentLogger, beforeAdmission } = options
  const asked: string[] = []
  const children: ChildProcess[] = []
  const acceptor = makeLiveAcceptor({
    hostname: '127.0.0.1',
    port: 0,
    tls,
    limits,
    logger,
    async admit(streamKey) {
      asked.push(streamKey)
      await beforeAdmission?.()
      return streamKey === 'secret' ? { accepted: true as const } : { accepted: false as const, reason: 'No such key.' }
    },
    adopt({ socket, handover }) {
      const child = fork(CHILD, [folder, `${seconds}`], { execArgv: ['--disable-warning=ExperimentalWarning'] })
      children.push(child)
      child.send({ handover }, socket)
    },
  })
  return { ...(await acceptor.start()), acceptor, asked, children }
}

export interface Published {
  code: number | null
  /** What ffmpeg said. */
  said: string
}

/** Publishes `seconds` of a test picture with sound (25 frames per second, a key frame each second), as fast as it goes. */
export const publish = (url: string, options: { seconds: number; paced?: boolean }): Promise<Published> =>
  encode(['-f', 'flv', url], options)

/** The same, to an output of ffmpeg. */
export async function encode(output: string[], { seconds, paced = false }: { seconds: number; paced?: boolean }): Promise<Published> {
  const { ffmpegPath } = await serverFfmpeg()
  const speed = paced ? ['-re'] : []
  const picture = [...speed, '-f', 'lavfi', '-i', `testsrc=size=320x240:rate=25:duration=${seconds}`]
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:d=${seconds}`]
  const codecs = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-g', '25', '-sc_threshold', '0', '-c:a', 'aac']
  const child = spawn(ffmpegPath, ['-v', 'info', ...picture, ...sound, ...codecs, ...output], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  return { code, said }
}

export interface LiveResult {
  pieces: LivePiece[]
  end: StreamEnd
  cut: CutEnd
}

export async function notedPieces(folder: string): Promise<LivePiece[]> {
  return (await notesOf(folder)).flatMap(({ piece }) => (piece ? [piece] : []))
}

/** What the child noted, once its stream has ended. */
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
