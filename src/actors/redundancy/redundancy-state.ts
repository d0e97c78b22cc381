// Moves of a copy through its machine, and what has to happen after each of them.

import {
  dueIn,
  initialRedundancy,
  type RedundancyContext,
  type RedundancyEvent,
  type RedundancySettings,
  type RedundancyState,
  redundancyMachine,
} from '../../state-machines/redundancy.ts'
import { can, IllegalMove, step } from '../../state-machines/step.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { CHECK_OWNER_EVERY } from '../video/index.ts'
import { Redundancy } from './redundancy.entity.ts'

/** Workers lost in a row after which the source is held to be poison. */
const MAX_LOST = 25
const KEEP_FAILED = 24 * 3_600_000

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): RedundancySettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: MAX_LOST,
  keep_failed: KEEP_FAILED,
})

export const contextOf = (copy: Redundancy) => ({ ...initialRedundancy.context, ...copy.context }) as RedundancyContext

const snapshotOf = (copy: Redundancy) => ({ state: copy.state as RedundancyState, context: contextOf(copy) })

export const takes = (copy: Redundancy, event: RedundancyEvent): boolean =>
  can(redundancyMachine, snapshotOf(copy), event)

/** Sends one event to the machine of a copy and asks for what the new state needs. Throws `conflict` when it cannot. */
export function move(unit: Unit, copy: Redundancy, event: RedundancyEvent, settings: RedundancySettings): void {
  const before = copy.state
  try {
    const { state, context } = step(redundancyMachine, snapshotOf(copy), event)
    const wait = dueIn(state, context, settings)
    copy.state = state
    copy.context = { ...context }
    copy.dueAt = wait === null ? null : new Date(unit.now.getTime() + wait)
    copy.updatedAt = unit.now
    follow(unit, copy, before)
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    throw new DomainError('conflict', `This copy is ${copy.state} and cannot take this.`, { cause: error })
  }
}

function follow(unit: Unit, copy: Redundancy, before: string): void {
  const { id, videoId } = copy
  const of = { aggregate: 'redundancy', id } as const
  switch (copy.state) {
    case 'wanted':
      copy.leaseOwner = null
      askForDownload(unit, { id, videoId })
      return
    case 'stored':
      copy.leaseOwner = null
      unit.emit(of, 'RedundancyStored', { redundancyId: id })
      return
    case 'expiring':
      // Others are told once; what is looked at again is only cleared.
      if (before !== 'expiring') unit.emit(of, 'RedundancyRemoved', { redundancyId: id })
      else askForRemoval(unit, id)
      return
    case 'failed':
      copy.leaseOwner = null
      return
    case 'removed':
      unit.em.remove(copy)
      return
  }
}

export const askForDownload = (unit: Unit, { id, videoId }: { id: number; videoId: number }): void =>
  unit.enqueue({
    type: 'video-redundancy',
    data: { redundancyId: id, videoId },
    dedupeKey: `video-redundancy-${id}`,
  })

export const askForRemoval = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'redundancy-removal', data: { redundancyId: id }, dedupeKey: `redundancy-removal-${id}` })

/** The copy, locked for the rest of the unit; undefined when it is gone. */
export async function lockedCopy(unit: Unit, id: number): Promise<Redundancy | undefined> {
  const rows = await unit.query('select id from redundancy where id = $1 for no key update', [id])
  return rows.length > 0 ? await unit.em.findOneOrFail(Redundancy, id) : undefined
}
