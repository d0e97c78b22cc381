// The import of an archive (machine `user-import`), and its results.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const UserImport = defineEntity({
  name: 'UserImport',
  tableName: 'user_import',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    state: p.text(),
    context: p.json<unknown>(),
    dueAt: p.datetime(3).nullable(),
    leaseOwner: p.text().nullable(),
    archive: p.text().nullable(),
    size: p.bigint('number'),
    item: p.integer(),
    items: p.integer().nullable(),
    summary: p.json<unknown>(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    failures: p.json<unknown>(),
  },
})
