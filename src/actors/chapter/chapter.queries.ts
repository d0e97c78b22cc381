// Reads of chapters.

import type { Database } from '../../platform/database/index.ts'
import type { Chapter } from './chapters.ts'

/** The chapters of a video in their order. */
export async function listChapters(db: Pick<Database, 'query'>, videoId: number): Promise<Chapter[]> {
  return await db.query<Chapter>('select timecode, title from video_chapter where video_id = $1 order by timecode', [videoId])
}
