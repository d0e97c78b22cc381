// The archive of what is a user's: asked for, written, kept for a while, and gone.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

/** The contract's `UserExportState`, by the names of the states; the others are shown to nobody. */
export const userExportStateIds = {
  pending: 1,
  processing: 2,
  completed: 3,
  errored: 4,
} as const

export type UserExportState = keyof typeof userExportStateIds | 'expired' | 'deleted'

export interface UserExportContext {
  /** How often a worker was lost. */
  lost: number
  /** Why it failed; null otherwise. */
  error: string | null
}

export interface UserExportSettings {
  /** How long a worker may be silent, in ms. */
  lease: number
  /** How often the sweeper makes sure that there is a job, in ms. */
  check_owner_every: number
  /** Lost workers after which the export fails. */
  max_lost: number
  /** How long an archive is kept, in ms. */
  expiration: number
}

export type UserExportEvent =
  | { type: 'STARTED' }
  /** The archive is in the store. */
  | { type: 'SUCCEEDED' }
  | { type: 'FAILED'; error: string }
  /** By its user or an administrator, or because the user is gone. */
  | { type: 'DELETED' }
  /** Let go when its worker took leave, and its job waits. */
  | { type: 'TIMED_OUT'; settings: UserExportSettings; isLetGo?: boolean }

export const initialUserExport: Snapshot<UserExportState, UserExportContext> = {
  state: 'pending',
  context: { lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as UserExportContext, events: {} as UserExportEvent, meta: {} as StateMeta },
  actions: {
    noteError: assign({ error: ({ context, event }) => ('error' in event ? event.error : context.error) }),
    countLoss: assign({ lost: ({ context }) => context.lost + 1 }),
    giveUp: assign({ lost: ({ context }) => context.lost + 1, error: 'The worker was lost too often' }),
  },
  guards: {
    letGo: ({ event }) => event.type === 'TIMED_OUT' && event.isLetGo === true,
    lostTooOften: ({ context, event }) => event.type === 'TIMED_OUT' && context.lost + 1 >= event.settings.max_lost,
  },
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
        TIMED_OUT: { target: 'pending', description: 'job asked for again' },
      },
    },
    processing: {
      meta: { due: 'the lease of the worker', owner: 'the job create-user-export' },
      on: {
        SUCCEEDED: { target: 'completed' },
        FAILED: failed,
        DELETED: deleted,
        TIMED_OUT: [
          { guard: 'letGo', target: 'pending', description: 'worker took leave' },
          { guard: 'lostTooOften', target: 'errored', actions: 'giveUp', description: 'lost too often' },
          { target: 'pending', actions: 'countLoss', description: 'worker lost' },
        ],
      },
    },
    completed: {
      meta: { due: 'the archive is kept for so long', owner: 'its user deletes it' },
      on: { DELETED: deleted, TIMED_OUT: { target: 'expired' } },
    },
    errored: {
      meta: { due: 'shown for as long as an archive is kept', owner: 'its user deletes it' },
      on: { DELETED: deleted, TIMED_OUT: { target: 'expired' } },
    },
    expired: { meta: { end: true } },
    deleted: { meta: { end: true } },
  },
})

/** Time in ms until the worker counts as lost, the job is looked for, or the archive goes; null when nothing is awaited. */
export function dueIn(
  state: UserExportState,
  _context: UserExportContext,
  settings: UserExportSettings,
): number | null {
  switch (state) {
    case 'pending':
      return settings.check_owner_every
    case 'processing':
      return settings.lease
    case 'completed':
    case 'errored':
      return settings.expiration
    case 'expired':
    case 'deleted':
      return null
  }
}
