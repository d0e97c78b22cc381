// Writes of storyboards in the transactions of other nouns.

import type { FileRef } from '../../media/index.ts'
import type { Unit } from '../runtime/index.ts'

export interface RemoteStoryboard {
  fileUrl: string
  /** px */
  totalWidth: number
  totalHeight: number
  spriteWidth: number
  spriteHeight: number
  /** Seconds. */
  spriteDuration: number
}

/** Removes the storyboard of a video; returns its file. */
export async function removeStoryboard(unit: Unit, videoId: number): Promise<FileRef[]> {
  const removed = await unit.query<{ filename: string }>('delete from storyboard where video_id = $1 returning filename', [videoId])
  return removed.map(({ filename }) => ({ kind: 'storyboards', name: filename }))
}

/** The storyboard of a remote video. */
export async function replaceRemoteStoryboard(unit: Unit, videoId: number, storyboard: RemoteStoryboard | null): Promise<void> {
  await unit.query('delete from storyboard where video_id = $1 and file_url is distinct from $2', [videoId, storyboard?.fileUrl ?? null])
  if (storyboard === null) return
  await unit.query(
    `insert into storyboard (video_id, filename, file_url, total_width, total_height, sprite_width, sprite_height,
       sprite_duration, created_at, updated_at)
     values ($1, gen_random_uuid() || '.jpg', $2, $3, $4, $5, $6, $7, $8, $8)
     on conflict (video_id) do update set total_width = excluded.total_width, total_height = excluded.total_height,
       sprite_width = excluded.sprite_width, sprite_height = excluded.sprite_height,
       sprite_duration = excluded.sprite_duration`,
    [
      videoId,
      storyboard.fileUrl,
      storyboard.totalWidth,
      storyboard.totalHeight,
      storyboard.spriteWidth,
      storyboard.spriteHeight,
      storyboard.spriteDuration,
      unit.now,
    ],
  )
}
