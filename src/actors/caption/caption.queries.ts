// Reads of captions.

import type { Columns, Database } from '../../platform/database/index.ts'
import type { VideoCaption } from './caption.entity.ts'

export type CaptionRow = Columns<typeof VideoCaption, 'language' | 'filename' | 'automaticallyGenerated' | 'updatedAt'>

/** The captions of a video, by language. */
export async function listCaptions(db: Pick<Database, 'query'>, videoId: number): Promise<CaptionRow[]> {
  return await db.query<CaptionRow>(
    `select language, filename, automatically_generated, updated_at from video_caption
     where video_id = $1 order by language`,
    [videoId],
  )
}
