// One activity on its way to one inbox. When it is tried is the matter of the machine `remote-host`.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type DeliveryState = 'waiting' | 'sent' | 'parked'

export type ParkReason = 'refused' | 'unsupported' | 'not-found' | 'inbox-gone' | 'expired' | 'blocked'

export interface DeliveryContext {
  /** Tries so far. */
  tries: number
  /** Answers 404 so far. */
  notFound: number
  /** Which of the two signature profiles the next try takes; 1 after the first was refused. */
  profile: 0 | 1
  /** Why it is parked; null otherwise. */
  reason: ParkReason | null
}

/** Of the configuration's `vireo.federation.delivery`. */
export interface DeliverySettings {
  /** How long an unsent delivery is kept, in ms. */
  drop_after: number
  /** Answers 404 after which it is parked. */
  missing_inbox_strikes: number
}

export type DeliveryEvent =
  /** Any 2xx. */
  | { type: 'SENT' }
  /** 408, 425, 429, 5xx or no answer: the host is at fault, the delivery waits. */
  | { type: 'FAILED' }
  /** 401 or 403. */
  | { type: 'UNAUTHORIZED' }
  /** 400, or another 4xx that a repetition will not change. */
  | { type: 'UNSUPPORTED' }
  /** 404. */
  | { type: 'NOT_FOUND'; settings: DeliverySettings }
  /** 410: the inbox is gone. */
  | { type: 'GONE' }
  /** The host or the receiver was blocked. */
  | { type: 'BLOCKED' }
  | { type: 'RETRIED' }
  | { type: 'TIMED_OUT' }

export const initialDelivery: Snapshot<DeliveryState, DeliveryContext> = {
  state: 'waiting',
  context: { tries: 0, notFound: 0, profile: 0, reason: null },
}

const flow = setup({
  types: { context: {} as DeliveryContext, events: {} as DeliveryEvent, meta: {} as StateMeta },
})

const oneMoreTry = ({ context }: { context: DeliveryContext }): number => context.tries + 1

export const deliveryMachine = flow.createMachine({
  id: 'delivery',
  context: initialDelivery.context,
  initial: 'waiting',
  states: {
    waiting: {
      meta: { due: 'dropped when unsent for 30 days', owner: 'the lane of its host' },
      on: {
        SENT: { target: 'sent', actions: assign({ tries: oneMoreTry }) },
        FAILED: { target: 'waiting', actions: assign({ tries: oneMoreTry }) },
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
            actions: assign({ tries: oneMoreTry, notFound: ({ context }) => context.notFound + 1 }),
            description: 'before that',
          },
        ],
        GONE: { target: 'parked', actions: assign({ tries: oneMoreTry, reason: 'inbox-gone' }) },
        BLOCKED: { target: 'parked', actions: assign({ reason: 'blocked' }) },
        TIMED_OUT: { target: 'parked', actions: assign({ reason: 'expired' }) },
      },
    },
    sent: { meta: { end: true } },
    parked: {
      meta: { owner: 'an admin retries, or the clean-up drops it' },
      on: { RETRIED: { target: 'waiting', actions: assign(initialDelivery.context) } },
    },
  },
})

/** Time in ms, from the row's creation, until an unsent delivery is given up; null when it is sent or parked. */
export function dueIn(state: DeliveryState, _context: DeliveryContext, settings: DeliverySettings): number | null {
  return state === 'waiting' ? settings.drop_after : null
}
