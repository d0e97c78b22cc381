// Reads messages from RTMP chunks (RTMP 1.0, section 5.3). Its state can continue in another process.

import type { ChunkState } from './handover.ts'
import { ProtocolError } from './protocol-error.ts'

export interface RtmpMessage {
  type: number
  /** ms, modulo 2^32. */
  timestamp: number
  messageStream: number
  payload: Buffer
}

export interface ChunkLimits {
  /** Bytes of a message. */
  message: number
  /** Bytes of all unfinished messages together. */
  unfinished: number
}

interface ChunkStream {
  id: number
  timestamp: number
  field: number
  isExtended: boolean
  length: number
  type: number
  messageStream: number
  /** Undefined between messages. Grows with what is received, not with what is announced. */
  payload: Buffer | undefined
  received: number
}

const DEFAULT_CHUNK_SIZE = 128
/** The specification asks for at least this. */
const LEAST_CHUNK_SIZE = 128
/** A larger chunk holds no more, since a message is never larger. */
const MOST_CHUNK_SIZE = 0xff_ff_ff
const MOST_STREAMS = 16
/** The timestamp field that announces four more bytes. */
const EXTENDED = 0xff_ff_ff
const HEADER_BYTES = [11, 7, 3, 0] as const
const FIRST_CAPACITY = 4096

export function makeChunkReader({ limits, state }: { limits: ChunkLimits; state?: ChunkState | undefined }) {
  const streams = new Map<number, ChunkStream>((state?.streams ?? []).map((stream) => [stream.id, restored(stream)]))
  let chunkSize = state?.chunkSize ?? DEFAULT_CHUNK_SIZE
  let bytes: Buffer = Buffer.from(state?.rest ?? '', 'base64')
  /** The chunk whose payload is being read. */
  let open: { stream: ChunkStream; missing: number } | undefined
  const opened = state?.open && streams.get(state.open.id)
  if (state?.open && opened) open = { stream: opened, missing: state.open.missing }

  return {
    push(more: Buffer): void {
      bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more])
    },
    /** The next whole message, or undefined until more bytes are pushed. Throws ProtocolError. */
    next(): RtmpMessage | undefined {
      for (;;) {
        open ??= readHeader()
        if (!open) return undefined
        const message = readPayload(open)
        if (message || open) return message
      }
    },
    setChunkSize(size: number): void {
      if (size < LEAST_CHUNK_SIZE || size > MOST_CHUNK_SIZE) throw new ProtocolError(`A chunk size of ${size} bytes is out of bounds.`)
      chunkSize = size
    },
    /** Drops the unfinished message of a chunk stream. */
    abort(id: number) {
      const stream = streams.get(id)
      if (stream) stream.payload = undefined
    },
    state(): Pick<ChunkState, 'chunkSize' | 'streams' | 'open' | 'rest'> {
      return {
        chunkSize,
        streams: [...streams.values()].map(({ payload, received, ...header }) =>
          payload ? { ...header, partial: payload.toString('base64', 0, received) } : header,
        ),
        open: open && { id: open.stream.id, missing: open.missing },
        rest: bytes.toString('base64'),
      }
    },
  }

  /** Undefined if the header is not whole yet; nothing is consumed then. */
  function readHeader(): typeof open {
    const first = bytes[0]
    if (first === undefined) return undefined
    const format = first >> 6
    let id = first & 0x3f
    let at = 1
    if (id < 2) {
      const size = id + 1
      if (bytes.length < 1 + size) return undefined
      id = 64 + bytes.readUIntLE(1, size)
      at += size
    }
    const headerBytes = HEADER_BYTES[format] ?? 0
    if (bytes.length < at + headerBytes) return undefined
    const earlier = streams.get(id)
    if (!earlier && format !== 0) throw new ProtocolError('A chunk refers to a header that was never sent.')
    const isContinued = earlier?.payload !== undefined
    if (isContinued && format !== 3) throw new ProtocolError('A message begins before the last one of its chunk stream ended.')

    let field = format === 3 ? (earlier?.field ?? 0) : bytes.readUIntBE(at, 3)
    const isExtended = format === 3 ? earlier?.isExtended === true : field === EXTENDED
    let end = at + headerBytes
    if (isExtended) {
      if (bytes.length < end + 4) return undefined
      const extended = bytes.readUInt32BE(end)
      // Some encoders do not repeat it in the chunks that continue a message.
      if (!isContinued || extended === field) {
        field = extended
        end += 4
      }
    }
    if (!earlier && streams.size >= MOST_STREAMS) throw new ProtocolError('There are too many chunk streams.')
    const stream = earlier ?? {
      id,
      timestamp: 0,
      field: 0,
      isExtended,
      length: 0,
      type: 0,
      messageStream: 0,
      payload: undefined,
      received: 0,
    }
    if (format <= 1) {
      stream.length = bytes.readUIntBE(at + 3, 3)
      stream.type = bytes.readUInt8(at + 6)
    }
    if (format === 0) stream.messageStream = bytes.readUInt32LE(at + 7)
    if (stream.length > limits.message) throw new ProtocolError(`A message of ${stream.length} bytes is too large.`)
    if (!isContinued) {
      stream.timestamp = format === 0 ? field : (stream.timestamp + field) >>> 0
      stream.field = field
      stream.isExtended = isExtended
      stream.payload = Buffer.alloc(0)
      stream.received = 0
    }
    streams.set(id, stream)
    bytes = bytes.subarray(end)
    return { stream, missing: Math.min(chunkSize, stream.length - stream.received) }
  }

  /** The message if this chunk ends it. */
  function readPayload(chunk: NonNullable<typeof open>): RtmpMessage | undefined {
    const { stream } = chunk
    const part = bytes.subarray(0, chunk.missing)
    append(stream, part)
    bytes = bytes.subarray(part.length)
    chunk.missing -= part.length
    if (chunk.missing > 0) return undefined
    open = undefined
    if (stream.payload === undefined || stream.received < stream.length) return undefined
    const { type, timestamp, messageStream, payload, received } = stream
    stream.payload = undefined
    return { type, timestamp, messageStream, payload: payload.subarray(0, received) }
  }

  function append(stream: ChunkStream, part: Buffer): void {
    if (stream.payload === undefined) return
    const needed = stream.received + part.length
    if (needed > stream.payload.length) {
      const others = streams.values().reduce((sum, { payload, received }) => sum + (payload ? received : 0), part.length)
      if (others > limits.unfinished) throw new ProtocolError('Too many messages are unfinished.')
      const larger = Buffer.allocUnsafe(Math.min(stream.length, Math.max(needed, stream.payload.length * 2, FIRST_CAPACITY)))
      stream.payload.copy(larger, 0, 0, stream.received)
      stream.payload = larger
    }
    part.copy(stream.payload, stream.received)
    stream.received = needed
  }
}

function restored({ partial, ...header }: ChunkState['streams'][number]): ChunkStream {
  const payload = partial === undefined ? undefined : Buffer.from(partial, 'base64')
  return { ...header, payload, received: payload?.length ?? 0 }
}
