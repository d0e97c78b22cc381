// An account: the Person side of a user, or of a remote person.

import { defineEntity, p } from '@mikro-orm/postgresql'

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.integer().primary(),
    actorId: p.integer(),
    userId: p.integer().nullable(),
    name: p.text(),
    description: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account)
