// The user's last position in each video, with its time: `video-history`.

import { z } from 'zod'
import { secondsOf } from '../import-fields.ts'
import { date, definePart } from '../part.ts'
import { iso, mapped, rowsOf, upTo } from '../rows.ts'

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

export const history = definePart({
  name: 'video-history',
  list: 'watchedVideos',
  /** `lastTimecode` in seconds. */
  item: z.object({ videoUrl: z.string(), lastTimecode: z.number(), createdAt: date, updatedAt: date }),
  result: 'userVideoHistory',
  namedBy: 'videoUrl',

  export: (of) =>
    mapped(upTo(of, rowsOf<HistoryRow>(of, HISTORY, [of.user.account.id])), ({ url, seconds, watchedAt }) => ({
      videoUrl: url,
      lastTimecode: seconds,
      // The time of the first view is not stored.
      createdAt: iso(watchedAt),
      updatedAt: iso(watchedAt),
    })),

  import:
    ({ references, history: watched }) =>
    async ({ videoUrl, lastTimecode, updatedAt }, context) => {
      const { accountId } = context
      const seconds = secondsOf(lastTimecode)
      if (seconds === undefined) return { error: 'invalid' }
      const videoId = await references.video(videoUrl, context)
      const outcome = await watched.recall({ accountId, videoId, seconds, at: new Date(updatedAt) })
      if (outcome === 'refused') return { error: 'forbidden' }
      return outcome === 'stored' ? 'success' : 'duplicate'
    },
})
