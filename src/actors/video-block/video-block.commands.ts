// Blocks of local and remote videos by the instance: only the owner and the staff still see the video and its files. A block may also
// remove a local video from other servers.

import type { Columns } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { isFederated, type PlaceFiles, queueTorrents, videoBlockTypes } from '../video/index.ts'
import { BLOCK_VIDEO, endBlockOfVideo } from '../video/video.writes.ts'
import type { VideoBlock } from './video-block.entity.ts'
import { storeBlock } from './video-block.writes.ts'

export type VideoBlocks = ReturnType<typeof makeVideoBlocks>

export function makeVideoBlocks(deps: ActorDeps & { placeFiles: PlaceFiles }) {
  const { tell, config, logger, placeFiles } = deps

  /** Runs a change in the video's transaction; its files are moved. */
  async function change(videoId: number, apply: (unit: Unit, video: { remote: boolean }) => Promise<void>): Promise<void> {
    const isLocal = await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const [video] = await unit.query<{ remote: boolean }>("select remote from video where id = $1 and state <> 'removed'", [videoId])
      if (!video) throw notFound('Video not found')
      await apply(unit, video)
      if (video.remote) return false
      placeFiles.ask(unit, videoId)
      queueTorrents(unit, videoId, config(), 'update-metadata')
      return true
    })
    if (!isLocal) return
    // The job would do it soon. Doing it now, no client that got the response sees a file at its old address.
    await placeFiles
      .now(videoId)
      .catch((error: unknown) => logger.warn({ err: error, videoId }, 'the files of a video wait for their job to be moved'))
  }

  return {
    /** Throws `not_found`, `conflict` if it is blocked already, or if `unfederate` is requested for a remote video. */
    block(videoId: number, { reason, unfederate, byUserId }: { reason: string | null; unfederate: boolean; byUserId: number }) {
      return change(videoId, async (unit, { remote }) => {
        if (remote && unfederate) throw new DomainError('conflict', 'A video of another server cannot be taken back from others.')
        const isNew = await storeBlock(unit, { videoId, type: videoBlockTypes.manual, reason, unfederated: unfederate })
        if (!isNew) throw new DomainError('conflict', 'This video is blocked already.')
        await unit.query(BLOCK_VIDEO, [videoId])
        unit.emit({ aggregate: 'video', id: videoId }, 'VideoBlocked', { videoId, byUserId })
      })
    },

    /** Changes the reason, if given. Throws `not_found` unless the video is blocked. */
    async update(videoId: number, { reason }: { reason?: string | null | undefined }): Promise<void> {
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const changed = await unit.query(
          `update video_block b set reason = case when $3 then $2 else b.reason end, updated_at = $4
           from video v where b.video_id = $1 and v.id = b.video_id and v.state <> 'removed' returning b.id`,
          [videoId, reason ?? null, reason !== undefined, unit.now],
        )
        if (changed.length === 0) throw notFound('Blacklisted video not found')
      })
    },

    /** Throws `not_found` unless the video is blocked. */
    unblock(videoId: number, { byUserId }: { byUserId: number }): Promise<void> {
      return change(videoId, async (unit) => {
        const [ended] = await unit.query<Columns<typeof VideoBlock, 'id' | 'createdAt' | 'type'>>(
          'delete from video_block where video_id = $1 returning id, created_at, type',
          [videoId],
        )
        if (!ended) throw notFound('Blacklisted video not found')
        // A video whose processing ended during the block, like any that waited for a moderator, is published now.
        const video = await endBlockOfVideo(unit, videoId, ended.created_at)
        const of = { aggregate: 'video', id: videoId } as const
        if (!video?.isNew || !isFederated(video.privacy)) unit.emit(of, 'VideoUnblocked', { videoId })
        else unit.emit(of, 'VideoPublished', { videoId, ...(video.isKnown ? { again: true } : {}) })
        const automatic = ended.type === videoBlockTypes.automatic
        unit.emit(of, 'VideoBlockEnded', { videoId, blockId: ended.id, automatic, byUserId })
      })
    },
  }
}
