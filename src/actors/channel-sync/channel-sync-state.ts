// Moves of a synchronisation through its machine, with the job that each round needs.

import {
  type ChannelSyncContext,
  type ChannelSyncEvent,
  channelSyncMachine,
  dueIn,
  initialChannelSync,
} from '../../state-machines/channel-sync.ts'
import { can, step } from '../../state-machines/step.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { loadSync, type StoredSync } from './channel-sync.queries.ts'

/** Runs `work` with the row locked. Throws `not_found`, also when its channel is gone. */
export async function withSync<T>(
  { tell }: Pick<ActorDeps, 'tell'>,
  id: number,
  work: (unit: Unit, sync: StoredSync) => Promise<T>,
): Promise<T> {
  return await tell({ aggregate: 'channel_sync', id }, async (unit) => {
    const sync = await loadSync(unit.query, id)
    if (!sync) throw notFound('Video channel sync not found')
    return await work(unit, { ...sync, context: contextOf(sync) })
  })
}

/** Sends an event to the machine, stores where it stands then, and asks for the job of a round that begins. */
export async function moveSync(
  unit: Unit,
  sync: StoredSync,
  event: ChannelSyncEvent,
  settings: { check_interval: number },
): Promise<StoredSync> {
  if (!can(channelSyncMachine, sync, event)) {
    throw new DomainError('conflict', 'This synchronisation is elsewhere by now.')
  }
  const { state, context } = step(channelSyncMachine, sync, event)
  const wait = dueIn(state, context, settings)
  const begins = state === 'processing' && (sync.state !== 'processing' || event.type === 'FINISHED')
  await unit.query(
    `update channel_sync set state = $2, context = $3, due_at = $4, updated_at = $5,
       round_at = case when $6 then $5 else round_at end where id = $1`,
    [
      sync.id,
      state,
      JSON.stringify(context),
      wait === null ? null : new Date(unit.now.getTime() + wait),
      unit.now,
      begins,
    ],
  )
  const after = { ...sync, state, context }
  if (begins) askForListing(unit, after)
  return after
}

export function askForListing(unit: Unit, { id, channelId, url }: StoredSync): void {
  unit.enqueue({
    type: 'video-channel-import',
    data: { externalChannelUrl: url, videoChannelId: channelId, partOfChannelSyncId: id },
    dedupeKey: `channel-sync-${id}`,
  })
}

export function askForEnd(unit: Unit, { id }: StoredSync): void {
  unit.enqueue({
    type: 'after-video-channel-import',
    data: { channelSyncId: id },
    dedupeKey: `channel-sync-end-${id}`,
  })
}

const contextOf = ({ context }: StoredSync): ChannelSyncContext => ({ ...initialChannelSync.context, ...context })
