// Stops reading from a socket in this process for good, so that another process can read on.

import type { Socket } from 'node:net'

/**
 * Pausing a socket only stops its events: its handle reads on into the buffer of the stream, and what arrives while the handle is on its way to
 * another process would be lost. Node has no public call for this (`pauseOnConnect` is for sockets that were never read).
 */
export function stopReading(socket: Socket): void {
  socket.pause()
  const handle: unknown = Reflect.get(socket, '_handle')
  if (!isReading(handle)) return
  handle.reading = false
  handle.readStop()
}

/** The bytes that the stream holds; nothing is read after them. Only another process can read from this socket then. */
export function takeBuffered(socket: Socket): Buffer {
  const parts: Buffer[] = []
  for (let part: Buffer | null = socket.read(); part !== null; part = socket.read()) parts.push(part)
  // An empty buffer made the stream ask for more.
  stopReading(socket)
  return Buffer.concat(parts)
}

const isReading = (handle: unknown): handle is { reading: boolean; readStop(): number } =>
  typeof handle === 'object' && handle !== null && 'readStop' in handle && typeof handle.readStop === 'function'
