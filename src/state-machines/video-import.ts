// The import of a video by URL, magnet URI or torrent file: asked for, downloaded, and then the video's or not.

import { assign, setup } from 'xstate'
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

export interface VideoImportContext {
  /** How often a worker was lost. */
  lost: number
  /** Why it failed or was rejected, for its user; null otherwise. */
  error: string | null
}

export interface VideoImportSettings {
  /** How long a worker may be silent, in ms. */
  lease: number
  /** How often the sweeper makes sure that there is a job, in ms. */
  check_owner_every: number
  /** Lost workers after which the import is held to be poison. */
  max_lost: number
}

export type VideoImportEvent =
  | { type: 'STARTED' }
  /** The video has its file. */
  | { type: 'SUCCEEDED' }
  /** `import.videos.timeout` is one of the reasons. */
  | { type: 'FAILED'; error: string }
  /** The server does not want the video, or its user may not add any. */
  | { type: 'REJECTED'; error: string }
  /** By its user, or because the video is gone. */
  | { type: 'CANCELLED' }
  | { type: 'RETRIED' }
  /** Let go when its worker took leave, and its job waits. */
  | { type: 'TIMED_OUT'; settings: VideoImportSettings; isLetGo?: boolean }

export const initialVideoImport: Snapshot<VideoImportState, VideoImportContext> = {
  state: 'pending',
  context: { lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as VideoImportContext, events: {} as VideoImportEvent, meta: {} as StateMeta },
  actions: {
    noteError: assign({ error: ({ context, event }) => ('error' in event ? event.error : context.error) }),
    countLoss: assign({ lost: ({ context }) => context.lost + 1 }),
    giveUp: assign({ lost: ({ context }) => context.lost + 1, error: 'The worker was lost too often' }),
    startAnew: assign({ lost: 0, error: null }),
  },
  guards: {
    letGo: ({ event }) => event.type === 'TIMED_OUT' && event.isLetGo === true,
    lostTooOften: ({ context, event }) => event.type === 'TIMED_OUT' && context.lost + 1 >= event.settings.max_lost,
  },
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
        TIMED_OUT: { target: 'pending', description: 'job asked for again' },
      },
    },
    processing: {
      meta: { due: 'the lease of the worker', owner: 'the job video-import' },
      on: {
        ...ends,
        SUCCEEDED: { target: 'success' },
        TIMED_OUT: [
          { guard: 'letGo', target: 'pending', description: 'worker took leave' },
          { guard: 'lostTooOften', target: 'failed', actions: 'giveUp', description: 'lost too often' },
          { target: 'pending', actions: 'countLoss', description: 'worker lost' },
        ],
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

/** Time in ms until the worker counts as lost, or the job is looked for; null when nothing is awaited. */
export function dueIn(
  state: VideoImportState,
  _context: VideoImportContext,
  settings: VideoImportSettings,
): number | null {
  switch (state) {
    case 'pending':
      return settings.check_owner_every
    case 'processing':
      return settings.lease
    case 'success':
    case 'failed':
    case 'rejected':
    case 'cancelled':
      return null
  }
}
