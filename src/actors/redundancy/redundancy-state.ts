// The lifecycle of a copy, with the meaning of each state for its row.

import { dueIn, initialRedundancy, type RedundancySettings, redundancyMachine } from '../../state-machines/redundancy.ts'
import { type ActorDeps, CHECK_OWNER_EVERY, defineLifecycle, type Unit } from '../runtime/index.ts'
import { Redundancy } from './redundancy.entity.ts'

/** Workers lost in a row after which the source counts as poison. */
const MAX_LOST = 25
const KEEP_FAILED = 24 * 3_600_000

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): RedundancySettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: MAX_LOST,
  keep_failed: KEEP_FAILED,
})

export const redundancyLifecycle = defineLifecycle({
  table: 'redundancy',
  called: 'copy',
  machine: redundancyMachine,
  initial: initialRedundancy,
  dueIn,
  entered(unit, copy: Redundancy, { state, from }) {
    const { id, videoId } = copy
    const of = { aggregate: 'redundancy', id } as const
    if (state === 'wanted' || state === 'stored' || state === 'failed') copy.leaseOwner = null
    if (state === 'wanted') queueDownload(unit, { id, videoId })
    if (state === 'stored') unit.emit(of, 'RedundancyStored', { redundancyId: id })
    // Other servers are notified once; later checks only remove the files.
    if (state === 'expiring' && from !== 'expiring') unit.emit(of, 'RedundancyRemoved', { redundancyId: id })
    else if (state === 'expiring') queueRemoval(unit, id)
    if (state === 'removed') unit.em.remove(copy)
  },
})

export const queueDownload = (unit: Unit, { id, videoId }: { id: number; videoId: number }): void =>
  unit.enqueue({
    type: 'video-redundancy',
    data: { redundancyId: id, videoId },
    dedupeKey: `video-redundancy-${id}`,
  })

export const queueRemoval = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'redundancy-removal', data: { redundancyId: id }, dedupeKey: `redundancy-removal-${id}` })

/** The copy, locked for the rest of the unit; undefined if it is removed. */
export async function lockedCopy(unit: Unit, id: number): Promise<Redundancy | undefined> {
  const rows = await unit.query('select id from redundancy where id = $1 for no key update', [id])
  return rows.length > 0 ? await unit.em.findOneOrFail(Redundancy, id) : undefined
}
