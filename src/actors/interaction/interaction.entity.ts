// Rounds over ratings, shares and comments of other servers.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const InteractionMiss = defineEntity({
  name: 'InteractionMiss',
  tableName: 'interaction_miss',
  properties: {
    kind: p.text().primary(),
    interactionId: p.integer().primary(),
    misses: p.integer(),
    roundAt: p.datetime(3),
  },
})

export const InteractionsCleaning = defineEntity({
  name: 'InteractionsCleaning',
  tableName: 'interactions_cleaning',
  properties: {
    id: p.integer().primary(),
    dueAt: p.datetime(3).nullable(),
    settings: p.text().nullable(),
    kind: p.text().nullable(),
    afterId: p.integer().nullable(),
    roundAt: p.datetime(3).nullable(),
  },
})
