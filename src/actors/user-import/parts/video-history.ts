// The user's last position in each video, with its time.

import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'
import { secondsOf } from './fields.ts'

export function makeHistoryImporter({ history, references }: Deps): PartImporter<'video-history'> {
  return {
    part: 'video-history',
    async importItem({ videoUrl, lastTimecode, updatedAt }, context) {
      const { accountId } = context
      const seconds = secondsOf(lastTimecode)
      if (seconds === undefined) return { error: 'invalid' }
      const videoId = await references.video(videoUrl, context)
      const outcome = await history.recall({ accountId, videoId, seconds, at: new Date(updatedAt) })
      if (outcome === 'refused') return { error: 'forbidden' }
      return outcome === 'stored' ? 'success' : 'duplicate'
    },
  }
}
