// An archive of a user's data; its lifecycle is the machine `user-export`.

import { defineEntity, p } from '@mikro-orm/postgresql'

const UserExportSchema = defineEntity({
  name: 'UserExport',
  tableName: 'user_export',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    withVideoFiles: p.boolean(),
    /** Name in the store; null until the archive is complete. */
    filename: p.text().nullable(),
    /** Bytes; null until the archive is complete. */
    size: p.bigint('number').nullable(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that holds the lease; `dueAt` is its end. */
    leaseOwner: p.text().nullable(),
    /** When the archive is deleted, as shown to the user. */
    expiresOn: p.datetime(3),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class UserExport extends UserExportSchema.class {}
UserExportSchema.setClass(UserExport)
