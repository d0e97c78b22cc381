// One activity of another server: stored until it has had its effect, once.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type IncomingActivityState = 'unverified' | 'received' | 'retrying' | 'done' | 'dropped' | 'parked'

export interface IncomingActivityContext {
  /** Failed attempts: to fetch the key while unverified, then to handle it. */
  tries: number
  /** Reason of the last failure, or why it is parked or dropped; null without a failure. */
  reason: string | null
}

/** From `vireo.federation.inbox` of the configuration. */
export interface IncomingActivitySettings extends BackOff {
  attempts: number
}

export type IncomingActivityEvent =
  /** The signature is valid. */
  | { type: 'VERIFIED' }
  /** The signature is invalid, or no key can be fetched. */
  | { type: 'FORGED'; reason: string }
  /** It had its effect, or none because it is irrelevant here. */
  | { type: 'HANDLED' }
  /** A retry may succeed: a lookup failed, a row was locked. */
  | { type: 'FAILED'; reason: string; settings: IncomingActivitySettings }
  /** No retry can succeed: a bug, or an unreadable document. */
  | { type: 'POISONED'; reason: string }
  | { type: 'RETRIED' }
  /** An admin dropped it. */
  | { type: 'GIVEN_UP' }
  | { type: 'TIMED_OUT' }

/** A new activity; `verified` if the signature was checked with a known key on arrival. */
export function initialIncomingActivity(verified: boolean): Snapshot<IncomingActivityState, IncomingActivityContext> {
  return { state: verified ? 'received' : 'unverified', context: { tries: 0, reason: null } }
}

const flow = setup({
  types: { context: {} as IncomingActivityContext, events: {} as IncomingActivityEvent, meta: {} as StateMeta },
  actions: {
    countTry: assign(({ context, event }) => (event.type === 'FAILED' ? { tries: context.tries + 1, reason: event.reason } : context)),
    noteReason: assign({
      reason: ({ context, event }) => (event.type === 'POISONED' || event.type === 'FORGED' ? event.reason : context.reason),
    }),
    startAnew: assign({ tries: 0, reason: null }),
  },
  guards: {
    lastTry: ({ context, event }) => event.type === 'FAILED' && context.tries + 1 >= event.settings.attempts,
  },
})

const handling = {
  HANDLED: { target: 'done' },
  POISONED: { target: 'parked', actions: 'noteReason' },
  FAILED: [
    { guard: 'lastTry', target: 'parked', actions: 'countTry', description: 'fifth try' },
    { target: 'retrying', actions: 'countTry', description: 'before that' },
  ],
} as const

export const incomingActivityMachine = flow.createMachine({
  id: 'incoming-activity',
  context: initialIncomingActivity(false).context,
  initial: 'unverified',
  states: {
    unverified: {
      meta: { due: 'back-off between fetches of the key, 5 tries', owner: "the lane of the remote actor's host" },
      on: {
        VERIFIED: { target: 'received', actions: 'startAnew' },
        FORGED: { target: 'dropped', actions: 'noteReason' },
        FAILED: [
          { guard: 'lastTry', target: 'dropped', actions: 'countTry', description: 'fifth try' },
          { target: 'unverified', actions: 'countTry', description: 'before that' },
        ],
        TIMED_OUT: { target: 'unverified', description: 'key requested again' },
      },
    },
    received: {
      meta: { owner: 'the lane of the remote actor' },
      on: handling,
    },
    retrying: {
      meta: { due: 'back-off, 5 tries', owner: 'the lane of the remote actor' },
      on: { ...handling, TIMED_OUT: { target: 'received' } },
    },
    done: { meta: { end: true } },
    dropped: { meta: { end: true } },
    parked: {
      meta: { owner: 'an admin retries, or the clean-up drops it' },
      on: { RETRIED: { target: 'received', actions: 'startAnew' }, GIVEN_UP: { target: 'done' } },
    },
  },
})

/** Time in ms until the next attempt; null before the first failure, so that its lane may take it now, and after the end. */
export function dueIn(state: IncomingActivityState, context: IncomingActivityContext, settings: IncomingActivitySettings): number | null {
  const waits = state === 'retrying' || (state === 'unverified' && context.tries > 0)
  return waits ? backOff(settings, context.tries) : null
}
