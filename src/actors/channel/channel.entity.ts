// A channel: the Group that publishes videos, owned by an account of the same host.

import { defineEntity, p } from '@mikro-orm/postgresql'

const ChannelSchema = defineEntity({
  name: 'Channel',
  tableName: 'channel',
  properties: {
    id: p.integer().primary(),
    actorId: p.integer(),
    accountId: p.integer(),
    name: p.text(),
    description: p.text().nullable(),
    support: p.text().nullable(),
    /** Of the machine `channel`. */
    state: p.text().default('active'),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class Channel extends ChannelSchema.class {}
ChannelSchema.setClass(Channel)
