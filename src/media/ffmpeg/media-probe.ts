// The properties of a media file.

import type { FileMetadata } from './metadata.ts'
import type { Rational } from './rate.ts'

export interface VideoProbe {
  /** Index of the stream in the file. */
  index: number
  codec: string
  profile: string | undefined
  /** As the codec counts them: 31 is 3.1 of H.264. */
  level: number | undefined
  pixelFormat: string
  /** px as stored, before rotation and sample aspect ratio. */
  codedWidth: number
  codedHeight: number
  /** px as displayed. */
  width: number
  height: number
  /** Degrees clockwise: 0, 90, 180 or 270. */
  rotation: number
  /** True if the rotation is only in a tag: some versions of ffmpeg apply it, others do not. */
  rotatedByTag: boolean
  squarePixels: boolean
  /** Frames per second, exact; a variable rate gives its average. */
  rate: Rational
  /** Frames per second, rounded to a whole number when 1 or more, as PeerTube shows it. */
  fps: number
  variableRate: boolean
  interlaced: boolean
  /** True for PQ and HLG transfers. */
  hdr: boolean
  /** FFmpeg's names; undefined if the file does not contain them. */
  colours: Colours
  /** Bits per second of this stream, or of the file; undefined if unknown. */
  bitrate: number | undefined
  /** Seconds from the start of the file to its first frame, and to the end of its last; undefined if unknown. */
  startsAt: number
  endsAt: number | undefined
  /** True if its first frame is decodable by itself. */
  startsWhole: boolean
}

export interface Colours {
  matrix: string | undefined
  primaries: string | undefined
  transfer: string | undefined
}

export interface AudioProbe {
  index: number
  codec: string
  profile: string | undefined
  channels: number
  /** Hz. */
  sampleRate: number
  /** FFmpeg's name of the layout; undefined if the file does not contain it. */
  layout: string | undefined
  /** Bits per second. */
  bitrate: number | undefined
  /** Seconds from the start of the file; undefined if unknown. */
  startsAt: number
  endsAt: number | undefined
}

export interface MediaProbe {
  /** Bytes. */
  size: number
  /** Seconds; 0 if unknown. */
  duration: number
  /** The timestamp at which it begins, in seconds; 0 if unknown. */
  startTime: number
  format: string
  /** Bits per second of the whole file. */
  bitrate: number | undefined
  video: VideoProbe | undefined
  audio: AudioProbe | undefined
  /** True if edit lists hide parts of the file. */
  isCut: boolean
  /** True for fragmented ISO media, like those of HLS. */
  isFragmented: boolean
  /** Average seconds between key frames; undefined if the file has no list of them. */
  keyFrameEvery: number | undefined
  /** The stream index of a cover picture in an audio file. */
  coverIndex: number | undefined
  metadata: FileMetadata
}
