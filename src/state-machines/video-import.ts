// The import of a video by URL, magnet URI or torrent file: requested, downloaded, and successful or not.

import { assign, setup } from 'xstate'
import { type LeasedContext, type LeasedSettings, type LeaseOver, leasedWork, workerLost } from './leased-work.ts'
import type { Snapshot, StateMeta } from './step.ts'

/** The contract's `VideoImportState`, by the names of the states. */
export const videoImportStateIds = {
  pending: 1,
  success: 2,
  failed: 3,
  rejected: 4,
  cancelled: 5,
  processing: 6,
} as const

export type VideoImportState = keyof typeof videoImportStateIds

/** The error, also of a rejection, is for its user. */
export type VideoImportContext = LeasedContext

export type VideoImportSettings = LeasedSettings

export type VideoImportEvent =
  | { type: 'STARTED' }
  /** The video has its file. */
  | { type: 'SUCCEEDED' }
  /** `import.videos.timeout` is one of the reasons. */
  | { type: 'FAILED'; error: string }
  /** The server refuses the video, or its user may not add any. */
  | { type: 'REJECTED'; error: string }
  /** By its user, or because the video was removed. */
  | { type: 'CANCELLED' }
  | { type: 'RETRIED' }
  | LeaseOver

export const initialVideoImport: Snapshot<VideoImportState, VideoImportContext> = {
  state: 'pending',
  context: { lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as VideoImportContext, events: {} as VideoImportEvent, meta: {} as StateMeta },
  actions: {
    noteError: assign(leasedWork.noteError),
    countLoss: assign(leasedWork.countLoss),
    giveUp: assign(leasedWork.giveUp),
    startAnew: assign({ lost: 0, error: null }),
  },
  guards: leasedWork.guards,
})

const ends = {
  FAILED: { target: 'failed', actions: 'noteError' },
  REJECTED: { target: 'rejected', actions: 'noteError' },
  CANCELLED: { target: 'cancelled' },
} as const

export const videoImportMachine = flow.createMachine({
  id: 'video-import',
  context: initialVideoImport.context,
  initial: 'pending',
  states: {
    pending: {
      meta: { due: 'the sweeper makes sure that there is a job', owner: 'the job video-import' },
      on: {
        ...ends,
        STARTED: { target: 'processing' },
        TIMED_OUT: { target: 'pending', description: 'job queued again' },
      },
    },
    processing: {
      meta: { due: 'the lease of the worker', owner: 'the job video-import' },
      on: {
        ...ends,
        SUCCEEDED: { target: 'success' },
        TIMED_OUT: workerLost('pending', 'failed'),
      },
    },
    success: { meta: { end: true } },
    failed: {
      meta: { owner: 'its user tries it again, or removes it' },
      on: { RETRIED: { target: 'pending', actions: 'startAnew' } },
    },
    rejected: { meta: { end: true } },
    cancelled: { meta: { end: true } },
  },
})

/** Time in ms until the worker counts as lost, or the job is checked; null if nothing is awaited. */
export const dueIn = leasedWork.dueIn<VideoImportState>('pending', 'processing')
