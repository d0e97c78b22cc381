// The offer of a video to another account (machine `ownership-change`).

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { OwnershipChangeState } from '../../state-machines/ownership-change.ts'

export const OwnershipChange = defineEntity({
  name: 'OwnershipChange',
  tableName: 'ownership_change',
  properties: {
    id: p.integer().primary(),
    state: p.text().$type<OwnershipChangeState>(),
    videoId: p.integer(),
    initiatorId: p.integer(),
    giverId: p.integer(),
    receiverId: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const VideoToldOwner = defineEntity({
  name: 'VideoToldOwner',
  tableName: 'video_told_owner',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    accountActorId: p.integer(),
    channelActorId: p.integer(),
    createdAt: p.datetime(3),
  },
})
