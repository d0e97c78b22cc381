// What was made from the objects of archives.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const ImportedObject = defineEntity({
  name: 'ImportedObject',
  tableName: 'imported_object',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.integer(),
    kind: p.text(),
    keyHash: p.blob(),
    channelId: p.integer().nullable(),
    videoId: p.integer().nullable(),
    playlistId: p.integer().nullable(),
    createdAt: p.datetime(3),
  },
})
