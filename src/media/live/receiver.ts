// Receives the stream of a connection that was handed over, as FLV, until either side ends it. Runs in a process of its own.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import type { AmfValue } from './amf0.ts'
import { publishEnded, publishRefused, publishStarted } from './answers.ts'
import { isCoded, videoHead } from './codecs.ts'
import { makeConnection, type RtmpEvent, writeAnswersTo } from './connection.ts'
import { type Handover, handoverSchema } from './handover.ts'
import { makeOpening } from './opening.ts'
import { pictureSize } from './picture-size.ts'
import { ProtocolError } from './protocol-error.ts'
import { makeTimeline } from './timeline.ts'

/**
 * - `finished`: the publisher said so.
 * - `disconnected`: the connection broke.
 * - `silent`: no sound or picture came for too long.
 * - `invalid`: what came breaks the protocol or a bound.
 * - `stopped`: `stop` was called, or the reader of the stream went away.
 */
export type StreamEndReason = 'finished' | 'disconnected' | 'silent' | 'invalid' | 'stopped'

export interface StreamEnd {
  reason: StreamEndReason
  /** For the log of the operator. */
  detail: string
}

export interface ReceivedStream {
  /** FLV with rebased times: the first frame is at 0. It ends without an error for each reason, and its reader slows the publisher down. */
  flv: Readable
  /** Never rejects. */
  ended: Promise<StreamEnd>
  /** ms since sound or picture came; 0 while a slow reader holds the publisher back. */
  quietMs(): number
  /** Ends the stream from this side; `description` is for the publisher. */
  stop(description: string): void
}

export interface ReceiveStreamOptions {
  /** Call it in the same turn in which the socket arrives, so that no event of it is missed. */
  socket: Socket
  handover: Handover
  limits?: { silenceMs?: number }
}

const SILENCE_MS = 30_000
const MEDIA_LIMITS = { message: 8 * 2 ** 20, unfinished: 16 * 2 ** 20 }
/** Bytes of FLV that may wait for the reader. */
const BUFFER_BYTES = 2 ** 20
/** Of the event loop, each of which reads up to 64 KiB: more than the system holds for a socket. */
const MOST_TURNS = 256
/** ms that a publisher has to read why its stream ends. */
const LINGER_MS = 2_000
/** px. */
const LARGEST_SIDE = 8192

export function receiveStream({ socket, handover, limits }: ReceiveStreamOptions): ReceivedStream {
  const { connection: state, messageStream } = handoverSchema.parse(handover)
  const silenceMs = limits?.silenceMs ?? SILENCE_MS
  const flv = new PassThrough({ highWaterMark: BUFFER_BYTES })
  const write = (bytes: Buffer): void => void socket.write(bytes)
  const connection = makeConnection({ limits: MEDIA_LIMITS, write: writeAnswersTo(socket), state })
  const opening = makeOpening()
  const timeline = makeTimeline()
  let early: StreamEnd | undefined

  const over = new AbortController()
  const endEarly = (end: StreamEnd): void => {
    early ??= end
    over.abort()
    // Ends the loop; what was received before stays in the stream.
    closeSoon()
  }
  /** Lets the publisher read why. One that does not read has some time for it. */
  const closeSoon = (): void => {
    socket.destroySoon()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
  let mediaMessages = 0
  let heardAt = performance.now()
  const silence = setTimeout(async () => {
    const before = mediaMessages
    // What came while this process was busy or suspended is read first; a publisher may go on to send what is no media.
    for (let read = -1, turns = 0; turns < MOST_TURNS && read !== socket.bytesRead && mediaMessages === before; turns += 1) {
      read = socket.bytesRead
      await nextTurn()
    }
    // A publisher whom a slow reader holds back is not silent.
    if (flv.writableNeedDrain || mediaMessages > before) silence.refresh()
    else endEarly({ reason: 'silent', detail: `No media came for ${silenceMs} ms.` })
  }, silenceMs)
  flv.once('close', () => endEarly({ reason: 'stopped', detail: 'The reader of the stream went away.' }))
  // The loop below gets the error.
  socket.on('error', () => undefined)
  write(publishStarted(messageStream))

  return {
    flv,
    ended: receive()
      .catch((error: unknown): StreamEnd => {
        const reason = error instanceof ProtocolError ? 'invalid' : 'disconnected'
        return { reason, detail: messageOf(error) }
      })
      .then((end) => {
        const final = early ?? end
        early = final
        clearTimeout(silence)
        if (final.reason === 'finished') write(publishEnded(messageStream, final.detail))
        if (final.reason === 'invalid') write(publishRefused(messageStream, final.detail))
        for (const bytes of opening.end()) flv.write(bytes)
        flv.end()
        closeSoon()
        return final
      }),
    quietMs: () => (flv.writableNeedDrain ? 0 : performance.now() - heardAt),
    stop(description) {
      write(publishEnded(messageStream, description))
      endEarly({ reason: 'stopped', detail: description })
    },
  }

  async function receive(): Promise<StreamEnd> {
    const left = await readOut()
    if (left) return left
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      connection.push(bytes)
      const end = await readOut()
      if (end) return end
    }
    return { reason: 'disconnected', detail: 'The publisher closed the connection.' }
  }

  /** All events of the bytes so far, and the end if one is among them. */
  async function readOut(): Promise<StreamEnd | undefined> {
    for (let event = connection.next(); event; event = connection.next()) {
      if (event.kind === 'command') {
        if (ENDS.has(event.name)) return { reason: 'finished', detail: `The publisher sent ${event.name}.` }
      } else if (event.kind === 'metadata') {
        assertMetadata(event.values)
        opening.metadata(event.values)
      } else {
        mediaMessages += 1
        heardAt = performance.now()
        silence.refresh()
        await pass(event)
      }
    }
    return undefined
  }

  async function pass({ kind, timestamp, payload }: Extract<RtmpEvent, { payload: Buffer }>): Promise<void> {
    if (kind === 'video') assertPicture(payload)
    const time = isCoded(kind, payload) ? timeline.timeOf(timestamp) : timeline.newest()
    for (const bytes of opening.take({ type: kind, timestamp: time, body: payload })) {
      if (flv.write(bytes)) continue
      await once(flv, 'drain', { signal: over.signal })
      silence.refresh()
    }
  }
}

const ENDS: ReadonlySet<string> = new Set(['FCUnpublish', 'deleteStream', 'closeStream'])

function assertPicture(body: Buffer): void {
  const { codec, configurationAt } = videoHead(body)
  if (configurationAt !== undefined) assertSize(pictureSize(codec, body.subarray(configurationAt)))
}

function assertMetadata(values: AmfValue[]): void {
  const given = values[0]
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return
  const { width, height } = given
  if (typeof width === 'number' && typeof height === 'number') assertSize({ width, height })
}

function assertSize(size: { width: number; height: number } | undefined): void {
  if (size && Math.max(size.width, size.height) > LARGEST_SIDE) {
    throw new ProtocolError(`The picture of ${size.width} × ${size.height} px is too large.`)
  }
}
