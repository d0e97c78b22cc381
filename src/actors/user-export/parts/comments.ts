// The user's comments: `comments`, oldest first.

import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso, rowsOf, upTo } from '../rows.ts'

interface CommentRow {
  key: number
  url: string
  text: string
  createdAt: Date
  videoUrl: string
  parentUrl: string | null
}

const COMMENTS = `select m.id as key, m.url, m.text, m.created_at as "createdAt", v.url as "videoUrl", p.url as "parentUrl"
  from comment m join video v on v.id = m.video_id left join comment p on p.id = m.parent_id
  where m.account_id = $3 and m.deleted_at is null and v.state <> 'removed' and m.id > $1 order by m.id limit $2`

export const writeComments = (of: Export): Promise<void> =>
  of.writer.list('comments', items(upTo(of, rowsOf<CommentRow>(of, COMMENTS, [of.user.account.id]))))

async function* items(rows: AsyncIterable<CommentRow>): AsyncGenerator<PartItem<'comments'>> {
  for await (const { url, text, createdAt, videoUrl, parentUrl } of rows) {
    const answered = parentUrl === null ? {} : { inReplyToCommentUrl: parentUrl }
    yield { url, text, createdAt: iso(createdAt), videoUrl, ...answered }
  }
}
