// Accounts and servers that an account, or the instance, blocks.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const AccountBlock = defineEntity({
  name: 'AccountBlock',
  tableName: 'account_block',
  properties: {
    id: p.integer().primary(),
    ownerId: p.integer().nullable(),
    targetId: p.integer(),
    createdAt: p.datetime(3),
  },
})

export const ServerBlock = defineEntity({
  name: 'ServerBlock',
  tableName: 'server_block',
  properties: {
    id: p.integer().primary(),
    ownerId: p.integer().nullable(),
    host: p.text(),
    createdAt: p.datetime(3),
  },
})
