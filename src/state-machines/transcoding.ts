// The making of a video's renditions: planned, encoded, packaged, stored.

import { assign, setup } from 'xstate'
import { type LeasedContext, type LeasedSettings, type LeaseOver, leasedWork, workerLost } from './leased-work.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type TranscodingState = 'planned' | 'running' | 'packaged' | 'stored' | 'done' | 'failed' | 'cancelled'

/** Workers are counted since the last rendition was made. */
export interface TranscodingContext extends LeasedContext {
  /** Renditions to make, 0 before the source is probed. */
  total: number
  /** Renditions made. */
  made: number
  /** Their outline (`outlineOf`); null before the source is probed. */
  plan: string | null
}

export type TranscodingSettings = LeasedSettings

export type TranscodingEvent =
  /** `made` counts those of an earlier start with the same plan. */
  | { type: 'STARTED'; total: number; made: number; plan: string }
  | { type: 'RENDITION_MADE' }
  /** A heartbeat of the worker; the row's due time starts again. */
  | { type: 'RENEWED' }
  | { type: 'PACKAGED' }
  | { type: 'STORED' }
  | { type: 'FINISHED' }
  | { type: 'FAILED'; error: string }
  | { type: 'RETRIED' }
  | { type: 'CANCELLED' }
  | LeaseOver

export const initialTranscoding: Snapshot<TranscodingState, TranscodingContext> = {
  state: 'planned',
  context: { total: 0, made: 0, plan: null, lost: 0, error: null },
}

const flow = setup({
  types: { context: {} as TranscodingContext, events: {} as TranscodingEvent, meta: {} as StateMeta },
  actions: {
    noteError: assign(leasedWork.noteError),
    countLoss: assign(leasedWork.countLoss),
    giveUp: assign(leasedWork.giveUp),
  },
  guards: leasedWork.guards,
})

const stops = {
  FAILED: { target: 'failed', actions: 'noteError' },
  CANCELLED: { target: 'cancelled' },
} as const
const lost = workerLost('planned', 'failed')
const leased = { due: 'the lease of the worker', owner: 'the job video-transcoding' }

export const transcodingMachine = flow.createMachine({
  id: 'transcoding',
  context: initialTranscoding.context,
  initial: 'planned',
  states: {
    planned: {
      meta: { due: 'the sweeper makes sure that there is a job', owner: 'the job video-transcoding' },
      on: {
        ...stops,
        STARTED: {
          target: 'running',
          actions: assign(({ event: { total, made, plan } }) => ({ total, made, plan, error: null })),
        },
        TIMED_OUT: { target: 'planned', description: 'job queued again' },
      },
    },
    running: {
      meta: leased,
      on: {
        ...stops,
        RENDITION_MADE: {
          guard: ({ context }) => context.made < context.total,
          target: 'running',
          actions: assign({ made: ({ context }) => context.made + 1, lost: 0 }),
          description: 'n of m',
        },
        PACKAGED: {
          guard: ({ context }) => context.made === context.total,
          target: 'packaged',
          description: 'all made',
        },
        RENEWED: { target: 'running' },
        TIMED_OUT: lost,
      },
    },
    packaged: {
      meta: leased,
      on: { ...stops, STORED: { target: 'stored' }, RENEWED: { target: 'packaged' }, TIMED_OUT: lost },
    },
    stored: {
      meta: leased,
      on: { ...stops, FINISHED: { target: 'done' }, RENEWED: { target: 'stored' }, TIMED_OUT: lost },
    },
    done: { meta: { end: true } },
    failed: {
      meta: { owner: 'an admin or the owner retries, or removes the video' },
      on: {
        RETRIED: { target: 'planned', actions: assign({ lost: 0, error: null }) },
        CANCELLED: { target: 'cancelled' },
      },
    },
    cancelled: { meta: { end: true } },
  },
})

/** Time in ms until the worker counts as lost, or the job is checked; null if nothing is awaited. */
export const dueIn = leasedWork.dueIn<TranscodingState>('planned', 'running', 'packaged', 'stored')
