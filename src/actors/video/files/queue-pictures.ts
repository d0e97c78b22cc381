// Queues the job that draws the missing pictures of a local video.

import type { Unit } from '../../runtime/index.ts'
import type { DraftPicture } from './inspect-file.ts'

/**
 * Runs in the transaction that stores the names. The job does nothing if no picture is missing. Two jobs may wait: one that is about to end
 * cannot stand in for the next.
 */
export function queuePictures(unit: Unit, videoId: number, pictures?: readonly DraftPicture[]): void {
  if (pictures?.every(({ image }) => image.bytes !== null)) return
  unit.enqueue({ type: 'video-pictures', data: { videoId } })
}
