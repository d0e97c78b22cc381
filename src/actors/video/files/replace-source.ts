// Replaces the source file of a video. The video keeps its address, comments and date; only its files, its duration and the pictures taken
// from the file are made again.

import type { FileRef } from '../../../media/index.ts'
import type { Aliased, Columns } from '../../../platform/database/index.ts'
import type { VideoEvent } from '../../../state-machines/video.ts'
import { type ActorDeps, advance, DomainError, notFound, type Unit } from '../../runtime/index.ts'
import type { Viewer } from '../../session/index.ts'
import { cancelTranscodings } from '../../transcoding/transcoding.writes.ts'
import { dimensionsOf, sourceOf } from '../new-video-rows.ts'
import { advanceAndAnnounce, isPublished, videoLifecycle } from '../publish-video.ts'
import { mustWait, quarantine } from '../quarantine.ts'
import { overQuota, quotaLeft, refuseOverQuota } from '../quota.ts'
import { assertChangeable } from '../update-video.ts'
import { Video, VideoSource } from '../video.entity.ts'
import { assertMayChange, type Openness } from '../video.policy.ts'
import type { FileDraft, InspectFile } from './inspect-file.ts'
import { dropOutdated, outdateFiles } from './outdated-files.ts'
import type { PendingFiles } from './pending-files.ts'
import { applyPendingParts, type Retimed, storePendingParts } from './pending-parts.ts'
import type { PlaceFiles } from './place-files.ts'
import { isBeingProcessed, stillBeingProcessed } from './processing-videos.ts'
import { playedAtOnce, takeFile } from './take-file.ts'

interface Owned extends Openness, Columns<Video, 'name' | 'remote' | 'state' | 'isLive'>, Aliased<Video, 'waitTranscoding'> {
  owner_account_id: number
  user_id: number | null
}

export type ReplaceSource = ReturnType<typeof makeReplaceSource>

