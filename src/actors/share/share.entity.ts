// Announces of videos.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Share = defineEntity({
  name: 'Share',
  tableName: 'share',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    actorId: p.integer(),
    url: p.text(),
    urlHash: p.uuid().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
