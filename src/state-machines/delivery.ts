// One activity for one inbox. The machine `remote-host` schedules it, unless it fails for a reason of its own: then it has its own
// back-off.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type DeliveryState = 'waiting' | 'sent' | 'parked'

export type ParkReason = 'refused' | 'unsupported' | 'not-found' | 'inbox-gone' | 'poisoned' | 'blocked'

export interface DeliveryContext {
  /** Attempts so far. */
  tries: number
  /** 404 responses so far. */
  notFound: number
  /** Failures while the host accepted other deliveries. */
  refusals: number
  /** Time of its last failure, in ms since the epoch; 0 without one. */
  failedAt: number
  /** Number of its own waits so far, each twice the previous one. */
  waits: number
  /** Ms from its last failure until the next attempt; 0 if the host schedules it. */
  wait: number
  /** The signature profile of the next attempt; 1 after the first was refused. */
  profile: 0 | 1
  /** Why it is parked; null otherwise. */
  reason: ParkReason | null
}

/** From `vireo.federation.delivery` of the configuration. */
export interface DeliverySettings extends BackOff {
  /** 404 responses after which it is parked. */
  missing_inbox_strikes: number
  /** Failures, while the host accepted other deliveries, after which it is parked. */
  attempts: number
}

export type DeliveryEvent =
  /** Any 2xx. */
  | { type: 'SENT' }
  /**
   * 408, 425, 429, 5xx or no response: the host is at fault, unless it accepted others since this one last failed (`tookOthers`). `isBusy`
   * if it reported overload; `retryAfter` in ms, if given.
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
  /** The host or the recipient was blocked. */
  | { type: 'BLOCKED' }
  /** Another delivery showed that nothing can be sent to this inbox. */
  | { type: 'INBOX_LOST'; reason: 'inbox-gone' | 'not-found' }
  /** An admin requests a retry of everything that waits for the host. */
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

/** A wait of its own, twice the last one. */
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
        due: 'its own back-off, if it failed while the host accepted others',
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
            description: 'failed too often while the host accepted others',
          },
          {
            guard: ({ event }) => event.tookOthers,
            target: 'waiting',
            actions: assign(({ context, event }) => ({
              ...putOff(context, event),
              refusals: context.refusals + (event.isBusy ? 0 : 1),
            })),
            description: 'the host accepted others: its own back-off',
          },
          {
            // A single failing delivery cannot tell whether the host is down.
            guard: ({ context }) => context.refusals > 0,
            target: 'waiting',
            actions: assign(({ context, event }) => putOff(context, event)),
            description: 'failed before while the host accepted others',
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

/** Time in ms, from its last failure, until the next attempt; null if its host schedules it, or if it is sent or parked. */
export function dueIn(state: DeliveryState, { wait }: DeliveryContext): number | null {
  return state === 'waiting' && wait > 0 ? wait : null
}