export function makeReplaceSource(deps: ActorDeps & { inspectFile: InspectFile; pendingFiles: PendingFiles; placeFiles: PlaceFiles }) {
  const { db, tell, config, inspectFile, pendingFiles, placeFiles } = deps

  async function find(videoId: number): Promise<Owned> {
    const [video] = await db.query<Owned>(
      `select v.name, v.wait_transcoding as "waitTranscoding", v.privacy, v.blocked, v.remote, v.state, v.is_live, a.id as owner_account_id, a.user_id
       from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
       where v.id = $1 and v.state <> 'removed'`,
      [videoId],
    )
    if (!video) throw notFound('Video not found')
    return video
  }

  /** Runs in the transaction that locks the video. Throws like `check`. */
  async function replace(
    unit: Unit,
    { videoId, by, draft }: { videoId: number; by: NonNullable<Viewer>; draft: FileDraft },
  ): Promise<void> {
    const video = await unit.em.findOneOrFail(Video, videoId)
    if (video.state === 'removed') throw notFound('Video not found')
    await assertChangeable(unit, video, by, 'UPDATE_ANY_VIDEO')
    refuseMoving(video)
    const [owner] = await unit.query<{ user_id: number | null }>(
      'select a.user_id from channel c join account a on a.id = c.account_id where c.id = $1',
      [video.channelId],
    )
    await refuseOverQuota(unit, owner?.user_id ?? 0, draft.probe.size)
    if (await mustWait(unit.query, by, config())) {
      // Other servers have the video already. They get the update after the review of the new file.
      await quarantine(unit, video, { unfederated: false })
      placeFiles.ask(unit, videoId)
    }
    const { waitTranscoding } = video
    const isAwaited = !playedAtOnce(draft, video)
    const event = { type: 'SOURCE_REPLACED', isAwaited, waitTranscoding } as const
    await exchange(unit, video, draft, { event, retimed: undefined })
  }

  async function exchange(
    unit: Unit,
    video: Video,
    draft: FileDraft,
    { event, retimed }: { event: VideoEvent; retimed: Retimed | undefined },
  ): Promise<void> {
    const { id: videoId } = video
    // First, since pictures that are not used after all become pending again.
    await pendingFiles.settle(unit.query, inspectFile.filesOf(draft))
    const gone = await storeSource(unit, videoId, draft, { isUploaded: event.type === 'SOURCE_REPLACED' })
    await cancelTranscodings(unit, videoId)
    await outdateFiles(unit, videoId)
    await storePendingParts(unit, videoId, draft, retimed)
    const played = playedAtOnce(draft, video)
    // The playing version keeps its duration and parts; the first new rendition brings its own.
    if (played || !isPublished(video)) {
      Object.assign(video, dimensionsOf(draft.probe))
      await applyPendingParts(unit, videoId)
    }
    Object.assign(video, { inputFileUpdatedAt: unit.now, updatedAt: unit.now })
    if (played) gone.push(...(await dropOutdated(unit, video)))
    // The visible video changes with the first rendition; but other servers may be told that it is being edited.
    if (played || video.state === 'to-edit') advanceAndAnnounce(unit, video, [event])
    else advance(unit, videoLifecycle, video, event)
    await takeFile(unit, video, { draft, played }, { config: config(), pendingFiles, placeFiles })
    await pendingFiles.condemn(unit.query, gone)
  }

  /** The date is that of the upload: a file that this server made was not added by a user. */
  async function storeSource(unit: Unit, videoId: number, draft: FileDraft, { isUploaded }: { isUploaded: boolean }): Promise<FileRef[]> {
    const row = sourceOf(draft)
    const source = await unit.em.findOne(VideoSource, { videoId })
    if (!source) {
      unit.em.create(VideoSource, { ...row, videoId, createdAt: unit.now })
      return []
    }
    const { keptFilename } = source
    Object.assign(source, row, isUploaded ? { createdAt: unit.now } : {})
    return keptFilename ? [original(keptFilename)] : []
  }

  return {
    replace,

    /**
     * The same without permission and quota checks, for a file that was made from the video's own. `retimed` describes how its times
     * differ.
     */
    edited(unit: Unit, video: Video, draft: FileDraft, retimed: Retimed | undefined): Promise<void> {
      return exchange(unit, video, draft, { event: { type: 'EDITED' }, retimed })
    },

    /**
     * Throws `not_found`, `forbidden`, `conflict` while the video is being processed or live, and `too_large` if the owner's quota does not
     * hold both files.
     */
    async check(videoId: number, by: NonNullable<Viewer>, bytes: number): Promise<void> {
      const video = await find(videoId)
      const { privacy, blocked, remote, owner_account_id: ownerAccountId } = video
      assertMayChange({ privacy, blocked, remote, ownerAccountId }, by, 'UPDATE_ANY_VIDEO')
      refuseMoving({ state: video.state, isLive: video.is_live })
      if (bytes > (await quotaLeft(db, video.user_id ?? 0))) throw overQuota()
    },

    /** Probes the file. Throws `unprocessable` if it cannot be used, and `not_found` without the video. */
    async inspect({ videoId, ...file }: { videoId: number; inputFilename: string; path: string; place?: FileRef | undefined }) {
      return await inspectFile.inspect({ ...file, video: await find(videoId), pictures: {} })
    },

    /**
     * Removes the retained original; does nothing without one. Throws `not_found`, and `conflict` while a job works on the video's files or
     * none has been made yet.
     */
    removeRetained(videoId: number): Promise<void> {
      return tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, videoId)
        const source = await unit.em.findOne(VideoSource, { videoId })
        if (video.state === 'removed' || !source) throw notFound('Video source not found')
        const { keptFilename } = source
        if (!keptFilename) return
        const [needed] = await unit.query<{ isBeingProcessed: boolean; only: boolean }>(
          `select ${isBeingProcessed} as "isBeingProcessed",
             not exists (select from video_file f where f.video_id = v.id and not f.outdated and not f.provisional) as only
           from video v where v.id = $1`,
          [videoId],
        )
        if (needed?.isBeingProcessed) throw stillBeingProcessed()
        if (needed?.only) throw new DomainError('conflict', 'Nothing else is there of which this video can be made.')
        source.keptFilename = null
        await pendingFiles.condemn(unit.query, [original(keptFilename)])
      })
    },
  }
}

const original = (name: string): FileRef => ({ kind: 'original_video_files', name })

/** States of the machine `video` that accept another file. */
const REPLACEABLE: ReadonlySet<string> = new Set(['published', 'transcoding-failed'])

function refuseMoving({ state, isLive }: { state: string; isLive: boolean }): void {
  if (isLive) throw new DomainError('invalid', 'The file of a live cannot be replaced.')
  if (!REPLACEABLE.has(state)) throw new DomainError('conflict', 'The file of this video cannot be replaced now.')
}
