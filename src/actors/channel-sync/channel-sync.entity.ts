// A channel of another site whose videos are imported (machine `channel-sync`).

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'
import type { ChannelSyncContext, ChannelSyncState } from '../../state-machines/channel-sync.ts'

export const ChannelSync = defineEntity({
  name: 'ChannelSync',
  tableName: 'channel_sync',
  properties: {
    id: p.integer().primary(),
    channelId: p.integer(),
    externalChannelUrl: p.text(),
    state: p.text().$type<ChannelSyncState>(),
    context: p.json<ChannelSyncContext>(),
    dueAt: p.datetime(3).nullable(),
    roundAt: p.datetime(3).nullable(),
    lastSyncAt: p.datetime(3).nullable(),
    /** Videos without a date in the last list of the other site. */
    knownUrls: p.type(TextArray),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
