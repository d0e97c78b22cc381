// A local user: active, blocked, or deleted.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type UserState = 'active' | 'blocked' | 'deleted'

export interface UserContext {
  /** Reason of the block, if given. */
  reason: string | null
}

export type UserEvent =
  | { type: 'BLOCKED'; reason: string | null }
  | { type: 'UNBLOCKED' }
  /** By the user or by the staff. */
  | { type: 'REMOVED' }

export const initialUser: Snapshot<UserState, UserContext> = { state: 'active', context: { reason: null } }

const flow = setup({
  types: { context: {} as UserContext, events: {} as UserEvent, meta: {} as StateMeta },
  actions: {
    keepReason: assign({ reason: ({ event }) => (event.type === 'BLOCKED' ? event.reason : null) }),
    dropReason: assign({ reason: null }),
  },
})

export const userMachine = flow.createMachine({
  id: 'user',
  context: initialUser.context,
  initial: 'active',
  states: {
    active: {
      meta: { owner: 'the staff, or the user who leaves' },
      on: {
        BLOCKED: { target: 'blocked', actions: 'keepReason' },
        UNBLOCKED: { target: 'active' },
        REMOVED: { target: 'deleted' },
      },
    },
    blocked: {
      meta: { owner: 'the staff' },
      on: {
        BLOCKED: { target: 'blocked', actions: 'keepReason', description: 'the reason is another one' },
        UNBLOCKED: { target: 'active', actions: 'dropReason' },
        REMOVED: { target: 'deleted', actions: 'dropReason' },
      },
    },
    // The row is deleted by the job `user-removal`, which is queued again until it is done. The name stays taken.
    deleted: { meta: { end: true } },
  },
})
