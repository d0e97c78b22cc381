// The user's comments: `comments`, oldest first. They are not imported.

import { z } from 'zod'
import { date, definePart, nullableText } from '../part.ts'
import { iso, mapped, rowsOf, upTo } from '../rows.ts'

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

export const comments = definePart({
  name: 'comments',
  list: 'comments',
  item: z.object({ url: z.string(), text: z.string(), createdAt: date, videoUrl: z.string(), inReplyToCommentUrl: nullableText }),
  result: null,

  export: (of) =>
    mapped(upTo(of, rowsOf<CommentRow>(of, COMMENTS, [of.user.account.id])), ({ key: _, parentUrl, ...comment }) => ({
      ...comment,
      createdAt: iso(comment.createdAt),
      ...(parentUrl === null ? {} : { inReplyToCommentUrl: parentUrl }),
    })),
})
