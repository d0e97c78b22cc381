// What another process needs to continue an RTMP connection at exactly the next byte. Plain JSON.

import { z } from 'zod'

const count = z.int().nonnegative()

const chunkStreamSchema = z.object({
  id: count,
  /** ms, of the last message. */
  timestamp: count,
  /** The last timestamp field: an absolute time or a difference. */
  field: count,
  isExtended: z.boolean(),
  length: count,
  type: count,
  messageStream: count,
  /** The part of an unfinished message, in base64; absent between messages. */
  partial: z.string().optional(),
})

export const chunkStateSchema = z.object({
  /** Bytes of payload in a chunk that the peer sends. */
  chunkSize: count,
  streams: z.array(chunkStreamSchema).max(64),
  /** The chunk that was being read, and its missing bytes. */
  open: z.object({ id: count, missing: count }).optional(),
  /** Bytes after which the peer wants an acknowledgement (0: never), bytes received, and bytes acknowledged. */
  window: count,
  received: count,
  acknowledged: count,
  /** Bytes that were received and not yet interpreted, in base64. */
  rest: z.string(),
})

export const handoverSchema = z.object({
  connection: chunkStateSchema,
  /** The message stream that the peer publishes or plays on. */
  messageStream: count,
})

export type ChunkState = z.infer<typeof chunkStateSchema>
/** JSON, so that it can cross processes with the socket. */
export type Handover = z.infer<typeof handoverSchema>
