// Writes RTMP messages as chunks. Each begins with a whole header, so that nothing has to be remembered between messages.

import { type AmfValue, writeAmf } from './amf0.ts'
import type { FlvTag } from './flv.ts'
import { messageTypes } from './message-types.ts'

interface Outgoing {
  chunkStream: number
  type: number
  messageStream?: number
  /** ms. */
  timestamp?: number
  payload: Buffer
}

/** Announced by `setOutgoingChunkSize` before the first message that is larger than 128 bytes. */
const CHUNK_SIZE = 4096
const CONTROL = 2
const COMMAND = 3
const MEDIA = 4
/** A timestamp that says that the real one follows the header (RTMP 1.0, section 5.3.1.3). */
const EXTENDED = 0xffffff

export function writeMessage({ chunkStream, type, messageStream = 0, timestamp = 0, payload }: Outgoing): Buffer {
  const extended = timestamp < EXTENDED ? Buffer.alloc(0) : Buffer.alloc(4)
  if (extended.length > 0) extended.writeUInt32BE(timestamp % 2 ** 32)
  const header = Buffer.alloc(12)
  header.writeUInt8(chunkStream, 0)
  header.writeUIntBE(Math.min(timestamp, EXTENDED), 1, 3)
  header.writeUIntBE(payload.length, 4, 3)
  header.writeUInt8(type, 7)
  header.writeUInt32LE(messageStream, 8)
  const parts: Buffer[] = [header, extended]
  for (let at = 0; at < payload.length; at += CHUNK_SIZE) {
    if (at > 0) parts.push(Buffer.from([0xc0 | chunkStream]), extended)
    parts.push(payload.subarray(at, at + CHUNK_SIZE))
  }
  return Buffer.concat(parts)
}

/** A tag of FLV as a message. */
export const writeTag = (messageStream: number, { type, timestamp, body }: FlvTag): Buffer =>
  writeMessage({ chunkStream: MEDIA, type: TAG_MESSAGES[type], messageStream, timestamp, payload: body })

const TAG_MESSAGES = { audio: messageTypes.audio, video: messageTypes.video, script: messageTypes.data } as const

export const writeCommand = (messageStream: number, ...values: AmfValue[]): Buffer =>
  writeMessage({ chunkStream: COMMAND, type: messageTypes.command, messageStream, payload: writeAmf(...values) })

export const acknowledgement = (received: number): Buffer => control(messageTypes.acknowledgement, received)

export const windowSize = (bytes: number): Buffer => control(messageTypes.windowSize, bytes)

export const setOutgoingChunkSize = (): Buffer => control(messageTypes.setChunkSize, CHUNK_SIZE)

/** With the limit type "dynamic". */
export function peerBandwidth(bytes: number): Buffer {
  const payload = Buffer.alloc(5)
  payload.writeUInt32BE(bytes)
  payload.writeUInt8(2, 4)
  return writeMessage({ chunkStream: CONTROL, type: messageTypes.peerBandwidth, payload })
}

/** `value`: a message stream, or the time of a ping. */
export function userControl(event: number, value: number): Buffer {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(event)
  payload.writeUInt32BE(value, 2)
  return writeMessage({ chunkStream: CONTROL, type: messageTypes.userControl, payload })
}

function control(type: number, value: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(value >>> 0)
  return writeMessage({ chunkStream: CONTROL, type, payload })
}
