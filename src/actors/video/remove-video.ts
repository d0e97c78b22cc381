// Removal: the video disappears for everybody at once. A job deletes its files and then, once all recipients are notified, its rows.

import { setTimeout as pause } from 'node:timers/promises'
import { type FileRef, hlsFolder, type Store, webVideoFile } from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { type ActorDeps, advance, DomainError, notFound, resumeJobs, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import type { Leases, PendingFile, PendingFiles } from './files/pending-files.ts'
import { videoLifecycle } from './publish-video.ts'
import { assertChangeable, removalOf } from './update-video.ts'
import { thumbnailTypes, Video } from './video.entity.ts'
import { isFederated } from './video.policy.ts'

export type RemoveVideo = ReturnType<typeof makeRemoveVideo>

export function makeRemoveVideo(deps: ActorDeps & { store: Store; pendingFiles: PendingFiles; leases: Pick<Leases, 'isGone'> }) {
  const { db, tell, registry, clock, pendingFiles, leases } = deps

  registry.job('video-removal', {
    queue: 'io',
    async run({ data }) {
      const videoId = Number(data.videoId)
      const [removed] = await db.query("select id from video where id = $1 and state = 'removed'", [videoId])
      if (!removed) return
      await assertNobodyWrites(videoId)
      const [move] = await db.query('select 1 from storage_move where video_id = $1', [videoId])
      if (move) throw new DomainError('busy', 'The files of this video are being moved.')
      await pendingFiles.discard(await filesOf(db, videoId))
      await relayed(videoId)
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        await assertAllNotified(unit, videoId)
        // Files that a transcoding stored meanwhile must not outlive the rows that name them.
        await pendingFiles.condemn(unit.query, await filesOf(unit, videoId))
        await unit.query("delete from video where id = $1 and state = 'removed'", [videoId])
      })
      // All files are removed before the job disappears from the list.
      await pendingFiles.collect()
    },
  })

  /** Waits a moment for the relay, which usually starts at the same time as this job. */
  async function relayed(videoId: number): Promise<void> {
    for (let looks = 0; looks < LOOKS && (await hasPendingNotifications(db, videoId)); looks += 1) await pause(LOOK_EVERY_MS)
  }

  /**
   * A worker that has not noticed the removal may still write, and deleting the rows would delete the notes of its files: if it were killed
   * then, they would be orphans. Throws `busy`, for which the job waits.
   */
  async function assertNobodyWrites(videoId: number): Promise<void> {
    const holders = await db.query<{ owner: string }>(
      `select lease_owner as owner from transcoding where video_id = $1 and lease_owner is not null and due_at > $2
       union all select lease_owner from video_edition where video_id = $1 and lease_owner is not null and lease_until > $2`,
      [videoId, clock.now()],
    )
    if (holders.some(({ owner }) => !leases.isGone(owner))) {
      throw new DomainError('busy', 'A worker still writes files of this video.')
    }
  }

  // After federation's own reaction, in one transaction with it.
  registry.on('VideoRemoved', 'removal', async ({ videoId }, unit) => ask(unit, videoId))

  resumeJobs(deps, 'video-removal', { waiting: "select id from video where state = 'removed' order by id limit 100", ask })

  return {
    /** Throws `not_found`. Throws `forbidden` unless the video is local and `by` is its owner or staff. */
    async remove(videoId: number, by: NonNullable<Viewer>): Promise<void> {
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, videoId)
        if (video.state === 'removed') throw notFound('Video not found')
        await assertChangeable(unit, video, by, 'REMOVE_ANY_VIDEO')
        const mayBeKnown = isFederated(video.privacy)
        advance(unit, videoLifecycle, video, { type: 'REMOVED' })
        video.updatedAt = unit.now
        if (mayBeKnown) unit.emit({ aggregate: 'video', id: videoId }, 'VideoRemoved', await removalOf(unit, video))
        // Queued before the response, so that observers of the job list see that the files still exist.
        ask(unit, videoId)
      })
    },
  }
}

/** How long the job waits for the relay before it yields to other jobs. */
const [LOOKS, LOOK_EVERY_MS] = [40, 50]

const ask = (unit: Unit, videoId: number): void =>
  unit.enqueue({ type: 'video-removal', data: { videoId }, dedupeKey: `video-removal-${videoId}` })

/** Removes a video that was never published or announced, in a transaction that locks it. */
export function removeUnpublished(unit: Unit, video: Video): void {
  advance(unit, videoLifecycle, video, { type: 'REMOVED' })
  video.updatedAt = unit.now
  ask(unit, video.id)
}

/**
 * The rows of the video name the recipients, so they stay until the relay has processed its events. Throws `busy`, for which the job waits.
 */
async function assertAllNotified(unit: Unit, videoId: number): Promise<void> {
  if (await hasPendingNotifications(unit, videoId)) throw new DomainError('busy', 'Other servers have not been notified of this video yet.')
}

async function hasPendingNotifications({ query }: Pick<ActorDeps['db'], 'query'>, videoId: number): Promise<boolean> {
  const waiting = await query("select id from outbox where aggregate = 'video' and aggregate_id = $1 and parked_at is null limit 1", [
    videoId,
  ])
  return waiting.length > 0
}

interface FileNames extends Columns<Video, 'uuid'> {
  web_videos: string[]
  torrents: string[]
  thumbnails: string[]
  previews: string[]
  storyboards: string[]
  captions: string[]
  original: string | null
}

/** All files of the video, in both the public and the private folder. */
async function filesOf({ query }: Pick<ActorDeps['db'], 'query'>, videoId: number): Promise<PendingFile[]> {
  const [video] = await query<FileNames>(
    `select v.uuid,
       array(select f.filename from video_file f
         where f.video_id = v.id and f.streaming_playlist_id is null and f.filename is not null) as web_videos,
       array(select f.torrent_filename from video_file f
         where f.video_id = v.id and f.torrent_filename is not null) as torrents,
       array(select t.filename from thumbnail t where t.video_id = v.id and t.type = ${thumbnailTypes.miniature}) as thumbnails,
       array(select t.filename from thumbnail t where t.video_id = v.id and t.type = ${thumbnailTypes.preview}) as previews,
       array(select b.filename from storyboard b where b.video_id = v.id) as storyboards,
       array(select c.filename from video_caption c where c.video_id = v.id) as captions,
       (select s.kept_filename from video_source s where s.video_id = v.id) as original
     from video v where v.id = $1`,
    [videoId],
  )
  if (!video) return []
  const named = (kind: FileRef['kind'], names: string[]): PendingFile[] => names.map((name) => ({ kind, name }))
  return [
    ...[false, true].flatMap((isPrivate): PendingFile[] => [
      { ...hlsFolder(video.uuid, isPrivate), folder: true },
      ...video.web_videos.map((name) => webVideoFile(name, isPrivate)),
    ]),
    ...named('torrents', video.torrents),
    ...named('thumbnails', video.thumbnails),
    ...named('previews', video.previews),
    ...named('storyboards', video.storyboards),
    ...named('captions', video.captions),
    ...named('original_video_files', video.original === null ? [] : [video.original]),
  ]
}
