// The sheet of preview pictures for the seek bar of players.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Storyboard = defineEntity({
  name: 'Storyboard',
  tableName: 'storyboard',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    filename: p.text(),
    fileUrl: p.text().nullable(),
    totalWidth: p.integer(),
    totalHeight: p.integer(),
    spriteWidth: p.integer(),
    spriteHeight: p.integer(),
    spriteDuration: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
