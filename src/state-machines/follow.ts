// A follow between two actors, seen from this server: outgoing or incoming.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type FollowState = 'none' | 'pending' | 'accepted' | 'rejected' | 'expired'

export interface FollowContext {
  /** The follower's side: `us` for an outgoing follow, `them` for an incoming one. */
  by: 'us' | 'them'
  /** Time of the last request, in ms since the epoch. */
  askedAt: number
  /** How often the request was sent since then. */
  tries: number
  /** The admin rejected this follower: it stays rejected, however often it asks, until the admin accepts or removes it. */
  isRejectedByAdmin: boolean
}

/** From `vireo.federation.follow` of the configuration. */
export interface FollowSettings extends BackOff {
  /** How long an unanswered request is repeated, in ms. */
  retry_for: number
}

export type FollowEvent =
  /** `awaited`: the other side, or the admin, has to answer; `granted`: accepted automatically; `refused`: muted or closed. */
  | { type: 'REQUESTED'; by: 'us' | 'them'; at: number; answer: 'awaited' | 'granted' | 'refused' }
  | { type: 'ACCEPTED' }
  | { type: 'REJECTED' }
  /** The follower withdrew the follow. */
  | { type: 'WITHDRAWN' }
  /** The followed side, or an admin, removed the follower. */
  | { type: 'REMOVED' }
  /** One party muted or blocked the other. */
  | { type: 'BLOCKED' }
  | { type: 'TIMED_OUT'; at: number; settings: FollowSettings }

export const initialFollow: Snapshot<FollowState, FollowContext> = {
  state: 'none',
  context: { by: 'us', askedAt: 0, tries: 0, isRejectedByAdmin: false },
}

const flow = setup({
  types: { context: {} as FollowContext, events: {} as FollowEvent, meta: {} as StateMeta },
  actions: {
    ask: assign(({ context, event }) => (event.type === 'REQUESTED' ? { by: event.by, askedAt: event.at, tries: 1 } : context)),
    decide: assign({ isRejectedByAdmin: ({ context, event }) => event.type === 'REJECTED' && context.by === 'them' }),
  },
  guards: {
    awaited: ({ event }) => event.type === 'REQUESTED' && event.answer === 'awaited',
    granted: ({ event }) => event.type === 'REQUESTED' && event.answer === 'granted',
    refused: ({ event }) => event.type === 'REQUESTED' && event.answer === 'refused',
    rejectedByAdmin: ({ context }) => context.isRejectedByAdmin,
  },
})

const requested = [
  { guard: 'awaited', target: 'pending', actions: 'ask', description: 'an answer is needed' },
  { guard: 'granted', target: 'accepted', actions: 'ask', description: 'no approval needed' },
  { guard: 'refused', target: 'rejected', actions: 'ask', description: 'muted or closed' },
] as const
const gone = { WITHDRAWN: { target: 'none' }, REMOVED: { target: 'none' } } as const

export const followMachine = flow.createMachine({
  id: 'follow',
  context: initialFollow.context,
  initial: 'none',
  states: {
    none: {
      meta: { end: true },
      on: {
        REQUESTED: [requested[0], requested[1], { guard: 'refused', target: 'none', description: 'muted or closed: nothing is kept' }],
      },
    },
    pending: {
      meta: {
        due: 'an outgoing request is repeated with back-off, for 7 days',
        owner: 'the followed side answers; our admin does for requests to us',
      },
      on: {
        ...gone,
        REQUESTED: requested,
        ACCEPTED: { target: 'accepted' },
        REJECTED: { target: 'rejected', actions: 'decide' },
        BLOCKED: { target: 'rejected' },
        TIMED_OUT: [
          {
            guard: ({ context, event }) => context.by === 'us' && event.at - context.askedAt >= event.settings.retry_for,
            target: 'expired',
            description: 'no answer in 7 days',
          },
          {
            guard: ({ context }) => context.by === 'us',
            target: 'pending',
            actions: assign({ tries: ({ context }) => context.tries + 1 }),
            description: 'sent again',
          },
        ],
      },
    },
    accepted: {
      meta: { owner: 'either side ends it' },
      on: {
        ...gone,
        REQUESTED: [
          { guard: 'refused', target: 'rejected', actions: 'ask', description: 'muted or closed' },
          { target: 'accepted', description: 'Accept is sent again' },
        ],
        REJECTED: { target: 'rejected', actions: 'decide' },
        BLOCKED: { target: 'rejected' },
      },
    },
    rejected: {
      meta: { owner: 'asked again, accepted after all, or removed' },
      on: {
        REMOVED: gone.REMOVED,
        WITHDRAWN: [{ guard: 'rejectedByAdmin', target: 'rejected', description: 'the decision of the admin remains' }, gone.WITHDRAWN],
        REQUESTED: [{ guard: 'rejectedByAdmin', target: 'rejected', description: 'the decision of the admin remains' }, ...requested],
        ACCEPTED: { target: 'accepted', actions: 'decide' },
      },
    },
    expired: {
      meta: { owner: 'asked again, answered late, or removed' },
      on: {
        ...gone,
        REQUESTED: requested,
        ACCEPTED: { target: 'accepted' },
        REJECTED: { target: 'rejected', actions: 'decide' },
        BLOCKED: { target: 'rejected' },
      },
    },
  },
})

/** Time in ms until a local request is repeated or given up; null if the follow waits for a person. */
export function dueIn(state: FollowState, context: FollowContext, settings: FollowSettings): number | null {
  if (state !== 'pending' || context.by !== 'us') return null
  return Math.min(backOff(settings, context.tries), settings.retry_for)
}
