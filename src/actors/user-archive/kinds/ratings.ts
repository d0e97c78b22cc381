// The user's likes and dislikes: `likes` and `dislikes`, in both folders. An existing rating stays.

import { z } from 'zod'
import { findRating } from '../../rating/index.ts'
import { date, definePart } from '../part.ts'
import { iso, mapped, rowsOf, upTo } from '../rows.ts'

interface RatingRow {
  key: number
  url: string
  createdAt: Date
}

const RATINGS = `select r.id as key, v.url, r.created_at as "createdAt" from rating r join video v on v.id = r.video_id
  where r.account_id = $3 and r.type = $4 and r.id > $1 order by r.id limit $2`

const part = <N extends 'likes' | 'dislikes'>(name: N, rating: 'like' | 'dislike') =>
  definePart({
    name,
    list: name,
    item: z.object({ videoUrl: z.string(), createdAt: date }),
    result: name,
    namedBy: 'videoUrl',

    async export(of) {
      const rows = () => upTo(of, rowsOf<RatingRow>(of, RATINGS, [of.user.account.id, rating]))
      const frame = of.documents.collection(`${name}.json`, 'addresses')
      await of.writer.collection(
        name,
        frame,
        mapped(rows(), ({ url }) => url),
      )
      return mapped(rows(), ({ url, createdAt }) => ({ videoUrl: url, createdAt: iso(createdAt) }))
    },

    import:
      ({ db, ratings, references }) =>
      async ({ videoUrl }, context) => {
        const { accountId } = context
        const videoId = await references.video(videoUrl, context)
        if ((await findRating(db.query, videoId, accountId)) !== 'none') return 'duplicate'
        await ratings.setRating({ videoId, accountId, rating })
        return 'success'
      },
  })

export const likes = part('likes', 'like')
export const dislikes = part('dislikes', 'dislike')
