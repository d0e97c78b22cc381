// FLV (Adobe Flash Video File Format 10.1, annex E): writes its header and tags, and reads tags from a stream of it.

import { type AmfObject, writeAmf, writeEcmaArray } from './amf0.ts'
import { ProtocolError } from './protocol-error.ts'

export interface FlvTag {
  type: 'audio' | 'video' | 'script'
  /** ms. */
  timestamp: number
  body: Buffer
}

const TAG_TYPES = { audio: 8, video: 9, script: 18 } as const
const HEADER_BYTES = 9
const TAG_HEADER = 11
/** The length of the tag before. */
const TRAILER = 4

export function flvHeader({ hasAudio, hasVideo }: { hasAudio: boolean; hasVideo: boolean }): Buffer {
  const header = Buffer.alloc(HEADER_BYTES + TRAILER)
  header.write('FLV', 'latin1')
  header.writeUInt8(1, 3)
  header.writeUInt8((hasAudio ? 4 : 0) | (hasVideo ? 1 : 0), 4)
  header.writeUInt32BE(HEADER_BYTES, 5)
  return header
}

export function flvTag({ type, timestamp, body }: FlvTag): Buffer {
  const tag = Buffer.alloc(TAG_HEADER + body.length + TRAILER)
  tag.writeUInt8(TAG_TYPES[type], 0)
  tag.writeUIntBE(body.length, 1, 3)
  tag.writeUIntBE(timestamp % 2 ** 24, 4, 3)
  tag.writeUInt8(Math.floor(timestamp / 2 ** 24) & 0xff, 7)
  body.copy(tag, TAG_HEADER)
  tag.writeUInt32BE(TAG_HEADER + body.length, TAG_HEADER + body.length)
  return tag
}

export const metadataTag = (metadata: AmfObject): FlvTag => ({
  type: 'script',
  timestamp: 0,
  body: Buffer.concat([writeAmf('onMetaData'), writeEcmaArray(metadata)]),
})

/** Calls `onTag` with the type and the first bytes of each tag's body. Throws ProtocolError if it is not FLV. */
export function makeTagWatch(onTag: (type: FlvTag['type'] | undefined, head: Buffer) => void): (bytes: Buffer) => void {
  /** Bytes of a header, and of a body's beginning, that are not whole yet. */
  let rest: Buffer = Buffer.alloc(0)
  let skip = 0
  let hasHeader = false
  return (bytes) => {
    let at = 0
    while (at < bytes.length) {
      if (skip > 0) {
        const step = Math.min(skip, bytes.length - at)
        skip -= step
        at += step
        continue
      }
      const needed = hasHeader ? neededOf(rest) : HEADER_BYTES + TRAILER
      const part = bytes.subarray(at, at + needed - rest.length)
      rest = Buffer.concat([rest, part])
      at += part.length
      if (rest.length < (hasHeader ? neededOf(rest) : needed)) continue
      if (!hasHeader) {
        if (rest.toString('latin1', 0, 3) !== 'FLV') throw new ProtocolError('The stream is not FLV.')
        hasHeader = true
      } else {
        const length = rest.readUIntBE(1, 3)
        skip = TAG_HEADER + length + TRAILER - rest.length
        onTag(typeOf(rest.readUInt8(0)), rest.subarray(TAG_HEADER))
      }
      rest = Buffer.alloc(0)
    }
  }
}

/** The tags of a whole stream of FLV that this server made. Throws ProtocolError if it is not FLV. */
export async function* readTags(flv: AsyncIterable<Buffer>): AsyncGenerator<FlvTag> {
  let rest: Buffer = Buffer.alloc(0)
  let hasHeader = false
  for await (const bytes of flv) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let at = 0
    if (!hasHeader) {
      if (rest.length < HEADER_BYTES + TRAILER) continue
      if (rest.toString('latin1', 0, 3) !== 'FLV') throw new ProtocolError('The stream is not FLV.')
      hasHeader = true
      at = HEADER_BYTES + TRAILER
    }
    while (rest.length - at >= TAG_HEADER) {
      const length = rest.readUIntBE(at + 1, 3)
      const end = at + TAG_HEADER + length
      if (rest.length < end + TRAILER) break
      const type = typeOf(rest.readUInt8(at))
      const timestamp = rest.readUIntBE(at + 4, 3) + rest.readUInt8(at + 7) * 2 ** 24
      if (type) yield { type, timestamp, body: rest.subarray(at + TAG_HEADER, end) }
      at = end + TRAILER
    }
    rest = rest.subarray(at)
  }
}

/** Bytes of a body that tell its codec. */
const BODY_HEAD = 5

const neededOf = (head: Buffer): number => (head.length < TAG_HEADER ? TAG_HEADER : TAG_HEADER + Math.min(BODY_HEAD, head.readUIntBE(1, 3)))

const typeOf = (type: number): FlvTag['type'] | undefined =>
  (Object.keys(TAG_TYPES) as FlvTag['type'][]).find((name) => TAG_TYPES[name] === type)
