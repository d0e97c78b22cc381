// The user's last position in each video: `video-history`.

import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso, rowsOf, upTo } from '../rows.ts'

interface HistoryRow {
  key: number
  url: string
  seconds: number
  watchedAt: Date
}

// The limit applies to the video, too: a join in order would begin each page at the first of all videos.
const HISTORY = `select y.video_id as key, v.url, y.seconds, y.watched_at as "watchedAt"
  from history y join video v on v.id = y.video_id
  where y.account_id = $3 and y.video_id > $1 and v.id > $1 order by y.video_id limit $2`

export const writeHistory = (of: Export): Promise<void> =>
  of.writer.list('video-history', items(upTo(of, rowsOf<HistoryRow>(of, HISTORY, [of.user.account.id]))))

async function* items(rows: AsyncIterable<HistoryRow>): AsyncGenerator<PartItem<'video-history'>> {
  // The time of the first view is not stored.
  for await (const { url, seconds, watchedAt } of rows) {
    yield { videoUrl: url, lastTimecode: seconds, createdAt: iso(watchedAt), updatedAt: iso(watchedAt) }
  }
}
