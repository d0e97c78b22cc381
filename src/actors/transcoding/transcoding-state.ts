// The rows of a transcoding under the lock of its video: both machines are advanced together.

import type { Ffmpeg, Store } from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import type { TranscodingSettings } from '../../state-machines/transcoding.ts'
import type { RemoteWorks } from '../runner/index.ts'
import { type ActorDeps, CHECK_OWNER_EVERY, notFound, type Unit } from '../runtime/index.ts'
import type { Leases, PendingFiles, PlaceFiles } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { Transcoding } from './transcoding.entity.ts'

export type TranscodingDeps = ActorDeps & {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  placeFiles: PlaceFiles
  leases: Leases
  works: RemoteWorks
}

/** Workers lost in a row, since the last rendition, after which the source counts as poison. */
const MAX_LOST = 25

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): TranscodingSettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: MAX_LOST,
})

export interface Locked {
  unit: Unit
  video: Video
  transcoding: Transcoding
}

/** Runs `work` with the transcoding and its video, whose row is locked. Throws `not_found` if one of them is removed. */
export async function withTranscoding<T>(
  { db, tell }: Pick<ActorDeps, 'db' | 'tell'>,
  id: number,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const [row] = await db.query<Columns<Transcoding, 'videoId'>>('select video_id from transcoding where id = $1', [id])
  if (!row) throw notFound('This transcoding does not exist.')
  return await tell({ aggregate: 'video', id: row.video_id }, async (unit) => {
    const transcoding = await unit.em.findOne(Transcoding, id)
    if (!transcoding) throw notFound('This transcoding does not exist.')
    const video = await unit.em.findOneOrFail(Video, row.video_id)
    if (video.state === 'removed') throw notFound('This video was removed.')
    return await work({ unit, video, transcoding })
  })
}
