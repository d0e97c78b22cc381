// The known state of another server: it responds, it fails and is retried, or it is dormant until it sends something.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type RemoteHostState = 'healthy' | 'failing' | 'dormant'

export interface RemoteHostContext {
  /** Failures since the last success. */
  failures: number
  /** Time of the first of them, in ms since the epoch. */
  failingSince: number
  /** Time of the last of them, in ms since the epoch. */
  failedAt: number
  /** The Retry-After in ms of the last of them; 0 without one. */
  retryAfter: number
  /** True if the host sent an activity since. */
  isHeard: boolean
  /** True if an admin requested a retry now. */
  isRetried: boolean
}

/** From `vireo.federation.delivery` of the configuration. */
export interface RemoteHostSettings extends BackOff {
  /** How long a host may fail before nothing more is sent to it, in ms. */
  give_up_after: number
}

export type RemoteHostEvent =
  | { type: 'SUCCEEDED' }
  /** A delivery failed because of the host. `retryAfter` in ms, if given. */
  | { type: 'FAILED'; at: number; retryAfter?: number; settings: RemoteHostSettings }
  /** A verified activity arrived from the host. */
  | { type: 'HEARD' }
  /** An admin requests a retry now. */
  | { type: 'RETRIED' }
  | { type: 'TIMED_OUT' }

export const initialRemoteHost: Snapshot<RemoteHostState, RemoteHostContext> = {
  state: 'healthy',
  context: { failures: 0, failingSince: 0, failedAt: 0, retryAfter: 0, isHeard: false, isRetried: false },
}

const flow = setup({
  types: { context: {} as RemoteHostContext, events: {} as RemoteHostEvent, meta: {} as StateMeta },
  actions: {
    countFailure: assign(({ context, event }) =>
      event.type === 'FAILED'
        ? {
            failures: context.failures + 1,
            failingSince: context.failures === 0 ? event.at : context.failingSince,
            failedAt: event.at,
            retryAfter: Math.max(event.retryAfter ?? 0, 0),
            isHeard: false,
            isRetried: false,
          }
        : context,
    ),
    forget: assign(initialRemoteHost.context),
  },
})

export const remoteHostMachine = flow.createMachine({
  id: 'remote-host',
  context: initialRemoteHost.context,
  initial: 'healthy',
  states: {
    healthy: {
      meta: { owner: 'the next delivery' },
      on: {
        SUCCEEDED: { target: 'healthy' },
        HEARD: { target: 'healthy' },
        RETRIED: { target: 'healthy' },
        FAILED: { target: 'failing', actions: 'countFailure' },
      },
    },
    failing: {
      meta: { due: 'back-off from 1 min doubling to 12 h, or Retry-After if it is longer, for 7 days in all' },
      on: {
        SUCCEEDED: { target: 'healthy', actions: 'forget' },
        HEARD: {
          target: 'failing',
          actions: assign({ isHeard: true }),
          description: 'retried at once, unless it requested a wait',
        },
        RETRIED: {
          target: 'failing',
          actions: assign({ isRetried: true }),
          description: 'at once; the back-off goes on if it fails',
        },
        FAILED: [
          {
            guard: ({ context, event }) => event.at - context.failingSince >= event.settings.give_up_after,
            target: 'dormant',
            actions: 'countFailure',
            description: 'failing for 7 days',
          },
          { target: 'failing', actions: 'countFailure', description: 'n + 1' },
        ],
        TIMED_OUT: { target: 'failing', description: 'tried again' },
      },
    },
    dormant: {
      meta: { owner: 'any activity of the host' },
      on: {
        SUCCEEDED: { target: 'healthy', actions: 'forget' },
        HEARD: { target: 'healthy', actions: 'forget' },
        RETRIED: { target: 'healthy', actions: 'forget' },
        FAILED: { target: 'dormant', description: 'a delivery that was under way' },
      },
    },
  },
})

/** A host that sends activities but is unreachable is not retried for each of them. */
const HEARD_PAUSE_MS = 5_000

/** Time in ms from the last failure until the host is retried; null if it may be tried now, or not at all. */
export function dueIn(state: RemoteHostState, context: RemoteHostContext, settings: RemoteHostSettings): number | null {
  if (state !== 'failing' || context.isRetried) return null
  const usual = backOff(settings, context.failures)
  const own = context.isHeard ? Math.min(usual, HEARD_PAUSE_MS) : usual
  const wait = Math.max(own, Math.min(context.retryAfter, settings.max_backoff))
  const remaining = context.failingSince + settings.give_up_after - context.failedAt
  return Math.max(0, Math.min(wait, remaining))
}
