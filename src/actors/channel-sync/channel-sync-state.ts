// State changes of a synchronisation, with the job of each round.

import { type ChannelSyncEvent, channelSyncMachine, dueIn, initialChannelSync } from '../../state-machines/channel-sync.ts'
import { type ActorDeps, advanceRow, contextOf, DomainError, defineLifecycle, type Move, notFound, type Unit } from '../runtime/index.ts'
import { loadSync, type StoredSync } from './channel-sync.queries.ts'

export const channelSyncLifecycle = defineLifecycle({
  table: 'channel_sync',
  machine: channelSyncMachine,
  initial: initialChannelSync,
  dueIn,
  refusal: () => new DomainError('conflict', 'This synchronisation is elsewhere by now.'),
})

/** Runs `work` with the row locked. Throws `not_found`, also if its channel is removed. */
export async function withSync<T>(
  { tell }: Pick<ActorDeps, 'tell'>,
  id: number,
  work: (unit: Unit, sync: StoredSync) => Promise<T>,
): Promise<T> {
  return await tell({ aggregate: 'channel_sync', id }, async (unit) => {
    const sync = await loadSync(unit.query, id)
    if (!sync) throw notFound('Video channel sync not found')
    return await work(unit, { ...sync, context: contextOf(channelSyncLifecycle, sync) })
  })
}

/** Sends an event to the machine, stores the new state, and queues the job of a new round. */
export async function moveSync(
  unit: Unit,
  sync: StoredSync,
  event: ChannelSyncEvent,
  settings: { check_interval: number },
): Promise<Move<typeof channelSyncMachine>> {
  const begins = ({ state, from }: { state: string; from: string }): boolean =>
    state === 'processing' && (from !== 'processing' || event.type === 'FINISHED')
  const roundAt = (move: Move<typeof channelSyncMachine>) => (begins(move) ? { roundAt: unit.now } : {})
  const move = await advanceRow(unit, channelSyncLifecycle, sync, event, roundAt, settings)
  if (begins(move)) queueListing(unit, sync)
  return move
}

export function queueListing(unit: Unit, { id, channelId, url }: StoredSync): void {
  unit.enqueue({
    type: 'video-channel-import',
    data: { externalChannelUrl: url, videoChannelId: channelId, partOfChannelSyncId: id },
    dedupeKey: `channel-sync-${id}`,
  })
}

export function queueEnd(unit: Unit, { id }: StoredSync): void {
  unit.enqueue({
    type: 'after-video-channel-import',
    data: { channelSyncId: id },
    dedupeKey: `channel-sync-end-${id}`,
  })
}
