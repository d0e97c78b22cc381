// Avatars and banners.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const ActorImage = defineEntity({
  name: 'ActorImage',
  tableName: 'actor_image',
  properties: {
    id: p.integer().primary(),
    actorId: p.integer(),
    type: p.smallint(),
    filename: p.text(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    fileUrl: p.text().nullable(),
    onDisk: p.boolean(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
