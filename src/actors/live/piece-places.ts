// Which rendition a piece of a remote runner belongs to. Its name has the index of a stream, which runners count in two ways: those before
// version 0.1 send each rendition with its sound, in the order of the job; later ones send the sound alone first, and then the pictures.

import type { MediaProbe } from '../../media/index.ts'

export interface PiecePlace {
  /** As in the plan of the session. */
  rendition: number
  /** 0 for sound only. */
  resolution: number
  /** True if the sound comes apart from the pictures. */
  isSplit: boolean
}

/** px that a side may have beyond its resolution: sides are even, and some encoders want multiples of 16. */
export const SIZE_TOLERANCE = 16

/** True if a job for these resolutions can have a stream of this index. */
export const hasPlace = (index: number, wanted: readonly number[]): boolean =>
  wanted[index] !== undefined || picturesOf(wanted)[index - 1] !== undefined

/**
 * The place of the first piece that comes of an index. Undefined if that does not show: a piece without its picture, or one that no way of
 * counting explains.
 */
export function placeOf({
  index,
  made,
  wanted,
  hasSound,
}: {
  index: number
  made: Pick<MediaProbe, 'audio'> & { video?: Pick<NonNullable<MediaProbe['video']>, 'width' | 'height'> | undefined }
  /** Resolutions of the job. */
  wanted: readonly number[]
  /** True if the stream has sound. */
  hasSound: boolean
}): PiecePlace | undefined {
  const { video, audio } = made
  const inOrder = wanted[index]
  if (!video) {
    if (inOrder === 0) return { rendition: index + 1, resolution: 0, isSplit: false }
    return index === 0 ? { rendition: soundOf(wanted), resolution: 0, isSplit: true } : undefined
  }
  const afterSound = picturesOf(wanted)[index - 1]
  const misses = (resolution = Number.POSITIVE_INFINITY): number =>
    Math.min(...[video.width, video.height].map((side) => Math.abs(side - resolution)))
  const apart = misses(afterSound) - misses(inOrder)
  const isSplit = !audio && afterSound !== undefined && (apart === 0 ? hasSound : apart < 0)
  if (isSplit) return { rendition: wanted.indexOf(afterSound) + 1, resolution: afterSound, isSplit }
  return inOrder === undefined ? undefined : { rendition: index + 1, resolution: inOrder, isSplit }
}

const picturesOf = (wanted: readonly number[]): number[] => wanted.filter((resolution) => resolution > 0)

/** Behind the others, also if the job does not want it by itself. */
const soundOf = (wanted: readonly number[]): number => (wanted.includes(0) ? wanted.indexOf(0) : wanted.length) + 1
