// What is known of a media file.

import type { FileMetadata } from './metadata.ts'
import type { Rational } from './rate.ts'

export interface VideoProbe {
  /** Index of the stream in the file. */
  index: number
  codec: string
  profile: string | undefined
  pixelFormat: string
  /** px as stored, before rotation and sample aspect ratio. */
  codedWidth: number
  codedHeight: number
  /** px as a viewer sees it. */
  width: number
  height: number
  /** Degrees clockwise: 0, 90, 180 or 270. */
  rotation: number
  /** True when only a tag tells of the rotation: ffmpeg itself turns such pictures in some versions, in others not. */
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
  /** As FFmpeg names them; undefined where the file does not say. */
  colours: Colours
  /** Bits per second of this stream, or of the file, or undefined when neither says. */
  bitrate: number | undefined
  /** Seconds from the start of the file to its first frame, and to the end of its last; undefined where nothing says. */
  startsAt: number
  endsAt: number | undefined
  /** Whether its first frame can be shown without those before it. */
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
  /** What each of them is for, as FFmpeg names it; undefined where the file does not say. */
  layout: string | undefined
  /** Bits per second. */
  bitrate: number | undefined
  /** Seconds from the start of the file; undefined where nothing says. */
  startsAt: number
  endsAt: number | undefined
}

export interface MediaProbe {
  /** Bytes. */
  size: number
  /** Seconds; 0 when the file does not say. */
  duration: number
  format: string
  /** Bits per second of the whole file. */
  bitrate: number | undefined
  video: VideoProbe | undefined
  audio: AudioProbe | undefined
  /** True when parts of what the file holds are not to be shown. */
  isCut: boolean
  /** True for ISO media whose frames lie in fragments, as those of HLS do. */
  isFragmented: boolean
  /** Seconds from one key frame to the next, on average; undefined where the file has no list of them. */
  keyFrameEvery: number | undefined
  /** The stream index of a cover picture in an audio file. */
  coverIndex: number | undefined
  metadata: FileMetadata
}
