// The size of the picture from the decoder configuration of H.264 (ISO/IEC 14496-15, 14496-10) and H.265 (ISO/IEC 23008-2).

import type { VideoCodec } from './codecs.ts'

/** px, as coded. */
export interface PictureSize {
  width: number
  height: number
}

/** Undefined if the record is of another codec or cannot be read: the decoder then decides. */
export function pictureSize(codec: VideoCodec, record: Buffer): PictureSize | undefined {
  try {
    if (codec === 'h264') return avcSize(record)
    return codec === 'hevc' ? hevcSize(record) : undefined
  } catch (error) {
    // Reads past the end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Profiles whose parameter sets describe the colour format. */
const WITH_CHROMA = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])

function avcSize(record: Buffer): PictureSize | undefined {
  if ((record.readUInt8(5) & 0x1f) === 0) return undefined
  const length = record.readUInt16BE(6)
  const bits = makeBits(record.subarray(8, 8 + length))
  bits.skip(8)
  const profile = bits.read(8)
  bits.skip(16)
  bits.golomb()
  if (WITH_CHROMA.has(profile)) {
    const chroma = bits.golomb()
    if (chroma === 3) bits.skip(1)
    bits.golomb()
    bits.golomb()
    bits.skip(1)
    const lists = bits.read(1) === 1 ? (chroma === 3 ? 12 : 8) : 0
    for (let list = 0; list < lists; list += 1) skipScaling(bits, list < 6 ? 16 : 64)
  }
  bits.golomb()
  const order = bits.golomb()
  if (order === 0) bits.golomb()
  else if (order === 1) {
    bits.skip(1)
    bits.golomb()
    bits.golomb()
    for (let count = bits.golomb(); count > 0; count -= 1) bits.golomb()
  }
  bits.golomb()
  bits.skip(1)
  const width = (bits.golomb() + 1) * 16
  const rows = (bits.golomb() + 1) * 16
  return { width, height: bits.read(1) === 1 ? rows : rows * 2 }
}

function skipScaling(bits: Bits, size: number): void {
  if (bits.read(1) === 0) return
  let [last, next] = [8, 8]
  for (let index = 0; index < size; index += 1) {
    if (next !== 0) next = (last + bits.signedGolomb() + 256) % 256
    if (next !== 0) last = next
  }
}

const HEVC_SPS = 33

function hevcSize(record: Buffer): PictureSize | undefined {
  let at = 23
  for (let arrays = record.readUInt8(22); arrays > 0; arrays -= 1) {
    const type = record.readUInt8(at) & 0x3f
    let units = record.readUInt16BE(at + 1)
    at += 3
    for (; units > 0; units -= 1) {
      const length = record.readUInt16BE(at)
      if (type === HEVC_SPS) return hevcSizeOf(makeBits(record.subarray(at + 2, at + 2 + length)))
      at += 2 + length
    }
  }
  return undefined
}

function hevcSizeOf(bits: Bits): PictureSize {
  bits.skip(16 + 4)
  const subLayers = bits.read(3)
  bits.skip(1)
  // The general profile, tier and level.
  bits.skip(96)
  const present = Array.from({ length: subLayers }, () => ({ profile: bits.read(1), level: bits.read(1) }))
  if (subLayers > 0) bits.skip((8 - subLayers) * 2)
  for (const { profile, level } of present) bits.skip(profile * 88 + level * 8)
  bits.golomb()
  if (bits.golomb() === 3) bits.skip(1)
  return { width: bits.golomb(), height: bits.golomb() }
}

type Bits = ReturnType<typeof makeBits>

/** Bits of a NAL unit without its emulation prevention bytes. Throws RangeError at its end. */
function makeBits(unit: Buffer) {
  const bytes = unit.filter((byte, index) => !(byte === 3 && index >= 2 && unit[index - 1] === 0 && unit[index - 2] === 0))
  let at = 0

  function skip(count: number): void {
    at += count
    if (at > bytes.length * 8) throw new RangeError('The parameter set is cut short.')
  }
  /** At most 31. */
  function read(count: number): number {
    let value = 0
    for (let index = 0; index < count; index += 1) {
      const byte = bytes[at >> 3] ?? 0
      value = value * 2 + ((byte >> (7 - (at & 7))) & 1)
      skip(1)
    }
    return value
  }
  function golomb(): number {
    let zeros = 0
    while (read(1) === 0) zeros += 1
    if (zeros > 31) throw new RangeError('A number in the parameter set is too long.')
    return 2 ** zeros - 1 + read(zeros)
  }
  function signedGolomb(): number {
    const code = golomb()
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2
  }
  return { read, skip, golomb, signedGolomb }
}
