// A like or dislike of a video by an account: at most one each.

import { defineEntity, p } from '@mikro-orm/postgresql'

const RatingSchema = defineEntity({
  name: 'Rating',
  tableName: 'rating',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    accountId: p.integer(),
    type: p.string().$type<'like' | 'dislike'>(),
    url: p.string(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Rating extends RatingSchema.class {}
RatingSchema.setClass(Rating)
