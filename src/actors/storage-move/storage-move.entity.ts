// The move of the files of a video between the disk and object storage (machine `storage-move`).

import { defineEntity, p } from '@mikro-orm/postgresql'

export const SpareCopy = defineEntity({
  name: 'SpareCopy',
  tableName: 'spare_copy',
  properties: {
    id: p.integer().primary(),
    kind: p.text(),
    name: p.text(),
    place: p.smallint(),
    videoId: p.integer().nullable(),
    createdAt: p.datetime(3),
  },
})

export const StorageMove = defineEntity({
  name: 'StorageMove',
  tableName: 'storage_move',
  properties: {
    videoId: p.integer().primary(),
    target: p.smallint(),
    createdAt: p.datetime(3),
    unwantedSince: p.datetime(3).nullable(),
  },
})
