// What hides a comment: it is pending review, or an ancestor is. A deleted comment keeps its row as long as it has replies (Tombstone). The
// SQL here is for counts in other nouns.

import { defineEntity, p } from '@mikro-orm/postgresql'

/** SQL: true if a comment is pending review. A rejected comment is not, though it was never visible. */
export const waits = (comment: string): string => `(${comment}.held_for_review and ${comment}.deleted_at is null)`

/** SQL: the replies to a comment, for a join that uses the index whatever number of rows the planner expects. */
export const answersTo = (comment: string): string => `lateral (select r.id from comment r where r.parent_id = ${comment} offset 0)`

/** SQL: the ids of comments on a video that are pending review, and of their replies. The others count and are federated. */
export const waitingBelow = (video: string): string => `
  with recursive waiting as (
    select unnest(array(select w.id from comment w where w.video_id = ${video} and ${waits('w')})) as id
    union select answer.id from waiting, ${answersTo('waiting.id')} answer
  ) select id from waiting`

export const Comment = defineEntity({
  name: 'Comment',
  tableName: 'comment',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    accountId: p.integer().nullable(),
    threadId: p.integer().nullable(),
    parentId: p.integer().nullable(),
    url: p.text(),
    urlHash: p.uuid().nullable(),
    text: p.text(),
    heldForReview: p.boolean(),
    deletedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    approvalUrl: p.text().nullable(),
    heldActivity: p.text().nullable(),
  },
})

export const CommentMention = defineEntity({
  name: 'CommentMention',
  tableName: 'comment_mention',
  properties: {
    commentId: p.integer().primary(),
    accountId: p.integer().primary(),
  },
})

export const CommentTotal = defineEntity({
  name: 'CommentTotal',
  tableName: 'comment_total',
  properties: {
    held: p.boolean().primary(),
    total: p.integer(),
  },
})

export const CommentTotalDelta = defineEntity({
  name: 'CommentTotalDelta',
  tableName: 'comment_total_delta',
  properties: {
    id: p.bigint('number').primary(),
    held: p.boolean(),
    delta: p.integer(),
  },
})

export const WaitingComment = defineEntity({
  name: 'WaitingComment',
  tableName: 'waiting_comment',
  properties: {
    id: p.integer().primary(),
    url: p.text(),
    urlHash: p.uuid(),
    actorId: p.integer(),
    body: p.text(),
    createdAt: p.datetime(3),
  },
})

export const KeptComment = defineEntity({
  name: 'KeptComment',
  tableName: 'kept_comment',
  properties: {
    id: p.integer().primary(),
    parentUrl: p.text().nullable(),
    text: p.text(),
    heldForReview: p.boolean(),
    approvalUrl: p.text().nullable(),
    updatedAt: p.datetime(3),
    url: p.text(),
    urlHash: p.uuid(),
    videoUrl: p.text(),
    videoUrlHash: p.uuid(),
    actorId: p.integer(),
    accountId: p.integer(),
    createdAt: p.datetime(3),
    keptAt: p.datetime(3),
  },
})
