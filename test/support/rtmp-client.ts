// An RTMP publisher for tests that can send invalid messages, or everything at once.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { AmfValue } from '../../src/media/live/amf0.ts'
import { writeCommand, writeMessage } from '../../src/media/live/chunk-writer.ts'

/** C0, C1 and C2. */
export const clientHandshake = (): Buffer => Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1536)])

/** The commands of a publisher, up to `publish`. */
export const publishCommands = (key = 'secret', app = 'live'): Buffer =>
  Buffer.concat([
    rawMessage(1, Buffer.from([0, 0, 0x10, 0])),
    writeCommand(0, 'connect', 1, { app, type: 'nonprivate', tcUrl: `rtmp://127.0.0.1/${app}` }),
    writeCommand(0, 'releaseStream', 2, null, key),
    writeCommand(0, 'FCPublish', 3, null, key),
    writeCommand(0, 'createStream', 4, null),
    writeCommand(1, 'publish', 5, null, key, 'live'),
  ])

export const rawMessage = (type: number, payload: Buffer, chunkStream = 2): Buffer => writeMessage({ chunkStream, type, payload })

/** An audio or video message with a timestamp, in one chunk of up to 4096 bytes. */
export function mediaMessage(type: 8 | 9, timestamp: number, payload: Buffer): Buffer {
  const bytes = writeMessage({ chunkStream: type === 8 ? 4 : 6, type, messageStream: 1, payload })
  bytes.writeUIntBE(timestamp, 1, 3)
  return bytes
}

export const command = (...values: AmfValue[]): Buffer => writeCommand(1, ...values)

export async function rtmpClient(port: number): Promise<{ socket: Socket; closed: Promise<void>; received: () => Buffer }> {
  const socket = connect(port, '127.0.0.1')
  const parts: Buffer[] = []
  socket.on('data', (bytes) => parts.push(bytes)).on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  return { socket, closed, received: () => Buffer.concat(parts) }
}
