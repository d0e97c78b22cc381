// The archive of a user's data: requested, written, stored for a while, and deleted.

import { assign, setup } from 'xstate'
import { type LeasedContext, type LeasedSettings, type LeaseOver, leasedWork, workerLost } from './leased-work.ts'
import type { Snapshot, StateMeta } from './step.ts'

/** The contract's `UserExportState`, by the names of the states; the others are not shown. */
export const userExportStateIds = {
  pending: 1,
  processing: 2,
  completed: 3,
  errored: 4,
} as const

export type UserExportState = keyof typeof userExportStateIds | 'expired' | 'deleted'

export type UserExportContext = LeasedContext

export interface UserExportSettings extends LeasedSettings {
  /** How long an archive is stored, in ms. */
  expiration: number
}

export type UserExportEvent =
  | { type: 'STARTED' }
  /** The archive is in the store. */
  | { type: 'SUCCEEDED' }
  | { type: 'FAILED'; error: string }
  /** By its user or an administrator, or because the user was removed. */
  | { type: 'DELETED' }
  | LeaseOver<UserExportSettings>

export const initialUserExport: Snapshot<UserExportState, UserExportContext> = {
  state: 'pending',
  context: { lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as UserExportContext, events: {} as UserExportEvent, meta: {} as StateMeta },
  actions: {
    noteError: assign(leasedWork.noteError),
    countLoss: assign(leasedWork.countLoss),
    giveUp: assign(leasedWork.giveUp),
  },
  guards: leasedWork.guards,
})

const failed = { target: 'errored', actions: 'noteError' } as const
const deleted = { target: 'deleted' } as const

export const userExportMachine = flow.createMachine({
  id: 'user-export',
  context: initialUserExport.context,
  initial: 'pending',
  states: {
    pending: {
      meta: { due: 'the sweeper makes sure that there is a job', owner: 'the job create-user-export' },
      on: {
        STARTED: { target: 'processing' },
        FAILED: failed,
        DELETED: deleted,
        TIMED_OUT: { target: 'pending', description: 'job queued again' },
      },
    },
    processing: {
      meta: { due: 'the lease of the worker', owner: 'the job create-user-export' },
      on: {
        SUCCEEDED: { target: 'completed' },
        FAILED: failed,
        DELETED: deleted,
        TIMED_OUT: workerLost('pending', 'errored'),
      },
    },
    completed: {
      meta: { due: 'lifetime of the archive', owner: 'its user deletes it' },
      on: { DELETED: deleted, TIMED_OUT: { target: 'expired' } },
    },
    errored: {
      meta: { due: 'shown for the lifetime of an archive', owner: 'its user deletes it' },
      on: { DELETED: deleted, TIMED_OUT: { target: 'expired' } },
    },
    expired: { meta: { end: true } },
    deleted: { meta: { end: true } },
  },
})

/** Time in ms until the worker counts as lost, the job is checked, or the archive expires; null if nothing is awaited. */
export function dueIn(state: UserExportState, context: UserExportContext, settings: UserExportSettings): number | null {
  if (state === 'completed' || state === 'errored') return settings.expiration
  return leasedWork.dueIn<UserExportState>('pending', 'processing')(state, context, settings)
}
