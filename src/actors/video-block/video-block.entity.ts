// Videos that the instance blocked, and blocks of removed videos.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const VideoBlock = defineEntity({
  name: 'VideoBlock',
  tableName: 'video_block',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    type: p.smallint(),
    reason: p.text().nullable(),
    unfederated: p.boolean(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const KeptVideoBlock = defineEntity({
  name: 'KeptVideoBlock',
  tableName: 'kept_video_block',
  properties: {
    urlHash: p.uuid().primary(),
    url: p.text(),
    type: p.smallint(),
    reason: p.text().nullable(),
    createdAt: p.datetime(3),
    keptAt: p.datetime(3),
  },
})
