// Likes and dislikes. An existing rating stays.

import { findRating, type RatingType } from '../../rating/index.ts'
import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'

export function makeRatingsImporter<P extends 'likes' | 'dislikes'>(part: P, deps: Deps): PartImporter<P> {
  const { db, ratings, references } = deps
  const rating: RatingType = part === 'likes' ? 'like' : 'dislike'
  return {
    part,
    async importItem({ videoUrl }, context) {
      const { accountId } = context
      const videoId = await references.video(videoUrl, context)
      if ((await findRating(db.query, videoId, accountId)) !== 'none') return 'duplicate'
      await ratings.setRating({ videoId, accountId, rating })
      return 'success'
    },
  }
}
