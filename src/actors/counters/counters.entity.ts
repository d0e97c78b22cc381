// Positions of the walks over the counters.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Reconciliation = defineEntity({
  name: 'Reconciliation',
  tableName: 'reconciliation',
  properties: {
    counter: p.text().primary(),
    after: p.integer(),
    lookedAt: p.datetime(3).nullable(),
  },
})
