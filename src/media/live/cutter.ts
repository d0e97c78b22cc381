// Cuts a live FLV stream into pieces of MPEG-TS at key frames. One ffmpeg repackages the stream without encoding; the pieces are cut here, so
// that their lengths are exact and none appears under its name before it is complete.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { messageOf } from '../errors.ts'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import { killGroup, lowerPriority } from '../process.ts'
import { audioHead, videoHead } from './codecs.ts'
import { type FlvTag, makeTagWatch } from './flv.ts'
import { pieceName } from './piece-name.ts'
import { openPiece, type PieceWriter } from './piece-writer.ts'
import { ProtocolError } from './protocol-error.ts'
import { makeTsCutter } from './ts-cutter.ts'

export interface LivePiece {
  path: string
  sequence: number
  /** Exact. */
  seconds: number
  bytes: number
  /** In hexadecimal. */
  sha256: string
  /** When its first picture was received (EXT-X-PROGRAM-DATE-TIME). */
  startsAt: Date
  /** True for the first piece after an earlier generation. */
  discontinuity: boolean
}

/**
 * - `ended`: the stream ended, and all of it is in pieces.
 * - `unsupported`: MPEG-TS cannot carry its codec, or this ffmpeg cannot read it.
 * - `invalid`: it cannot be cut, such as a picture without key frames.
 * - `failed`: ffmpeg or the disk failed.
 * - `aborted`: by the signal.
 */
export interface CutEnd {
  reason: 'ended' | 'unsupported' | 'invalid' | 'failed' | 'aborted'
  /** For the log of the operator. */
  detail: string
}

export interface CutPiecesOptions {
  ffmpeg: Ffmpeg
  flv: Readable
  /** Exists, and holds only pieces of this session. */
  folder: string
  /** The least length of a piece, but for a tenth of a second; a piece ends at the next key frame. */
  seconds: number
  /** Of the first piece: files are named `0-000001.ts` for 1. */
  firstSequence: number
  /** True if pieces of an earlier generation precede. */
  isContinuation: boolean
  /**
   * Called for one piece at a time, in order. Meanwhile up to 64 more pieces are cut. If it throws, cutting ends, and `cutPieces` throws the
   * same error.
   */
  onPiece: (piece: LivePiece) => void | Promise<void>
  clock: Clock
  logger: Logger
  /** 0 to 19: of ffmpeg. */
  niceness?: number
  signal?: AbortSignal
}

/** Pieces that wait for `onPiece`. */
const MOST_WAITING = 64
/** Of a piece: without key frames it would never end. */
const LONGEST_SECONDS = 60
const LARGEST_BYTES = 512 * 2 ** 20
const TAIL_CHARS = 2_000
/** Microseconds that ffmpeg waits for a stream which is announced and sends nothing. */
const PATIENCE = 1_000_000

const ARGUMENTS = [
  ...['-hide_banner', '-nostdin', '-loglevel', 'warning'],
  ...[...inputGuard('pipe'), '-copyts', '-f', 'flv', '-i', 'pipe:0'],
  ...['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy', '-map_metadata', '-1', '-max_interleave_delta', `${PATIENCE}`],
  // Each frame is written at once, also those of sound: a piece so ends with the last frame before the next one's first.
  ...['-pes_payload_size', '0', '-flush_packets', '1', '-f', 'mpegts', 'pipe:1'],
]

/** Why the work ended before the stream did. */
class CutError extends Error {
  override readonly name = 'CutError'
  readonly reason: CutEnd['reason']
  constructor(reason: CutEnd['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Cuts until the stream ends; what is in hand then is the last piece. */
export async function cutPieces(options: CutPiecesOptions): Promise<CutEnd> {
  const { ffmpeg, flv, logger, niceness = 0, signal } = options
  const child = spawn(ffmpeg.ffmpegPath, ARGUMENTS, { detached: true, stdio: 'pipe' })
  const kill = (): void => killGroup(child)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-TAIL_CHARS)
  })
  const gone = once(child, 'close').then(
    ([code]: unknown[]) => code,
    (error: unknown) => {
      said = messageOf(error)
      return undefined
    },
  )
  // A source that is idle would not notice.
  child.once('exit', () => flv.destroy())
  if (child.pid !== undefined) lowerPriority(child.pid, niceness)
  signal?.addEventListener('abort', kill)
  if (signal?.aborted) kill()
  const reports = makeReports(options.onPiece, kill)
  const source = makeSource(options)
  try {
    const feeding = settled(pipeline(flv, source.checked, child.stdin))
    const cutting = settled(writePieces({ options, output: child.stdout, startsAt: source.startsAt, report: reports.report }).finally(kill))
    const [fed, cut, code] = [await feeding, await cutting, await gone]
    await reports.done()
    if (signal?.aborted) return { reason: 'aborted', detail: 'The signal ended it.' }
    for (const error of [fed, cut]) if (error instanceof CutError) return { reason: error.reason, detail: error.message }
    if (cut !== undefined) return { reason: 'failed', detail: messageOf(cut) }
    // ffmpeg fails for a stream that ends before its first byte.
    if (code === 0 || (fed === undefined && source.isEmpty())) return { reason: 'ended', detail: '' }
    logger.warn({ code, said }, 'ffmpeg ended before the live stream')
    return { reason: 'failed', detail: said.trim() || `ffmpeg ended with code ${String(code)}` }
  } finally {
    signal?.removeEventListener('abort', kill)
    kill()
    flv.destroy()
  }
}

