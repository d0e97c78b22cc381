// An archive of what is a user's; its lifecycle is the machine `user-export`.

import { defineEntity, p } from '@mikro-orm/postgresql'

const UserExportSchema = defineEntity({
  name: 'UserExport',
  tableName: 'user_export',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    withVideoFiles: p.boolean(),
    /** In the store; null until the archive is whole. */
    filename: p.text().nullable(),
    /** Bytes; null until the archive is whole. */
    size: p.bigint('number').nullable(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that is at it; `dueAt` is the end of its lease. */
    leaseOwner: p.text().nullable(),
    /** When the archive goes, as its user reads it. */
    expiresOn: p.datetime(3),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class UserExport extends UserExportSchema.class {}
UserExportSchema.setClass(UserExport)
