// Moves of an export through its machine, with what each of them means for its row.

import { can, IllegalMove, step } from '../../state-machines/step.ts'
import {
  dueIn,
  initialUserExport,
  type UserExportContext,
  type UserExportEvent,
  type UserExportSettings,
  type UserExportState,
  userExportMachine,
} from '../../state-machines/user-export.ts'
import { askForMail } from '../mail/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { CHECK_OWNER_EVERY } from '../video/index.ts'
import { UserExport } from './user-export.entity.ts'

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): UserExportSettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: config().vireo.user_data.export_attempts,
  expiration: config().export.users.export_expiration,
})

/** An export whose row is locked. */
export interface Locked {
  unit: Unit
  userExport: UserExport
}

/** Runs `work` with the export. Throws `not_found` when it is gone. */
export const withExport = <T>(
  { tell }: Pick<ActorDeps, 'tell'>,
  id: number,
  work: (locked: Locked) => Promise<T>,
): Promise<T> =>
  tell({ aggregate: 'user_export', id }, async (unit) =>
    work({ unit, userExport: await unit.em.findOneOrFail(UserExport, id) }),
  )

const snapshotOf = ({ state, context }: UserExport) => ({
  state: state as UserExportState,
  context: { ...initialUserExport.context, ...context } as UserExportContext,
})

export const takes = (userExport: UserExport, event: UserExportEvent): boolean =>
  can(userExportMachine, snapshotOf(userExport), event)

/** Sends one event to the machine of an export and does what the new state needs. Throws `conflict` when it cannot take it. */
export function move(locked: Locked, event: UserExportEvent, settings: UserExportSettings): void {
  const { unit, userExport } = locked
  try {
    const { state, context } = step(userExportMachine, snapshotOf(userExport), event)
    const wait = dueIn(state, context, settings)
    userExport.state = state
    userExport.context = { ...context }
    userExport.dueAt = wait === null ? null : new Date(unit.now.getTime() + wait)
    userExport.updatedAt = unit.now
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    throw new DomainError('conflict', `This export is ${userExport.state} and cannot take this.`, { cause: error })
  }
  follow(locked)
}

function follow({ unit, userExport }: Locked): void {
  switch (userExport.state as UserExportState) {
    case 'pending':
      userExport.leaseOwner = null
      askForExport(unit, userExport.id)
      return
    case 'processing':
      return
    case 'completed':
    case 'errored':
      userExport.leaseOwner = null
      if (userExport.dueAt) userExport.expiresOn = userExport.dueAt
      askForMail(unit, { mail: 'user-export', exportId: userExport.id })
      return
    case 'expired':
    case 'deleted':
      // The archive goes with the row.
      unit.em.remove(userExport)
      return
  }
}

/** Asks for the job, unless it waits or runs. */
export const askForExport = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'create-user-export', data: { userExportId: id }, dedupeKey: `create-user-export-${id}` })
