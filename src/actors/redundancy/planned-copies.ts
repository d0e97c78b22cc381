// New local copies: the files of a video to copy, and their initial rows.

import { mirrorFolder } from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { initialRedundancy } from '../../state-machines/redundancy.ts'
import { type ActorDeps, DomainError, initialColumns, notFound, type Unit } from '../runtime/index.ts'
import type { Video } from '../video/video.entity.ts'
import { queueDownload, redundancyLifecycle, settingsOf } from './redundancy-state.ts'

export interface Target {
  videoId: number
  uuid: string
  playlistId: number | null
  fileId: number | null
  resolution: number
  fps: number
  extname: string
  /** Bytes, as the video's server reports; 0 if unknown. */
  size: number
}

export interface PlannedCopies {
  /** The local instance actor. */
  actorId: number
  strategy: string
  /** Lifetime of the finished copies, in ms; null without an expiry. */
  lifetime: number | null
}

/**
 * The parts of a remote video to copy: its playlist, and each of its web videos. Throws `not_found`, and `invalid` for local, blocked and
 * live videos, and those without files.
 */
export async function targetsOf(unit: Unit, videoId: number): Promise<Target[]> {
  const [video] = await unit.query<Columns<Video, 'remote' | 'isLive' | 'blocked'>>(
    "select remote, is_live, blocked from video where id = $1 and state <> 'removed' for key share",
    [videoId],
  )
  if (!video) throw notFound('Video not found')
  if (!video.remote) throw new DomainError('invalid', 'A video of this server cannot be mirrored by it.')
  if (video.blocked) throw new DomainError('invalid', 'A blocked video cannot be mirrored.')
  if (video.is_live) throw new DomainError('invalid', 'A live video cannot be mirrored.')
  const targets = await unit.query<Target>(
    `select v.id as "videoId", v.uuid, p.id as "playlistId", null::int as "fileId", 0 as resolution, 0 as fps, '' as extname,
       (select coalesce(sum(f.size), 0) from video_file f where f.streaming_playlist_id = p.id)::float8 as size
     from video v join streaming_playlist p on p.video_id = v.id where v.id = $1 and p.playlist_url is not null
     union all
     (select v.id, v.uuid, null, f.id, f.resolution, f.fps, coalesce(substring(f.extname from '^\\.[a-z0-9]{1,5}$'), '.mp4'),
        f.size::float8
      from video v join video_file f on f.video_id = v.id
      where v.id = $1 and f.streaming_playlist_id is null and f.file_url is not null order by f.id limit 50)`,
    [videoId],
  )
  if (targets.length === 0) throw new DomainError('invalid', 'This video has no files that could be mirrored.')
  return targets
}

/** The parts that players need: the playlist, or the web videos of a video without one. */
export function neededOf(targets: readonly Target[]): Target[] {
  const playlists = targets.filter(({ playlistId }) => playlistId !== null)
  return playlists.length > 0 ? playlists : [...targets]
}

/** Returns how many are new: existing copies stay. */
export async function insertPlanned(
  deps: Pick<ActorDeps, 'config' | 'clock' | 'urls'>,
  unit: Unit,
  targets: readonly Target[],
  { actorId, strategy, lifetime }: PlannedCopies,
): Promise<number> {
  const initial = { ...initialRedundancy, context: { ...initialRedundancy.context, lifetime } }
  const { state, context, dueAt } = initialColumns({ ...redundancyLifecycle, initial }, unit.now, settingsOf(deps))
  let added = 0
  for (const target of targets) {
    const { videoId, playlistId, fileId, size } = target
    const { url, fileUrl, path } = placeOf(deps.urls, target)
    const [row] = await unit.query<{ id: number }>(
      `insert into redundancy (actor_id, video_id, streaming_playlist_id, file_id, url, file_url, path, strategy, size, state,
         context, due_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13) on conflict do nothing returning id`,
      [actorId, videoId, playlistId, fileId, url, fileUrl, path, strategy, size, state, JSON.stringify(context), dueAt, unit.now],
    )
    if (!row) continue
    added += 1
    queueDownload(unit, { id: row.id, videoId })
  }
  return added
}

function placeOf(urls: ActorDeps['urls'], { uuid, playlistId, resolution, fps, extname }: Target) {
  const at = (name: string) => `${urls.origin}/static/redundancy/${name}`
  if (playlistId !== null) {
    const { name } = mirrorFolder(uuid)
    return { url: urls.playlistRedundancy(uuid), fileUrl: at(name), path: name }
  }
  const name = `${newUuid()}-${resolution}${extname}`
  const url = urls.fileRedundancy({ uuid, resolution, ...(fps > 0 ? { fps } : {}) })
  return { url, fileUrl: at(name), path: name }
}
