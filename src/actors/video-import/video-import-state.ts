// State changes of an import, and their meaning for its video. Both rows change in one transaction; the video is locked first, like in its
// removal.

import type { Columns } from '../../platform/database/index.ts'
import {
  dueIn,
  initialVideoImport,
  type VideoImportEvent,
  type VideoImportSettings,
  videoImportMachine,
} from '../../state-machines/video-import.ts'
import { type ActorDeps, advance, CHECK_OWNER_EVERY, defineLifecycle, notFound, type Unit } from '../runtime/index.ts'
import { failedImportOwner, type PendingFiles, refOfPicture, removeUnpublished } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { takeChosenPictures } from '../video/video.writes.ts'
import { VideoImport } from './video-import.entity.ts'

/** Workers lost in a row after which the import counts as poison. */
const MAX_LOST = 10

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): VideoImportSettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: MAX_LOST,
})

/** An import with its video, unless that is removed or being removed; both are locked. */
export interface Locked {
  unit: Unit
  videoImport: VideoImport
  video: Video | undefined
  pendingFiles: PendingFiles
}

/** Runs `work` with the import. Throws `not_found` if it is removed. */
export async function withImport<T>(
  { db, tell, pendingFiles }: Pick<ActorDeps, 'db' | 'tell'> & { pendingFiles: PendingFiles },
  id: number,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const [known] = await db.query<Columns<VideoImport, 'videoId'>>('select video_id from video_import where id = $1', [id])
  if (!known) throw notFound('Video import not found')
  const videoId = known.video_id
  try {
    if (videoId === null) return await tell({ aggregate: 'video_import', id }, (unit) => lockedWork(unit, null))
    return await tell({ aggregate: 'video', id: videoId }, (unit) => lockedWork(unit, videoId))
  } catch (error) {
    // The video was removed meanwhile.
    if (!(error instanceof VideoGone)) throw error
    return await tell({ aggregate: 'video_import', id }, (unit) => lockedWork(unit, null))
  }

  async function lockedWork(unit: Unit, lockedVideo: number | null): Promise<T> {
    const rows = await unit.query<{ video_id: number | null }>('select video_id from video_import where id = $1 for no key update', [id])
    if (rows.length === 0) throw notFound('Video import not found')
    if (lockedVideo !== null && rows[0]?.video_id !== lockedVideo) throw new VideoGone()
    await unit.changing({ aggregate: 'video_import', id })
    const videoImport = await unit.em.findOneOrFail(VideoImport, id)
    const video = lockedVideo === null ? null : await unit.em.findOne(Video, lockedVideo)
    const wanted = video?.state === 'removed' ? undefined : (video ?? undefined)
    return await work({ unit, videoImport, video: wanted, pendingFiles })
  }
}

class VideoGone extends Error {}

export const videoImportLifecycle = defineLifecycle({
  table: 'video_import',
  called: 'import',
  machine: videoImportMachine,
  initial: initialVideoImport,
  dueIn,
})

/** Sends one event to the machine of an import and does what the new state needs. Throws `conflict` if the machine does not take it. */
export async function move(locked: Locked, event: VideoImportEvent, settings: VideoImportSettings): Promise<void> {
  advance(locked.unit, videoImportLifecycle, locked.videoImport, event, settings)
  await follow(locked)
}

async function follow(locked: Locked): Promise<void> {
  const { unit, videoImport, video } = locked
  const { id, state } = videoImport
  const of = { aggregate: 'video_import', id } as const
  if (state === 'processing') return
  videoImport.leaseOwner = null
  if (state === 'pending') return queueImport(unit, id)
  if (state === 'success') unit.emit(of, 'VideoImportSucceeded', { importId: id })
  else {
    if (state === 'failed') {
      unit.emit(of, 'VideoImportFailed', { importId: id, at: unit.now.getTime() })
      await keepPictures(locked)
    }
    if (video?.state === 'to-import') removeUnpublished(unit, video)
    videoImport.videoId = null
  }
  // A failed import may be retried.
  if (state !== 'failed') await forgetTorrent(unit, id)
}

/** Keeps the user's pictures for a retry. */
async function keepPictures({ unit, videoImport, video, pendingFiles }: Locked): Promise<void> {
  if (video?.state !== 'to-import') return
  const pictures = await takeChosenPictures(unit.query, video.id)
  if (pictures.length === 0) return
  videoImport.fields = { ...videoImport.fields, pictures }
  await pendingFiles.condemn(unit.query, pictures.map(refOfPicture), failedImportOwner(videoImport.id))
}

const forgetTorrent = (unit: Unit, id: number) =>
  unit.query('update video_import set torrent = null where id = $1 and torrent is not null', [id])

/** Queues the job, unless it waits or runs. */
export const queueImport = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'video-import', data: { importId: id }, dedupeKey: `video-import-${id}` })
