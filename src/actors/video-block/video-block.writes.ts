// Writes of blocks in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'
import { BLOCK_VIDEO } from '../video/video.writes.ts'

/** Returns true if the block is new: an existing one stays. */
export async function storeBlock(
  unit: Unit,
  block: { videoId: number; type: number; reason: string | null; unfederated: boolean },
): Promise<boolean> {
  const stored = await unit.query(
    `insert into video_block (video_id, type, reason, unfederated, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5) on conflict (video_id) do nothing returning id`,
    [block.videoId, block.type, block.reason, block.unfederated, unit.now],
  )
  return stored.length > 0
}

/** Gives a new video the block of another one. Returns false if that has none. */
export async function copyBlock(unit: Unit, { from, to }: { from: number; to: number }): Promise<boolean> {
  const stored = await unit.query(
    `insert into video_block (video_id, type, reason, unfederated, created_at, updated_at)
     select $2, type, reason, unfederated, $3, $3 from video_block where video_id = $1 returning id`,
    [from, to, unit.now],
  )
  return stored.length > 0
}

/** Restores the block of a removed remote video that came back. */
export const restoreBlock = (unit: Unit, videoId: number, url: string) =>
  unit.query(
    `with kept as (
       delete from kept_video_block where url_hash = md5($2)::uuid and url = $2 returning type, reason, created_at
     ), blocked as (
       ${BLOCK_VIDEO} and exists (select 1 from kept)
     ) insert into video_block (video_id, type, reason, created_at, updated_at)
       select $1, type, reason, created_at, $3 from kept`,
    [videoId, url, unit.now],
  )

export const dropRetainedBlocks = (query: Sql, before: Date) => query('delete from kept_video_block where kept_at < $1', [before])
