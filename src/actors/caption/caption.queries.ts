// Reads of captions.

import type { Database } from '../../platform/database/index.ts'

export interface CaptionRow {
  language: string
  filename: string
  automatically_generated: boolean
  updated_at: Date
}

/** The captions of a video, by language. */
export async function listCaptions(db: Pick<Database, 'query'>, videoId: number): Promise<CaptionRow[]> {
  return await db.query<CaptionRow>(
    `select language, filename, automatically_generated, updated_at from video_caption
     where video_id = $1 order by language`,
    [videoId],
  )
}
