// Notifications about comments: for the owner of the video, including comments pending review, and for mentioned users once the comment is
// visible.

import { rule } from '../rule.ts'
import { notificationTypes } from '../types.ts'

/** SQL: the comments of the events; looked up by id, however many owners there are. */
const SAID = `unnest((select $1::int[])) as said (id)
  join lateral (select c.id, c.video_id, c.account_id from comment c where c.id = said.id offset 0) comment on true`

export const newComment = rule({
  on: ['CommentCreated'],
  type: 'newCommentOnMyVideo',
  about: ['comment_id'],
  id: ({ commentId }) => commentId,
  audience: `
    select owner.user_id, comment.id::text as key, author.actor_id as by_actor_id, comment.id as comment_id
    from ${SAID} join video on video.id = comment.video_id join channel on channel.id = video.channel_id
      join account owner on owner.id = channel.account_id join account author on author.id = comment.account_id
    where owner.user_id is not null`,
})

/** One notification per user and comment. */
export const mention = rule({
  on: ['CommentCreated', 'CommentApproved', 'CommentShown'],
  type: 'commentMention',
  about: ['comment_id'],
  id: ({ commentId }) => commentId,
  audience: `
    select mentioned.user_id, comment.id::text as key, author.actor_id as by_actor_id, comment.id as comment_id
    from ${SAID} join account author on author.id = comment.account_id
      join comment_mention on comment_mention.comment_id = comment.id
      join account mentioned on mentioned.id = comment_mention.account_id
    where mentioned.user_id is not null and not exists (
      select from notification known where known.user_id = mentioned.user_id and known.comment_id = comment.id
        and known.type = ${notificationTypes.newCommentOnMyVideo})`,
})
