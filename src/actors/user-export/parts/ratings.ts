// The user's likes and dislikes: `likes` and `dislikes`, in both folders.

import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso, rowsOf, upTo } from '../rows.ts'

interface RatingRow {
  key: number
  url: string
  createdAt: Date
}

const RATINGS = `select r.id as key, v.url, r.created_at as "createdAt" from rating r join video v on v.id = r.video_id
  where r.account_id = $3 and r.type = $4 and r.id > $1 order by r.id limit $2`

const KINDS = { like: 'likes', dislike: 'dislikes' } as const

export async function writeRatings(of: Export): Promise<void> {
  const { writer, documents } = of
  for (const type of ['like', 'dislike'] as const) {
    const name = KINDS[type]
    const rows = () => upTo(of, rowsOf<RatingRow>(of, RATINGS, [of.user.account.id, type]))
    await writer.list(name, items(rows()))
    await writer.collection(name, documents.collection(`${name}.json`, 'addresses'), addresses(rows()))
  }
}

async function* items(rows: AsyncIterable<RatingRow>): AsyncGenerator<PartItem<'likes'>> {
  for await (const { url, createdAt } of rows) yield { videoUrl: url, createdAt: iso(createdAt) }
}

async function* addresses(rows: AsyncIterable<RatingRow>): AsyncGenerator<string> {
  for await (const { url } of rows) yield url
}
