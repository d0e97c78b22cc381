// The rows of a transcoding under the lock of its video: both machines move together, one message at a time.

import type { Ffmpeg, Store } from '../../media/index.ts'
import { can, IllegalMove, step } from '../../state-machines/step.ts'
import {
  dueIn,
  initialTranscoding,
  type TranscodingContext,
  type TranscodingEvent,
  type TranscodingSettings,
  type TranscodingState,
  transcodingMachine,
} from '../../state-machines/transcoding.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { CHECK_OWNER_EVERY, type Leases, type PendingFiles, type PlaceFiles } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { Transcoding } from './transcoding.entity.ts'

export type TranscodingDeps = ActorDeps & {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  placeFiles: PlaceFiles
  leases: Leases
}

/** Workers lost in a row, since the last rendition, after which the source is held to be poison. */
const MAX_LOST = 25

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): TranscodingSettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: MAX_LOST,
})

export const isActive = (state: string): boolean => ['planned', 'running', 'packaged', 'stored'].includes(state)

export const contextOfTranscoding = (transcoding: Transcoding): TranscodingContext => ({
  ...initialTranscoding.context,
  ...transcoding.context,
})

const snapshotOf = (transcoding: Transcoding) => ({
  state: transcoding.state as TranscodingState,
  context: contextOfTranscoding(transcoding),
})

/** Sends one event to the machine of a transcoding. Throws `conflict` when it cannot take it. */
export function moveTranscoding(
  unit: Unit,
  transcoding: Transcoding,
  event: TranscodingEvent,
  settings: TranscodingSettings,
): void {
  try {
    const { state, context } = step(transcodingMachine, snapshotOf(transcoding), event)
    transcoding.state = state
    transcoding.context = { ...context }
    transcoding.error = context.error
    const wait = dueIn(state, context, settings)
    transcoding.dueAt = wait === null ? null : new Date(unit.now.getTime() + wait)
    transcoding.updatedAt = unit.now
    if (!isActive(state)) transcoding.leaseOwner = null
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    throw new DomainError('conflict', `This transcoding is ${transcoding.state}.`, { cause: error })
  }
}

export const takesMove = (transcoding: Transcoding, event: TranscodingEvent): boolean =>
  can(transcodingMachine, snapshotOf(transcoding), event)

export interface Locked {
  unit: Unit
  video: Video
  transcoding: Transcoding
}

/** Runs `work` with the transcoding and its video, whose row is locked. Throws `not_found` when one of them is gone. */
export async function withTranscoding<T>(
  { db, tell }: Pick<ActorDeps, 'db' | 'tell'>,
  id: number,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const [row] = await db.query<{ video_id: number }>('select video_id from transcoding where id = $1', [id])
  if (!row) throw notFound('This transcoding does not exist.')
  return await tell({ aggregate: 'video', id: row.video_id }, async (unit) => {
    const transcoding = await unit.em.findOne(Transcoding, id)
    if (!transcoding) throw notFound('This transcoding does not exist.')
    const video = await unit.em.findOneOrFail(Video, row.video_id)
    if (video.state === 'removed') throw notFound('This video was removed.')
    return await work({ unit, video, transcoding })
  })
}
