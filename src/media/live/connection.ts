// One RTMP connection after its handshake: answers protocol control messages by itself, and gives commands and media to its user.

import type { Socket } from 'node:net'
import { type AmfValue, readAmf } from './amf0.ts'
import { type ChunkLimits, makeChunkReader, type RtmpMessage } from './chunk-reader.ts'
import { acknowledgement, userControl } from './chunk-writer.ts'
import type { ChunkState } from './handover.ts'
import { messageTypes, userEvents } from './message-types.ts'
import { ProtocolError } from './protocol-error.ts'

export type RtmpEvent =
  | { kind: 'command'; name: string; transaction: number; values: AmfValue[]; messageStream: number }
  /** `payload` is the body of an FLV tag. `timestamp`: ms, modulo 2^32. */
  | { kind: 'audio' | 'video'; timestamp: number; payload: Buffer }
  | { kind: 'metadata'; values: AmfValue[] }

export type RtmpConnection = ReturnType<typeof makeConnection>

export interface ConnectionOptions {
  limits: ChunkLimits
  /** Messages of any kind that are read; unlimited by default. */
  mostMessages?: number
  /** Called for each answer that the protocol asks for. */
  write: (bytes: Buffer) => void
  /** Of an earlier process. */
  state?: ChunkState
}

/** Bytes after which this side wants an acknowledgement. */
export const WINDOW_BYTES = 2_500_000
/** A header of FLV tags inside an aggregate message, and the length that follows each. */
const TAG_HEADER = 11
const TAG_TRAILER = 4
/** Bytes of answers that may wait for the peer to read. */
const MOST_UNREAD = 256 * 1024

/** Writes answers to a peer, which decides how many there are. Throws ProtocolError if it does not read them. */
export const writeAnswersTo =
  (socket: Pick<Socket, 'write' | 'writableLength'>) =>
  (bytes: Buffer): void => {
    if (socket.writableLength > MOST_UNREAD) throw new ProtocolError('The peer does not read the answers that it asks for.')
    socket.write(bytes)
  }

export function makeConnection({ limits, mostMessages = Number.POSITIVE_INFINITY, write, state }: ConnectionOptions) {
  const reader = makeChunkReader({ limits, state })
  let { window, received, acknowledged } = state ?? { window: 0, received: 0, acknowledged: 0 }
  let messages = 0
  /** Of an aggregate message, which may hold hundreds of thousands. */
  let pending: Iterator<RtmpEvent> | undefined

  return {
    push(bytes: Buffer) {
      reader.push(bytes)
      received += bytes.length
      // A peer that does not ask may not read: closing with unread bytes, it would reset the connection and lose the end of its stream.
      if (window === 0 || received - acknowledged < window) return
      acknowledged = received
      write(acknowledgement(received))
    },
    /** The next event, or undefined until more bytes are pushed. Throws ProtocolError. */
    next(): RtmpEvent | undefined {
      for (;;) {
        const event = pending?.next()
        if (event && !event.done) return event.value
        const message = reader.next()
        if (!message) return undefined
        messages += 1
        if (messages > mostMessages) throw new ProtocolError('There are too many messages before a stream is asked for.')
        pending = eventsOf(message)[Symbol.iterator]()
      }
    },
    // Events of a message that was read are lost with the process: the state is taken right after a command, which is alone in its message.
    state(): ChunkState {
      return { ...reader.state(), window, received, acknowledged }
    },
  }

  function eventsOf(message: RtmpMessage): Iterable<RtmpEvent> {
    const { type, payload } = message
    switch (type) {
      case messageTypes.setChunkSize:
        reader.setChunkSize(numberOf(payload))
        return []
      case messageTypes.abort:
        reader.abort(numberOf(payload))
        return []
      case messageTypes.windowSize:
        window = numberOf(payload)
        return []
      case messageTypes.userControl:
        if (payload.length >= 6 && payload.readUInt16BE() === userEvents.ping) write(userControl(userEvents.pong, payload.readUInt32BE(2)))
        return []
      case messageTypes.command:
        return commandOf(payload, message.messageStream)
      case messageTypes.commandAmf3:
        return commandOf(payload.subarray(1), message.messageStream)
      case messageTypes.aggregate:
        return eventsOfAggregate(message)
      default:
        return mediaOf(message)
    }
  }
}

function mediaOf({ type, timestamp, payload }: Pick<RtmpMessage, 'type' | 'timestamp' | 'payload'>): RtmpEvent[] {
  // Encoders send empty messages when a stream has no data.
  if (payload.length === 0) return []
  switch (type) {
    case messageTypes.audio:
      return [{ kind: 'audio', timestamp, payload }]
    case messageTypes.video:
      return [{ kind: 'video', timestamp, payload }]
    case messageTypes.data:
      return metadataOf(payload)
    case messageTypes.dataAmf3:
      return metadataOf(payload.subarray(1))
    default:
      return []
  }
}

function commandOf(payload: Buffer, messageStream: number): RtmpEvent[] {
  const [name, transaction, ...values] = readAmf(payload)
  if (typeof name !== 'string') throw new ProtocolError('A command has no name.')
  return [{ kind: 'command', name, transaction: typeof transaction === 'number' ? transaction : 0, values, messageStream }]
}

/** Only `onMetaData`: cue points and captions of other data messages have no use here. */
function metadataOf(payload: Buffer): RtmpEvent[] {
  const values = readAmf(payload)
  const at = values[0] === '@setDataFrame' ? 1 : 0
  return values[at] === 'onMetaData' ? [{ kind: 'metadata', values: values.slice(at + 1) }] : []
}

/** Of the FLV tags of an aggregate message. Their times count from the first one's, which has the time of the message. */
function* eventsOfAggregate({ payload, timestamp }: RtmpMessage): Generator<RtmpEvent> {
  let first: number | undefined
  for (let at = 0; at + TAG_HEADER <= payload.length; ) {
    const end = at + TAG_HEADER + payload.readUIntBE(at + 1, 3)
    if (end > payload.length) throw new ProtocolError('An aggregate message is cut short.')
    const own = payload.readUIntBE(at + 4, 3) + payload.readUInt8(at + 7) * 2 ** 24
    first ??= own
    const part = {
      type: payload.readUInt8(at),
      timestamp: (timestamp + own - first) >>> 0,
      payload: payload.subarray(at + TAG_HEADER, end),
    }
    yield* mediaOf(part)
    at = end + TAG_TRAILER
  }
}

function numberOf(payload: Buffer): number {
  if (payload.length < 4) throw new ProtocolError('A protocol control message is cut short.')
  return payload.readUInt32BE()
}
