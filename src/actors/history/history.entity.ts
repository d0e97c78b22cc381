// Watched videos of a user, with positions.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const History = defineEntity({
  name: 'History',
  tableName: 'history',
  properties: {
    accountId: p.integer().primary(),
    videoId: p.integer().primary(),
    seconds: p.integer(),
    watchedAt: p.datetime(3),
  },
})
