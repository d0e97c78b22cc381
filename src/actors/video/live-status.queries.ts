// What the viewers of lives are notified about. One statement.

import type { Database } from '../../platform/database/index.ts'
import { currentViewers } from './current-viewers.ts'
import { accessColumns, type VideoAccessRow } from './video.queries.ts'

export interface LiveStatusRow extends Omit<VideoAccessRow, 'password'> {
  /** Current viewers. */
  viewers: number
}

/** Those of these videos that exist, whether or not they are lives: a replay replaces its live. */
export const listLiveStatus = (db: Pick<Database, 'query'>, videoIds: readonly number[]): Promise<LiveStatusRow[]> =>
  db.query<LiveStatusRow>(
    `select ${accessColumns}, ${currentViewers('v', 'w')} as viewers
     from video v join channel c on c.id = v.channel_id left join viewing w on w.video_id = v.id
     where v.id = any($1::int[]) and v.state <> 'removed'`,
    [videoIds],
  )
