// One activity on its way to one inbox. When it is tried is the matter of the machine `remote-host`, unless it fails for a
// reason of its own: then it has a back-off of its own.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type DeliveryState = 'waiting' | 'sent' | 'parked'

export type ParkReason = 'refused' | 'unsupported' | 'not-found' | 'inbox-gone' | 'poisoned' | 'blocked'

export interface DeliveryContext {
  /** Tries so far. */
  tries: number
  /** Answers 404 so far. */
  notFound: number
  /** Failures while the host took other deliveries. */
  refusals: number
  /** When it failed last, in ms since the epoch; 0 when it did not. */
  failedAt: number
  /** The own waits so far, of which each is twice the one before. */
  waits: number
  /** Ms from its last failure until it is tried again; 0 when that is the matter of the host. */
  wait: number
  /** Which of the two signature profiles the next try takes; 1 after the first was refused. */
  profile: 0 | 1
  /** Why it is parked; null otherwise. */
  reason: ParkReason | null
}

/** Of the configuration's `vireo.federation.delivery`. */
export interface DeliverySettings extends BackOff {
  /** Answers 404 after which it is parked. */
  missing_inbox_strikes: number
  /** Failures, while the host took other deliveries, after which it is parked. */
  attempts: number
}

export type DeliveryEvent =
  /** Any 2xx. */
  | { type: 'SENT' }
  /**
   * 408, 425, 429, 5xx or no answer: the host is at fault, unless it took others since this one failed last
   * (`tookOthers`). `isBusy` when it said that it has no time; `retryAfter` in ms, as it asked.
   */
  | {
      type: 'FAILED'
      at: number
      tookOthers: boolean
      isBusy: boolean
      retryAfter?: number
      settings: DeliverySettings
    }
  /** 401 or 403. */
  | { type: 'UNAUTHORIZED' }
  /** 400, or another 4xx that a repetition will not change. */
  | { type: 'UNSUPPORTED' }
  /** 404. */
  | { type: 'NOT_FOUND'; at: number; settings: DeliverySettings }
  /** 410: the inbox is gone. */
  | { type: 'GONE' }
  /** The host or the receiver was blocked. */
  | { type: 'BLOCKED' }
  /** Another delivery showed that nothing can be sent to this inbox. */
  | { type: 'INBOX_LOST'; reason: 'inbox-gone' | 'not-found' }
  /** An admin wants everything tried now that waits for the host. */
  | { type: 'HOST_RETRIED' }
  | { type: 'RETRIED' }
  | { type: 'TIMED_OUT' }

export const initialDelivery: Snapshot<DeliveryState, DeliveryContext> = {
  state: 'waiting',
  context: { tries: 0, notFound: 0, refusals: 0, failedAt: 0, waits: 0, wait: 0, profile: 0, reason: null },
}

const flow = setup({
  types: { context: {} as DeliveryContext, events: {} as DeliveryEvent, meta: {} as StateMeta },
})

/** A wait of its own, twice the last. */
function putOff(context: DeliveryContext, { at, retryAfter = 0, settings }: OwnFailure): Partial<DeliveryContext> {
  const waits = context.waits + 1
  const wait = Math.max(backOff(settings, waits), Math.min(retryAfter, settings.max_backoff))
  return { tries: context.tries + 1, failedAt: at, waits, wait }
}

interface OwnFailure {
  at: number
  retryAfter?: number
  settings: DeliverySettings
}

const oneMoreTry = ({ context }: { context: DeliveryContext }): number => context.tries + 1

export const deliveryMachine = flow.createMachine({
  id: 'delivery',
  context: initialDelivery.context,
  initial: 'waiting',
  states: {
    waiting: {
      meta: {
        due: 'a back-off of its own, when it failed while the host took others',
        owner: 'the lane of its host; the clean-up drops it when it is unsent for 30 days',
      },
      on: {
        SENT: { target: 'sent', actions: assign({ tries: oneMoreTry }) },
        FAILED: [
          {
            guard: ({ context, event }) => event.tookOthers && !event.isBusy && context.refusals + 1 >= event.settings.attempts,
            target: 'parked',
            actions: assign({
              tries: oneMoreTry,
              refusals: ({ context }) => context.refusals + 1,
              failedAt: ({ event }) => event.at,
              reason: 'poisoned',
            }),
            description: 'failed too often while the host took others',
          },
          {
            guard: ({ event }) => event.tookOthers,
            target: 'waiting',
            actions: assign(({ context, event }) => ({
              ...putOff(context, event),
              refusals: context.refusals + (event.isBusy ? 0 : 1),
            })),
            description: 'the host took others: a back-off of its own',
          },
          {
            // Whether the host is down is not known by the one delivery that fails there anyway.
            guard: ({ context }) => context.refusals > 0,
            target: 'waiting',
            actions: assign(({ context, event }) => putOff(context, event)),
            description: 'failed before while the host took others',
          },
          {
            target: 'waiting',
            actions: assign({ tries: oneMoreTry, failedAt: ({ event }) => event.at, wait: 0 }),
            description: 'the host fails: with its back-off',
          },
        ],
        UNAUTHORIZED: [
          {
            guard: ({ context }) => context.profile === 0,
            target: 'waiting',
            actions: assign({ tries: oneMoreTry, profile: 1 }),
            description: 'other signature profile',
          },
          {
            target: 'parked',
            actions: assign({ tries: oneMoreTry, reason: 'refused' }),
            description: 'both profiles refused',
          },
        ],
        UNSUPPORTED: { target: 'parked', actions: assign({ tries: oneMoreTry, reason: 'unsupported' }) },
        NOT_FOUND: [
          {
            guard: ({ context, event }) => context.notFound + 1 >= event.settings.missing_inbox_strikes,
            target: 'parked',
            actions: assign({
              tries: oneMoreTry,
              notFound: ({ context }) => context.notFound + 1,
              reason: 'not-found',
            }),
            description: 'third time',
          },
          {
            target: 'waiting',
            actions: assign(({ context, event }) => ({ ...putOff(context, event), notFound: context.notFound + 1 })),
            description: 'before that, with a back-off of its own',
          },
        ],
        GONE: { target: 'parked', actions: assign({ tries: oneMoreTry, reason: 'inbox-gone' }) },
        BLOCKED: { target: 'parked', actions: assign({ reason: 'blocked' }) },
        INBOX_LOST: { target: 'parked', actions: assign({ reason: ({ event }) => event.reason }) },
        HOST_RETRIED: { target: 'waiting', actions: assign({ wait: 0 }) },
        TIMED_OUT: { target: 'waiting', description: 'tried again' },
      },
    },
    sent: { meta: { end: true } },
    parked: {
      meta: { owner: 'an admin retries, or the clean-up drops it' },
      on: { RETRIED: { target: 'waiting', actions: assign(initialDelivery.context) } },
    },
  },
})

/** Time in ms, from its last failure, until it is tried again; null when that is the matter of its host, or it is sent or parked. */
export function dueIn(state: DeliveryState, { wait }: DeliveryContext): number | null {
  return state === 'waiting' && wait > 0 ? wait : null
}
