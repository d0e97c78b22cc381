// Captions of videos.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const VideoCaption = defineEntity({
  name: 'VideoCaption',
  tableName: 'video_caption',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    language: p.text(),
    filename: p.text(),
    fileUrl: p.text().nullable(),
    automaticallyGenerated: p.boolean(),
    storage: p.smallint(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
