// Where the user was last in which video, with the time of that.

import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'
import { secondsOf } from './fields.ts'

export function makeHistoryImporter({ db, history, references }: Deps): PartImporter<'video-history'> {
  return {
    part: 'video-history',
    async importItem({ videoUrl, lastTimecode, updatedAt }, context) {
      const { accountId } = context
      const told = secondsOf(lastTimecode)
      if (told === undefined) return 'error'
      const videoId = await references.video(videoUrl, context)
      const [video] = await db.query<{ duration: number }>('select duration from video where id = $1', [videoId])
      // The other server may have rounded its length the other way.
      const seconds = video && video.duration > 0 ? Math.min(told, video.duration) : told
      const outcome = await history.recall({ accountId, videoId, seconds, at: new Date(updatedAt) })
      return { stored: 'success', known: 'duplicate', refused: 'error' }[outcome] as 'success' | 'duplicate' | 'error'
    },
  }
}
