// Sends the pieces of a live to a player, whose connection was handed over. Runs in a process of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import { killGroup, lowerPriority } from '../process.ts'
import { playEnded, playStarted } from './answers.ts'
import { writeTag } from './chunk-writer.ts'
import { makeConnection } from './connection.ts'
import { readTags } from './flv.ts'
import { type Handover, handoverSchema } from './handover.ts'

export interface SentPiece {
  /** Pieces of one generation share a timeline. */
  generation: number
  /** MPEG-TS. */
  content: AsyncIterable<Buffer>
}

export interface SendStreamOptions {
  ffmpeg: Ffmpeg
  /** Call it in the same turn in which the socket arrives, so that no event of it is missed. */
  socket: Socket
  handover: Handover
  /** In order; it may pause. Its end ends the stream. */
  pieces: AsyncIterable<SentPiece>
  /** Its codec; ignored without sound. */
  sound: 'aac' | 'mp3'
  /** 0 to 19: of ffmpeg. */
  niceness?: number
}

const COMMAND_LIMITS = { message: 64 * 1024, unfinished: 64 * 1024 }
const ENDS: ReadonlySet<string> = new Set(['deleteStream', 'closeStream'])
/** ms that a player may not read. */
const PATIENCE_MS = 30_000
/** ms between the last picture of a generation and the first of the next. */
const STEP_MS = 40

const argumentsOf = (sound: SendStreamOptions['sound']): string[] => [
  ...['-hide_banner', '-nostdin', '-loglevel', 'error'],
  // All codecs are known from the first piece.
  ...[...inputGuard('pipe'), '-analyzeduration', '1000000', '-f', 'mpegts', '-i', 'pipe:0'],
  ...['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy', '-map_metadata', '-1'],
  // AAC from a transport stream has its configuration in every frame; FLV wants it once.
  ...(sound === 'aac' ? ['-bsf:a', 'aac_adtstoasc'] : []),
  ...['-flvflags', 'no_duration_filesize', '-flush_packets', '1', '-f', 'flv', 'pipe:1'],
]

/** Sends until the pieces end, or the player leaves or stops reading. Throws what `pieces` throws. */
export async function sendStream({ ffmpeg, socket, handover, pieces, sound, niceness = 0 }: SendStreamOptions): Promise<void> {
  const { connection: state, messageStream } = handoverSchema.parse(handover)
  const left = new AbortController()
  const leave = (): void => left.abort()
  // A player that is behind gets media, and no answers.
  const answer = (bytes: Buffer): void => void (socket.writableNeedDrain || socket.write(bytes))
  const connection = makeConnection({ limits: COMMAND_LIMITS, write: answer, state })
  socket.on('error', leave).on('close', leave).on('end', leave).on('data', listen)
  socket.write(playStarted(messageStream))
  try {
    let start = 0
    for await (const content of byGeneration(pieces)) {
      let end = start
      for await (const tag of remux(content)) {
        const timestamp = start + tag.timestamp
        end = Math.max(end, timestamp)
        if (!socket.write(writeTag(messageStream, { ...tag, timestamp }))) await drained()
      }
      start = end + STEP_MS
    }
    socket.write(playEnded(messageStream))
  } catch (error) {
    if (!left.signal.aborted) throw error
  } finally {
    socket.destroySoon()
  }

  function listen(bytes: Buffer): void {
    try {
      connection.push(bytes)
      for (let event = connection.next(); event; event = connection.next()) if (event.kind === 'command' && ENDS.has(event.name)) leave()
    } catch {
      leave()
    }
  }

  async function drained(): Promise<void> {
    const late = setTimeout(leave, PATIENCE_MS)
    try {
      await once(socket, 'drain', { signal: left.signal })
    } finally {
      clearTimeout(late)
    }
  }

  /** The same sound and picture as tags of FLV, whose time begins at 0. */
  async function* remux(content: AsyncIterable<Buffer>) {
    const child = spawn(ffmpeg.ffmpegPath, argumentsOf(sound), { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
    const kill = (): void => killGroup(child)
    left.signal.addEventListener('abort', kill)
    if (left.signal.aborted) kill()
    const gone = once(child, 'close')
    if (child.pid !== undefined) lowerPriority(child.pid, niceness)
    const feeding = pipeline(Readable.from(content), child.stdin)
    feeding.catch(kill)
    try {
      yield* readTags(child.stdout)
      await feeding
      await gone
    } finally {
      left.signal.removeEventListener('abort', kill)
      kill()
    }
  }
}

/** The content of the pieces, one after the other, for each generation. */
async function* byGeneration(pieces: AsyncIterable<SentPiece>): AsyncGenerator<AsyncIterable<Buffer>> {
  const iterator = pieces[Symbol.asyncIterator]()
  let next = await iterator.next()
  async function* ofOne(generation: number) {
    while (!next.done && next.value.generation === generation) {
      yield* next.value.content
      next = await iterator.next()
    }
  }
  while (!next.done) yield ofOne(next.value.generation)
}
