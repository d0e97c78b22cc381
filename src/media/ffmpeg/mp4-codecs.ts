// The CODECS strings of RFC 6381 for a fragmented MP4 of this server, from its init segment.

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
/** Bytes of the fixed fields before the child boxes. */
const STSD_HEADER = 8
const VISUAL_ENTRY_HEADER = 78
const AUDIO_ENTRY_HEADER = 28

/** For example `['avc1.64001f', 'mp4a.40.2']`, in the order of the tracks. `init` contains the whole `moov` box. */
export function codecsOf(init: Buffer): string[] {
  const codecs: string[] = []
  const visit = (from: number, to: number): void => {
    for (const { type, start, end } of boxes(init, from, to)) {
      if (CONTAINERS.has(type)) visit(start, end)
      if (type === 'stsd') visit(start + STSD_HEADER, end)
      if (type === 'avc1') visit(start + VISUAL_ENTRY_HEADER, end)
      if (type === 'mp4a') visit(start + AUDIO_ENTRY_HEADER, end)
      // Profile, constraints and level follow the version byte of the decoder configuration.
      if (type === 'avcC') codecs.push(`avc1.${init.toString('hex', start + 1, start + 4)}`)
      if (type === 'esds') codecs.push(`mp4a.40.${audioObjectType(init.subarray(start + 4, end))}`)
    }
  }
  visit(0, init.length)
  return codecs
}

function* boxes(buffer: Buffer, from: number, to: number): Generator<{ type: string; start: number; end: number }> {
  let offset = from
  while (offset + 8 <= to) {
    const size = buffer.readUInt32BE(offset)
    if (size < 8 || offset + size > to) return
    yield { type: buffer.toString('latin1', offset + 4, offset + 8), start: offset + 8, end: offset + size }
    offset += size
  }
}

/** The first five bits of the AudioSpecificConfig (ISO 14496-3), inside the descriptors of ISO 14496-1. */
function audioObjectType(descriptors: Buffer): number {
  const DECODER_SPECIFIC = 0x05
  const headers: Record<number, number> = { 3: 3, 4: 13 }
  let offset = 0
  while (offset < descriptors.length) {
    const tag = descriptors[offset] ?? 0
    offset += 1
    while (((descriptors[offset] ?? 0) & 0x80) !== 0) offset += 1
    offset += 1
    if (tag === DECODER_SPECIFIC) return (descriptors[offset] ?? 0x10) >> 3
    const header = headers[tag]
    if (header === undefined) break
    offset += header
  }
  return 2
}
