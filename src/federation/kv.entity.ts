// Values of Fedify, without Redis.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Kv = defineEntity({
  name: 'Kv',
  tableName: 'kv',
  properties: {
    key: p.text().primary(),
    value: p.json<unknown>(),
    expiresAt: p.datetime(3).nullable(),
  },
})
