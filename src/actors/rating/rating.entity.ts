// Likes and dislikes, and retained ones of removed videos.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Rating = defineEntity({
  name: 'Rating',
  tableName: 'rating',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    accountId: p.integer(),
    type: p.text().$type<RatingType>(),
    url: p.text(),
    urlHash: p.uuid().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const KeptRating = defineEntity({
  name: 'KeptRating',
  tableName: 'kept_rating',
  properties: {
    id: p.integer().primary(),
    type: p.text(),
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

export type RatingType = 'like' | 'dislike'