/** The error of some work, or undefined. */
const settled = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

/** Passes the stream on to ffmpeg as long as the codecs are supported. */
function makeSource({ ffmpeg, clock }: CutPiecesOptions) {
  let startedAt: Date | undefined
  const watch = makeTagWatch((type, head) => assertSupported(type, head, ffmpeg.version))
  return {
    async *checked(flv: AsyncIterable<Buffer>) {
      for await (const bytes of flv) {
        startedAt ??= clock.now()
        try {
          watch(bytes)
        } catch (error) {
          throw error instanceof ProtocolError ? new CutError('invalid', error.message) : error
        }
        yield bytes
      }
    },
    startsAt: (seconds: number): Date => new Date((startedAt ?? clock.now()).getTime() + seconds * 1000),
    isEmpty: () => startedAt === undefined,
  }
}

function assertSupported(type: FlvTag['type'] | undefined, head: Buffer, version: string): void {
  if (type === 'video') {
    const { codec, isEnhanced } = videoHead(head)
    const isCarried = codec === 'h264' || codec === 'hevc'
    if (!isCarried) throw new CutError('unsupported', `MPEG-TS cannot carry the picture (${codec}); send H.264.`)
    if (isEnhanced && !readsEnhanced(version)) {
      throw new CutError(
        'unsupported',
        `ffmpeg ${version} cannot read ${codec} in enhanced RTMP; send H.264, or install ffmpeg 6.1 or newer.`,
      )
    }
  }
  if (type === 'audio' && audioHead(head).codec === 'other')
    throw new CutError('unsupported', 'The sound is neither AAC nor MP3; send AAC.')
}

/** Since 6.1. Names of builds from the development branch count its commits. */
function readsEnhanced(version: string): boolean {
  const [, commits] = /^N-(\d+)/.exec(version) ?? []
  if (commits !== undefined) return Number(commits) > 112_000
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? []
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 1)
}

interface Writing {
  options: CutPiecesOptions
  output: Readable
  /** The time of this second of the stream. */
  startsAt: (seconds: number) => Date
  report: (piece: LivePiece) => Promise<void>
}

async function writePieces({ options, output, startsAt, report }: Writing): Promise<void> {
  const { folder, seconds: least, firstSequence, isContinuation } = options
  const cutter = makeTsCutter(least)
  let sequence = firstSequence
  let elapsed = 0
  let writer: PieceWriter | undefined
  let size = 0

  async function finish(seconds: number): Promise<void> {
    if (!writer) return
    const file = await writer.finish()
    writer = undefined
    size = 0
    const discontinuity = isContinuation && sequence === firstSequence
    await report({ ...file, sequence, seconds, startsAt: startsAt(elapsed), discontinuity })
    sequence += 1
    elapsed += seconds
  }

  try {
    for await (const chunk of output) {
      for (const part of cutter.push(chunk)) {
        if (part.kind === 'cut') await finish(part.seconds)
        else if (part.bytes.length > 0) {
          writer ??= await openPiece(folder, pieceName(0, sequence))
          await writer.write(part.bytes)
          size += part.bytes.length
        }
      }
      if (cutter.seconds() > LONGEST_SECONDS || size > LARGEST_BYTES) {
        throw new CutError('invalid', `No key frame came for ${Math.round(cutter.seconds())} s; set the key frame interval to 2 s.`)
      }
    }
    if (!options.signal?.aborted) await finish(cutter.seconds())
  } finally {
    await writer?.discard()
  }
}

/** Calls `onPiece` for one piece at a time; `onFailure` when it throws. */
function makeReports(onPiece: CutPiecesOptions['onPiece'], onFailure: () => void) {
  let waiting = 0
  let last: Promise<void> = Promise.resolve()
  return {
    async report(piece: LivePiece): Promise<void> {
      waiting += 1
      const own = last
        .then(() => onPiece(piece))
        .finally(() => {
          waiting -= 1
        })
      last = own
      own.catch(onFailure)
      if (waiting > MOST_WAITING) await own
    },
    /** Throws what `onPiece` threw. */
    done: () => last,
  }
}
