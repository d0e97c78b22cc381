// A job that a remote runner does: offered to all, leased by one of them, and its result checked and stored here.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type RunnerJobState =
  | 'waiting-for-parent'
  | 'pending'
  | 'processing'
  | 'completing'
  | 'completed'
  | 'errored'
  | 'cancelled'
  | 'parent-errored'
  | 'parent-cancelled'

export interface RunnerJobContext {
  failures: number
  /** How often a runner that had the job fell silent. */
  lostLeases: number
}

export interface RunnerJobSettings {
  /** Silence of a runner after which it loses the job, in ms. */
  stalled_after: number
  /** How long the process that checks and stores a result may be silent, in ms. */
  lease: number
}

export type RunnerJobEvent =
  | { type: 'PARENT_COMPLETED' }
  | { type: 'PARENT_FAILED' }
  | { type: 'PARENT_CANCELLED' }
  /** A runner has accepted it. */
  | { type: 'ACCEPTED' }
  /** The runner, or the process that stores its result, is alive. */
  | { type: 'UPDATED' }
  /** By the runner, since it was removed, or since its result cannot be stored now. */
  | { type: 'ABORTED' }
  /** The whole result has arrived. */
  | { type: 'RECEIVED' }
  /** The result is stored. */
  | { type: 'DONE' }
  /** The runner reports an error, or its result is refused. */
  | { type: 'FAILED'; maxFailures: number }
  | { type: 'CANCELLED' }
  /** Nothing was heard of the runner, or the process that was storing the result died. */
  | { type: 'TIMED_OUT'; maxLosses: number }

const context: RunnerJobContext = { failures: 0, lostLeases: 0 }

/** A new job; `waits` if another one must be completed first. */
export const initialRunnerJob = (waits: boolean): Snapshot<RunnerJobState, RunnerJobContext> => ({
  state: waits ? 'waiting-for-parent' : 'pending',
  context,
})

const flow = setup({
  types: { context: {} as RunnerJobContext, events: {} as RunnerJobEvent, meta: {} as StateMeta },
  actions: {
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    countLoss: assign({ lostLeases: ({ context }) => context.lostLeases + 1 }),
  },
  guards: {
    failedTooOften: ({ context, event }) => event.type === 'FAILED' && context.failures + 1 >= event.maxFailures,
    lostTooOften: ({ context, event }) => event.type === 'TIMED_OUT' && context.lostLeases + 1 >= event.maxLosses,
  },
})

const cancelled = { CANCELLED: { target: 'cancelled' } } as const
const failed = [
  { guard: 'failedTooOften', target: 'errored', actions: 'countFailure', description: 'too often' },
  { target: 'pending', actions: 'countFailure', description: 'attempts left' },
] as const
const lost = [
  { guard: 'lostTooOften', target: 'errored', actions: 'countLoss', description: 'too often' },
  { target: 'pending', actions: 'countLoss', description: 'another runner takes it' },
] as const

export const runnerJobMachine = flow.createMachine({
  id: 'runner-job',
  context,
  initial: 'pending',
  states: {
    'waiting-for-parent': {
      meta: { owner: 'the job that it waits for' },
      on: {
        ...cancelled,
        PARENT_COMPLETED: { target: 'pending' },
        PARENT_FAILED: { target: 'parent-errored' },
        PARENT_CANCELLED: { target: 'parent-cancelled' },
      },
    },
    pending: {
      meta: { owner: 'the next runner that asks, or the fallback to local workers' },
      on: { ...cancelled, ACCEPTED: { target: 'processing' } },
    },
    processing: {
      meta: { due: 'the silence of its runner', owner: 'its runner' },
      on: {
        ...cancelled,
        UPDATED: { target: 'processing' },
        ABORTED: { target: 'pending' },
        RECEIVED: { target: 'completing' },
        FAILED: failed,
        TIMED_OUT: lost,
      },
    },
    completing: {
      meta: { due: 'the lease of the process that stores the result', owner: 'that process' },
      on: {
        ...cancelled,
        UPDATED: { target: 'completing' },
        ABORTED: { target: 'pending' },
        DONE: { target: 'completed' },
        FAILED: failed,
        TIMED_OUT: lost,
      },
    },
    completed: { meta: { end: true } },
    errored: { meta: { end: true } },
    cancelled: { meta: { end: true } },
    'parent-errored': { meta: { end: true } },
    'parent-cancelled': { meta: { end: true } },
  },
})

/** Time in ms until the job is taken from its runner, or the process that stores the result counts as dead; null for the others. */
export function dueIn(state: RunnerJobState, _context: RunnerJobContext, settings: RunnerJobSettings): number | null {
  if (state === 'processing') return settings.stalled_after
  return state === 'completing' ? settings.lease : null
}
