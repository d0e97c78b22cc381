// An edition of a video (machine `video-edition`), and its tasks.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const VideoEdition = defineEntity({
  name: 'VideoEdition',
  tableName: 'video_edition',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    leaseOwner: p.text().nullable(),
    leaseUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
})

export const VideoEditionTask = defineEntity({
  name: 'VideoEditionTask',
  tableName: 'video_edition_task',
  properties: {
    id: p.integer().primary(),
    editionId: p.integer(),
    position: p.smallint(),
    name: p.text(),
    startAt: p.double().nullable(),
    endAt: p.double().nullable(),
    filename: p.text().nullable(),
  },
})
