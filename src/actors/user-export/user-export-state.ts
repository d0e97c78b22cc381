// The lifecycle of an export, with the meaning of each state for its row.

import { dueIn, initialUserExport, type UserExportSettings, userExportMachine } from '../../state-machines/user-export.ts'
import { queueMail } from '../mail/index.ts'
import { type ActorDeps, CHECK_OWNER_EVERY, defineLifecycle, type Unit } from '../runtime/index.ts'
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

/** Runs `work` with the export. Throws `not_found` if it is removed. */
export const withExport = <T>({ tell }: Pick<ActorDeps, 'tell'>, id: number, work: (locked: Locked) => Promise<T>): Promise<T> =>
  tell({ aggregate: 'user_export', id }, async (unit) => work({ unit, userExport: await unit.em.findOneOrFail(UserExport, id) }))

export const userExportLifecycle = defineLifecycle({
  table: 'user_export',
  called: 'export',
  machine: userExportMachine,
  initial: initialUserExport,
  dueIn,
  entered(unit, userExport: UserExport, { state }) {
    if (state !== 'processing') userExport.leaseOwner = null
    if (state === 'pending') queueExport(unit, userExport.id)
    if (state === 'completed' || state === 'errored') {
      if (userExport.dueAt) userExport.expiresOn = userExport.dueAt
      queueMail(unit, { mail: 'user-export', exportId: userExport.id })
    }
    // The archive is removed with the row.
    if (state === 'expired' || state === 'deleted') unit.em.remove(userExport)
  },
})

/** Queues the job, unless it waits or runs. */
export const queueExport = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'create-user-export', data: { userExportId: id }, dedupeKey: `create-user-export-${id}` })
