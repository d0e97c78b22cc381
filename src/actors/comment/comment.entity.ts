// A comment on a video. A deleted one keeps its row as long as there are replies (Tombstone).

import { defineEntity, p } from '@mikro-orm/postgresql'

const CommentSchema = defineEntity({
  name: 'Comment',
  tableName: 'comment',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    accountId: p.integer().nullable(),
    /** The comment that started the thread; null for that one itself. */
    threadId: p.integer().nullable(),
    parentId: p.integer().nullable(),
    url: p.string(),
    text: p.string(),
    heldForReview: p.boolean(),
    /** The ApproveReply of the video's server. */
    approvalUrl: p.string().nullable(),
    /** What its author sent, as long as it waits for approval here. */
    heldActivity: p.text().nullable(),
    deletedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Comment extends CommentSchema.class {}
CommentSchema.setClass(Comment)
