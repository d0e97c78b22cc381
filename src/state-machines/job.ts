// A job: deferred work, run at least once. A worker claims what is due and holds a lease on it while it runs.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed' | 'cancelled'

export interface JobContext {
  /** Failed attempts that were followed by another one. */
  failures: number
  /** Leases that expired because the worker's process died. */
  lostLeases: number
  /** Minimum wait in ms before the next attempt; 0 for the back-off alone. */
  wait: number
}

export type JobEvent =
  /** A worker claimed the job. */
  | { type: 'CLAIMED' }
  /** A heartbeat of the worker. */
  | { type: 'PROGRESSED' }
  | { type: 'DONE' }
  /** `isPermanent`: a retry cannot help. */
  | { type: 'FAILED'; attempts: number; isPermanent: boolean }
  /** It failed for the last time, and that could not be reported. */
  | { type: 'FAILURE_UNREPORTED' }
  /** The process of the worker died. */
  | { type: 'LEASE_LOST'; maxLostLeases: number }
  /** The sweeper reported the failure of a job that crashed its process each time. */
  | { type: 'GIVEN_UP' }
  /** Something that the job needs is unavailable: that is no failure of the job. */
  | { type: 'OUTAGE'; wait: number }
  /** Another transaction had locked what the job needs. */
  | { type: 'POSTPONED' }
  /** The process of the worker stops: another one may take the job at once. */
  | { type: 'GIVEN_BACK' }
  /** It is no longer wanted. */
  | { type: 'CANCELLED' }
  /** By an admin. */
  | { type: 'RETRIED' }
  /** By an admin: it counts as a job that crashed its process too often, so that the sweeper reports its failure. */
  | { type: 'STOPPED' }

/** More lost leases than any setting allows. */
const TOO_OFTEN = 1_000_000_000

const context: JobContext = { failures: 0, lostLeases: 0, wait: 0 }

/** A new job; `isDelayed` if it runs later. */
export const initialJob = (isDelayed: boolean): Snapshot<JobState, JobContext> => ({
  state: isDelayed ? 'delayed' : 'waiting',
  context,
})

const flow = setup({
  types: { context: {} as JobContext, events: {} as JobEvent, meta: {} as StateMeta },
  actions: {
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    countLoss: assign({ lostLeases: ({ context }) => context.lostLeases + 1 }),
    noteWait: assign({ wait: ({ event }) => (event.type === 'OUTAGE' ? event.wait : 0) }),
    forgetWait: assign({ wait: 0 }),
    startAnew: assign(context),
    countLossForEver: assign({ lostLeases: TOO_OFTEN }),
  },
  guards: {
    isLast: ({ context, event }) => event.type === 'FAILED' && (event.isPermanent || context.failures + 1 >= event.attempts),
    lostTooOften: ({ context, event }) => event.type === 'LEASE_LOST' && context.lostLeases >= event.maxLostLeases,
  },
})

const stopped = { target: 'active', actions: 'countLossForEver' } as const
const open = {
  CLAIMED: { target: 'active', actions: 'forgetWait' },
  CANCELLED: { target: 'cancelled' },
  STOPPED: stopped,
} as const

export const jobMachine = flow.createMachine({
  id: 'job',
  context,
  initial: 'waiting',
  states: {
    waiting: { meta: { owner: 'the next free worker' }, on: open },
    delayed: {
      meta: { due: 'back-off, the end of an outage, or the time that was asked for', dueEvent: 'CLAIMED' },
      on: open,
    },
    active: {
      meta: { owner: 'its worker, or the sweeper when the lease of that one has run out' },
      on: {
        PROGRESSED: { target: 'active' },
        DONE: { target: 'completed' },
        FAILED: [
          { guard: 'isLast', target: 'failed', description: 'no attempts left' },
          { target: 'delayed', actions: 'countFailure', description: 'attempts left' },
        ],
        FAILURE_UNREPORTED: { target: 'delayed', actions: 'countFailure' },
        LEASE_LOST: [
          {
            guard: 'lostTooOften',
            target: 'active',
            actions: 'countLoss',
            description: 'too often: the sweeper gives it up',
          },
          { target: 'waiting', actions: 'countLoss', description: 'another worker takes it' },
        ],
        GIVEN_UP: { target: 'failed' },
        OUTAGE: { target: 'delayed', actions: 'noteWait' },
        POSTPONED: { target: 'delayed' },
        GIVEN_BACK: { target: 'waiting' },
        CANCELLED: { target: 'cancelled' },
        STOPPED: stopped,
      },
    },
    completed: { meta: { end: true } },
    failed: {
      meta: { owner: 'an admin, or the clean-up' },
      on: { RETRIED: { target: 'waiting', actions: 'startAnew' } },
    },
    cancelled: { meta: { end: true } },
  },
})

/** Time in ms until a delayed job may be claimed; null for the others. */
export function dueIn(state: JobState, { failures, wait }: JobContext, settings: BackOff): number | null {
  return state === 'delayed' ? Math.max(wait, backOff(settings, failures)) : null
}
