// Requests and cancels renditions in the transactions of other nouns: the row of a transcoding, and its job.

import { advance, CHECK_OWNER_EVERY, initialColumns, moveRunnerJobs, type Unit } from '../runtime/index.ts'
import { Transcoding, type TranscodingOutputs, transcodingLifecycle } from './transcoding.entity.ts'

/** Deviations from the configuration. */
export interface TranscodingWish {
  outputs: TranscodingOutputs
  /** True if the original stays after the end. */
  keepSource: boolean
}

/** Settings for a transcoding that no worker has leased. */
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
  queueTranscoding(unit, transcoding.id, priority)
}

/** Queues the job of a transcoding, unless it waits or runs. A lower `priority` goes first. */
export function queueTranscoding(unit: Unit, transcodingId: number, priority: number): void {
  unit.enqueue({
    type: 'video-transcoding',
    data: { transcodingId },
    dedupeKey: `video-transcoding-${transcodingId}`,
    priority,
  })
}

/** The transcodings of a video that are running or wait for a retry. */
export const openTranscodings = (unit: Unit, videoId: number): Promise<Transcoding[]> =>
  unit.em.find(Transcoding, { videoId, state: { $nin: ['done', 'cancelled'] } })

/** Cancels the open transcodings of a video; a worker loses its lease. */
export async function cancelTranscodings(unit: Unit, videoId: number, open?: readonly Transcoding[]): Promise<void> {
  for (const transcoding of open ?? (await openTranscodings(unit, videoId))) {
    advance(unit, transcodingLifecycle, transcoding, { type: 'CANCELLED' }, SETTINGS)
    await cancelRunnerJobs(unit, transcoding.id)
  }
}

/** Cancels the open jobs of remote runners for a transcoding. */
export const cancelRunnerJobs = (unit: Unit, transcodingId: number): Promise<void> =>
  moveRunnerJobs(unit, 'CANCELLED', "job.uuid is not null and job.data->>'transcodingId' = $2", [String(transcodingId)])
