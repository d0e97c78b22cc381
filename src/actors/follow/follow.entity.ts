// A follow relation between two actors; its lifecycle is the machine `follow`.

import { defineEntity, p } from '@mikro-orm/postgresql'

const FollowSchema = defineEntity({
  name: 'Follow',
  tableName: 'follow',
  properties: {
    id: p.integer().primary(),
    followerId: p.integer(),
    targetId: p.integer(),
    state: p.string(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime().nullable(),
    /** ActivityPub id of the Follow, ours or theirs. */
    url: p.string().nullable(),
    /** Ids of the Follows with which the other side asked since the relation began, the newest last. */
    requestUrls: p.array<string>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Follow extends FollowSchema.class {}
FollowSchema.setClass(Follow)
