// A channel: the Group that publishes videos, owned by an account of the same host.

import { defineEntity, p } from '@mikro-orm/postgresql'

const ChannelSchema = defineEntity({
  name: 'Channel',
  tableName: 'channel',
  properties: {
    id: p.integer().primary(),
    actorId: p.integer(),
    accountId: p.integer(),
    name: p.string(),
    description: p.string().nullable(),
    support: p.string().nullable(),
    /** Of the machine `channel`. */
    state: p.string().default('active'),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Channel extends ChannelSchema.class {}
ChannelSchema.setClass(Channel)
