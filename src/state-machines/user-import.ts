// The import of a user's archive: uploaded, and then brought in part by part.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

/** The contract's `UserImportState`, by the names of the states that clients are shown. */
export const userImportStateIds = { pending: 1, processing: 2, completed: 3, errored: 4 } as const

export type UserImportState = keyof typeof userImportStateIds | 'uploading' | 'cancelled'

export interface UserImportContext {
  /** How many parts are done. */
  part: number
  /** Of so many; 0 before it was begun. */
  parts: number
  /** Workers lost since the last part was done. */
  lost: number
  /** Why it errored, for its user; null otherwise. */
  error: string | null
}

export interface UserImportSettings {
  /** How long a worker may be silent, in ms. */
  lease: number
  /** How often the sweeper makes sure that there is a job, in ms. */
  check_owner_every: number
  /** Lost workers in a row after which the archive is held to be poison. */
  max_lost: number
}

export type UserImportEvent =
  /** All bytes of the archive are there. */
  | { type: 'UPLOADED' }
  /** A worker took it; `parts` is how many there are to bring in. */
  | { type: 'STARTED'; parts: number }
  | { type: 'PART_DONE' }
  /** The archive cannot be used, or its user may not import. */
  | { type: 'FAILED'; error: string }
  /** By its user while it is uploaded, or since the user is gone. */
  | { type: 'CANCELLED' }
  /** Let go when its worker took leave, and its job waits. */
  | { type: 'TIMED_OUT'; settings: UserImportSettings; isLetGo?: boolean }

export const initialUserImport: Snapshot<UserImportState, UserImportContext> = {
  state: 'uploading',
  context: { part: 0, parts: 0, lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as UserImportContext, events: {} as UserImportEvent, meta: {} as StateMeta },
  actions: {
    noteParts: assign({ parts: ({ context, event }) => (event.type === 'STARTED' ? event.parts : context.parts) }),
    countPart: assign({ part: ({ context }) => context.part + 1, lost: 0 }),
    noteError: assign({ error: ({ context, event }) => ('error' in event ? event.error : context.error) }),
    countLoss: assign({ lost: ({ context }) => context.lost + 1 }),
    giveUp: assign({ lost: ({ context }) => context.lost + 1, error: 'The worker was lost too often' }),
  },
  guards: {
    isLast: ({ context, event }) => event.type === 'PART_DONE' && context.part + 1 >= context.parts,
    letGo: ({ event }) => event.type === 'TIMED_OUT' && event.isLetGo === true,
    lostTooOften: ({ context, event }) => event.type === 'TIMED_OUT' && context.lost + 1 >= event.settings.max_lost,
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
      meta: { owner: 'its resumable-upload, which ends after 1 h of silence' },
      on: { UPLOADED: { target: 'pending' }, CANCELLED: { target: 'cancelled' } },
    },
    pending: {
      meta: { due: 'the sweeper makes sure that there is a job', owner: 'the job import-user-archive' },
      on: {
        ...ends,
        STARTED: { target: 'processing', actions: 'noteParts' },
        TIMED_OUT: { target: 'pending', description: 'job asked for again' },
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
        TIMED_OUT: [
          { guard: 'letGo', target: 'pending', description: 'worker took leave' },
          { guard: 'lostTooOften', target: 'errored', actions: 'giveUp', description: 'lost too often' },
          { target: 'pending', actions: 'countLoss', description: 'worker lost' },
        ],
      },
    },
    completed: { meta: { end: true } },
    errored: { meta: { end: true } },
    cancelled: { meta: { end: true } },
  },
})

/** Time in ms until the worker counts as lost, or the job is looked for; null when nothing is awaited, or by another machine. */
export function dueIn(
  state: UserImportState,
  _context: UserImportContext,
  settings: UserImportSettings,
): number | null {
  switch (state) {
    case 'pending':
      return settings.check_owner_every
    case 'processing':
      return settings.lease
    case 'uploading':
    case 'completed':
    case 'errored':
    case 'cancelled':
      return null
  }
}
