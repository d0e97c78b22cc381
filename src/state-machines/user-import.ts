// The import of a user's archive: uploaded, and then imported part by part.

import { assign, setup } from 'xstate'
import { type LeasedContext, type LeasedSettings, type LeaseOver, leasedWork, workerLost } from './leased-work.ts'
import type { Snapshot, StateMeta } from './step.ts'

/** The contract's `UserImportState`, by the names of the shown states. */
export const userImportStateIds = { pending: 1, processing: 2, completed: 3, errored: 4 } as const

export type UserImportState = keyof typeof userImportStateIds | 'uploading' | 'cancelled'

/** Workers are counted since the last finished part; the error is for its user. */
export interface UserImportContext extends LeasedContext {
  /** Finished parts. */
  part: number
  /** All parts; 0 before the start. */
  parts: number
}

export type UserImportSettings = LeasedSettings

export type UserImportEvent =
  /** All bytes of the archive are there. */
  | { type: 'UPLOADED' }
  /** A worker took it; `parts` is the number of parts to import. */
  | { type: 'STARTED'; parts: number }
  | { type: 'PART_DONE' }
  /** The archive cannot be used, or its user may not import. */
  | { type: 'FAILED'; error: string }
  /** By its user during the upload, or because the user was removed. */
  | { type: 'CANCELLED' }
  | LeaseOver

export const initialUserImport: Snapshot<UserImportState, UserImportContext> = {
  state: 'uploading',
  context: { part: 0, parts: 0, lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as UserImportContext, events: {} as UserImportEvent, meta: {} as StateMeta },
  actions: {
    noteParts: assign({ parts: ({ context, event }) => (event.type === 'STARTED' ? event.parts : context.parts) }),
    countPart: assign({ part: ({ context }) => context.part + 1, lost: 0 }),
    noteError: assign(leasedWork.noteError),
    countLoss: assign(leasedWork.countLoss),
    giveUp: assign(leasedWork.giveUp),
  },
  guards: {
    isLast: ({ context, event }) => event.type === 'PART_DONE' && context.part + 1 >= context.parts,
    ...leasedWork.guards,
  },
})

const ends = {
  FAILED: { target: 'errored', actions: 'noteError' },
  CANCELLED: { target: 'cancelled' },
} as const

export const userImportMachine = flow.createMachine({
  id: 'user-import',
  context: initialUserImport.context,
  initial: 'uploading',
  states: {
    uploading: {
      meta: { owner: 'its resumable-upload, which ends after 1 day of silence' },
      on: { UPLOADED: { target: 'pending' }, CANCELLED: { target: 'cancelled' } },
    },
    pending: {
      meta: { due: 'the sweeper makes sure that there is a job', owner: 'the job import-user-archive' },
      on: {
        ...ends,
        STARTED: { target: 'processing', actions: 'noteParts' },
        TIMED_OUT: { target: 'pending', description: 'job queued again' },
      },
    },
    processing: {
      meta: { due: 'the lease of the worker', owner: 'the job import-user-archive' },
      on: {
        ...ends,
        PART_DONE: [
          { guard: 'isLast', target: 'completed', actions: 'countPart', description: 'the last part' },
          { target: 'processing', actions: 'countPart', description: 'part n of m' },
        ],
        TIMED_OUT: workerLost('pending', 'errored'),
      },
    },
    completed: { meta: { end: true } },
    errored: { meta: { end: true } },
    cancelled: { meta: { end: true } },
  },
})

/** Time in ms until the worker counts as lost, or the job is checked; null if nothing is awaited, or by another machine. */
export const dueIn = leasedWork.dueIn<UserImportState>('pending', 'processing')
