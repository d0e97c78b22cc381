// The second factor of a user (machine `two-factor`).

import { defineEntity, p } from '@mikro-orm/postgresql'

export const TwoFactor = defineEntity({
  name: 'TwoFactor',
  tableName: 'two_factor',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    state: p.text(),
    dueAt: p.datetime(3).nullable(),
    secretSealed: p.text().nullable(),
    requestTokenHash: p.blob().nullable(),
    lastStep: p.bigint('number').nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
