// Asks for the renditions of a video, in the transactions of other nouns: the row of a transcoding, and its job; and takes that back.

import { advance, CHECK_OWNER_EVERY, initialColumns, type Unit } from '../runtime/index.ts'
import { Transcoding, type TranscodingOutputs, transcodingLifecycle } from './transcoding.entity.ts'

/** What is wanted of a transcoding other than what the configuration says. */
export interface TranscodingWish {
  outputs: TranscodingOutputs
  /** Whether the original stays when it is done. */
  keepSource: boolean
}

/** Of a transcoding that no worker has. */
const SETTINGS = { lease: CHECK_OWNER_EVERY, check_owner_every: CHECK_OWNER_EVERY, max_lost: 1 }

/** Stores a new transcoding of a video with its job, in the transaction of the caller. */
export async function planTranscoding(unit: Unit, videoId: number, priority: number, wish?: TranscodingWish): Promise<void> {
  const transcoding = unit.em.create(Transcoding, {
    videoId,
    ...initialColumns(transcodingLifecycle, unit.now, SETTINGS),
    outputs: wish?.outputs ?? null,
    keepSource: wish?.keepSource ?? false,
    createdAt: unit.now,
    updatedAt: unit.now,
  })
  await unit.em.flush()
  askForTranscoding(unit, transcoding.id, priority)
}

/** Asks for the job of a transcoding, unless it waits or runs. Of those that wait, a lower `priority` goes first. */
export function askForTranscoding(unit: Unit, transcodingId: number, priority: number): void {
  unit.enqueue({
    type: 'video-transcoding',
    data: { transcodingId },
    dedupeKey: `video-transcoding-${transcodingId}`,
    priority,
  })
}

/** The transcodings of a video that are under way or wait to be tried again. */
export const openTranscodings = (unit: Unit, videoId: number): Promise<Transcoding[]> =>
  unit.em.find(Transcoding, { videoId, state: { $nin: ['done', 'cancelled'] } })

/** Ends the open transcodings of a video; a worker that is at one loses it. */
export async function cancelTranscodings(unit: Unit, videoId: number, open?: readonly Transcoding[]): Promise<void> {
  for (const transcoding of open ?? (await openTranscodings(unit, videoId))) {
    advance(unit, transcodingLifecycle, transcoding, { type: 'CANCELLED' }, SETTINGS)
  }
}
