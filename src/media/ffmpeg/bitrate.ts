// Bit rates of renditions, by the formula and the table of the contract (limits.json, transcoding).

/** Bits per pixel and frame, by minimum resolution (short side in px). */
const BITS_PER_PIXEL = [
  { from: 2160, min: 0.02, average: 0.08, max: 0.14 },
  { from: 1440, min: 0.02, average: 0.09, max: 0.16 },
  { from: 1080, min: 0.02, average: 0.1, max: 0.17 },
  { from: 720, min: 0.02, average: 0.11, max: 0.19 },
  { from: 480, min: 0.02, average: 0.12, max: 0.22 },
  { from: 360, min: 0.02, average: 0.15, max: 0.26 },
  { from: 240, min: 0.02, average: 0.17, max: 0.29 },
  { from: 144, min: 0.02, average: 0.19, max: 0.32 },
] as const

/** Below the smallest resolution of the table. */
const FALLBACK = { min: 10_000, average: 192_000, max: 256_000 } as const

const INPUT_MARGIN = 1.3
const MAX_AUDIO_BITRATE = 384_000
const UNKNOWN_AUDIO_BITRATE = 256_000

export type BitrateLevel = 'min' | 'average' | 'max'

export interface Picture {
  /** px. */
  width: number
  height: number
  /** Frames per second. */
  fps: number
}

/** The theoretical bit rate of a picture, in bits per second: resolution² × ratio × fps × bits per pixel, rounded down. */
export function theoreticalBitrate({ width, height, fps }: Picture, level: BitrateLevel): number {
  const resolution = Math.min(width, height)
  const row = BITS_PER_PIXEL.find(({ from }) => from <= resolution)
  if (!row) return FALLBACK[level]
  const ratio = Math.max(width, height) / resolution
  return Math.floor(resolution * resolution * ratio * fps * row[level])
}

/** The target in bits per second: the average, limited by the input's bit rate, but at least the minimum. */
export function targetBitrate(picture: Picture, inputBitrate: number | undefined): number {
  const average = theoreticalBitrate(picture, 'average')
  const wanted = inputBitrate === undefined ? average : Math.min(average, Math.floor(inputBitrate * INPUT_MARGIN))
  return Math.max(theoreticalBitrate(picture, 'min'), wanted)
}

/** Bits per second for AAC from a source with this bit rate. */
export const audioBitrate = (inputBitrate: number | undefined): number => Math.min(MAX_AUDIO_BITRATE, inputBitrate ?? UNKNOWN_AUDIO_BITRATE)

export const isAudioBitrateKept = (inputBitrate: number | undefined): boolean =>
  inputBitrate !== undefined && inputBitrate <= MAX_AUDIO_BITRATE
