// A synchronisation as clients know it.

import { z } from 'zod'
import type { ChannelSyncRow } from '../../actors/channel-sync/index.ts'
import { channelSummaryView, type Here, toActorSummary } from '../videos/actor.view.ts'

const date = z.iso.datetime()

export const channelSyncView = z
  .object({
    id: z.int(),
    state: z.object({ id: z.int(), label: z.string() }),
    externalChannelUrl: z.string(),
    createdAt: date,
    lastSyncAt: date.optional(),
    channel: channelSummaryView,
  })
  .meta({ id: 'VideoChannelSync' })

const STATES: Record<ChannelSyncRow['state'], { id: number; label: string }> = {
  'waiting-first-run': { id: 1, label: 'Waiting first run' },
  processing: { id: 2, label: 'Processing' },
  synced: { id: 3, label: 'Synchronized' },
  failed: { id: 4, label: 'Failed' },
}

export function toChannelSyncView(row: ChannelSyncRow, here: Here): z.infer<typeof channelSyncView> {
  return {
    id: row.id,
    state: STATES[row.state],
    externalChannelUrl: row.external_channel_url,
    createdAt: new Date(row.created_at).toISOString(),
    ...(row.last_sync_at === null ? {} : { lastSyncAt: new Date(row.last_sync_at).toISOString() }),
    channel: toActorSummary(row.channel, here),
  }
}
