// Asks for the pictures of a local video that are yet to be drawn.

import type { Unit } from '../runtime/index.ts'
import type { DraftPicture } from './inspect-file.ts'

/**
 * In the transaction that stores their names. The job does nothing where all are drawn; two may wait, so that one which is just
 * ending does not stand in for the next.
 */
export function askForPictures(unit: Unit, videoId: number, pictures?: readonly DraftPicture[]): void {
  if (pictures?.every(({ image }) => image.bytes !== null)) return
  unit.enqueue({ type: 'video-pictures', data: { videoId } })
}
