// Writes of videos in the transactions of other nouns.

import type { Aliased, Columns, Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'
import type { Thumbnail, Video } from './video.entity.ts'

/** SQL: the start of an update that blocks the video $1. */
export const BLOCK_VIDEO = 'update video set blocked = true where id = $1'

/**
 * Ends the block that began at `blockedAt`. A local video whose processing ended meanwhile is published now (`isNew`). `isKnown`: it was
 * published before the block.
 */
export async function endBlockOfVideo(
  unit: Unit,
  videoId: number,
  blockedAt: Date,
): Promise<{ isNew: boolean; isKnown: boolean; privacy: number } | undefined> {
  const [video] = await unit.query<Columns<Video, 'privacy'> & { isNew: boolean; isKnown: boolean }>(
    `update video v set blocked = false, published_at = case when n.is_new then $3 else v.published_at end
     from (select id, not remote and state = 'published' and published_at >= $2 as is_new from video where id = $1) n
     where v.id = n.id returning n.is_new as "isNew", v.created_at < $2 as "isKnown", v.privacy`,
    [videoId, blockedAt, unit.now],
  )
  return video
}

export const touchVideo = (unit: Unit, videoId: number) => unit.query('update video set updated_at = $2 where id = $1', [videoId, unit.now])

/** Moves the video into a local channel, unless another account owns it. Returns the owner; undefined without the video. */
export async function moveIntoChannel(
  { query, now }: Unit,
  videoId: number,
  channelId: number | null,
  accountId: number,
): Promise<number | undefined> {
  const [channel] = await query<{ accountId: number }>(
    `with chosen as materialized (
       select c.id, c.account_id from channel c join actor x on x.id = c.actor_id
       where c.id = $2 and x.host_id is null and x.deleted_at is null for key share of c
     ), moved as (
       update video v set channel_id = chosen.id, updated_at = $4 from chosen
       where v.id = $1 and chosen.account_id = $3
     ) select account_id as "accountId" from chosen`,
    [videoId, channelId, accountId, now],
  )
  return channel?.accountId
}

/**
 * Returns whether the video is a live, and since when it is published, if it matches the SQL `condition` on `v`, and subscribers have not
 * been notified before: they are notified of a video once, and of each stream of a live.
 */
export async function noteSubscribersNotified(
  query: Sql,
  videoId: number,
  condition: string,
): Promise<{ isLive: boolean; publishedAt: Date } | undefined> {
  const [noted] = await query<Aliased<Video, 'isLive' | 'publishedAt'>>(
    `update video v set subscribers_told = true where v.id = $1 and (not v.subscribers_told or v.is_live) and ${condition}
     returning v.is_live as "isLive", v.published_at as "publishedAt"`,
    [videoId],
  )
  return noted
}

/** Removes the pictures that a user chose from a video; returns them. */
export const takeChosenPictures = (query: Sql, videoId: number) =>
  query<Columns<Thumbnail, 'type' | 'filename' | 'width' | 'height'>>(
    `delete from thumbnail where video_id = $1 and on_disk and not automatically_generated
     returning type, filename, width, height`,
    [videoId],
  )

/** Stops retaining the original; the caller removes its file. */
export const forgetOriginal = (query: Sql, videoId: number) =>
  query('update video_source set kept_filename = null where video_id = $1', [videoId])

const HAS_STALE_COMMENTS = `id = $1 and remote and state <> 'removed' and ($3 or comments_read_at is null or comments_read_at < $2)`

/** True if the comments of a remote video were last read before `before`, or if `all` videos count. */
export const hasStaleComments = async (query: Sql, videoId: number, before: Date, all: boolean): Promise<boolean> =>
  (await query(`select id from video where ${HAS_STALE_COMMENTS}`, [videoId, before, all])).length > 0

/** The same, and marks them as read now. */
export const claimStaleComments = async ({ query, now }: Unit, videoId: number, before: Date, all: boolean): Promise<boolean> =>
  (await query(`update video set comments_read_at = $4 where ${HAS_STALE_COMMENTS} returning id`, [videoId, before, all, now])).length > 0
