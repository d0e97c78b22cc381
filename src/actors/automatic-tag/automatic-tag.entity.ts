// Tags of videos and comments by watched words and links, and the tags whose comments need a review.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

export const CommentAutomaticTag = defineEntity({
  name: 'CommentAutomaticTag',
  tableName: 'comment_automatic_tag',
  properties: {
    // The table has no primary key, but an index over `coalesce(account_id, 0)`.
    commentId: p.integer().primary(),
    accountId: p.integer().nullable(),
    name: p.text().primary(),
  },
})

export const VideoAutomaticTag = defineEntity({
  name: 'VideoAutomaticTag',
  tableName: 'video_automatic_tag',
  properties: {
    videoId: p.integer().primary(),
    name: p.text().primary(),
  },
})

export const CommentTagPolicy = defineEntity({
  name: 'CommentTagPolicy',
  tableName: 'comment_tag_policy',
  properties: {
    accountId: p.integer().primary(),
    review: p.type(TextArray),
    updatedAt: p.datetime(3),
  },
})
