// The codecs of FLV tags, plain and enhanced (Enhanced RTMP, veovera.org), and what the first bytes of a tag's body say.

export type VideoCodec = 'h264' | 'hevc' | 'av1' | 'vp9' | 'other'
export type AudioCodec = 'aac' | 'mp3' | 'other'

export interface VideoHead {
  codec: VideoCodec
  /** Named by four characters: only newer readers know it. */
  isEnhanced: boolean
  /** Where the decoder configuration record begins, in a sequence header. */
  configurationAt: number | undefined
}

export interface AudioHead {
  codec: AudioCodec
  isEnhanced: boolean
  isSequenceHeader: boolean
}

const FOUR_CHARACTERS: Readonly<Record<string, VideoCodec>> = { avc1: 'h264', hvc1: 'hevc', av01: 'av1', vp09: 'vp9' }
const AVC = 7
const AAC = 10
const MP3 = [2, 14]
const ENHANCED_AUDIO = 9
const SEQUENCE_START = 0
/** Packet types of enhanced RTMP: with and without a composition time. */
const CODED_PACKETS = [1, 3]
/** Composition time follows the packet type. */
const AVC_CONFIGURATION_AT = 5

export function videoHead(body: Buffer): VideoHead {
  const [first = 0, packet] = body
  if ((first & 0x80) !== 0) {
    const codec = FOUR_CHARACTERS[body.toString('latin1', 1, 5)] ?? 'other'
    return { codec, isEnhanced: true, configurationAt: (first & 0x0f) === SEQUENCE_START ? 5 : undefined }
  }
  const isAvc = (first & 0x0f) === AVC
  return { codec: isAvc ? 'h264' : 'other', isEnhanced: false, configurationAt: isAvc && packet === 0 ? AVC_CONFIGURATION_AT : undefined }
}

export function audioHead(body: Buffer): AudioHead {
  const [first = 0, packet] = body
  const format = first >> 4
  const codec = format === AAC ? 'aac' : MP3.includes(format) ? 'mp3' : 'other'
  return { codec, isEnhanced: format === ENHANCED_AUDIO, isSequenceHeader: codec === 'aac' && packet === 0 }
}

/**
 * True for sound or picture. False for what stands between the frames, such as a decoder configuration or the end of a sequence: encoders send
 * that with the time 0, or any other.
 */
export function isCoded(type: 'audio' | 'video', body: Buffer): boolean {
  const [first = 0, packet] = body
  if (type === 'audio') return !audioHead(body).isSequenceHeader
  if ((first & 0x80) !== 0) return CODED_PACKETS.includes(first & 0x0f)
  return (first & 0x0f) !== AVC || packet === 1
}
