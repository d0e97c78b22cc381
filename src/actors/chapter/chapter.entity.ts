// Chapters of videos.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const VideoChapter = defineEntity({
  name: 'VideoChapter',
  tableName: 'video_chapter',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    timecode: p.integer(),
    title: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
