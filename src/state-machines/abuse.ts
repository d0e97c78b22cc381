// A report of abuse: moderators accept or reject it, and may open it again.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type AbuseState = 'pending' | 'accepted' | 'rejected'

export type AbuseContext = Record<string, never>

export type AbuseEvent = { type: 'ACCEPTED' } | { type: 'REJECTED' } | { type: 'REOPENED' }

export const initialAbuse: Snapshot<AbuseState, AbuseContext> = { state: 'pending', context: {} }

const moves = {
  ACCEPTED: { target: 'accepted' },
  REJECTED: { target: 'rejected' },
  REOPENED: { target: 'pending' },
} as const

export const abuseMachine = setup({
  types: { context: {} as AbuseContext, events: {} as AbuseEvent, meta: {} as StateMeta },
}).createMachine({
  id: 'abuse',
  context: initialAbuse.context,
  initial: 'pending',
  states: {
    pending: { meta: { owner: 'a moderator decides' }, on: moves },
    accepted: { meta: { owner: 'a moderator decides otherwise, or opens it again' }, on: moves },
    rejected: { meta: { owner: 'a moderator decides otherwise, or opens it again' }, on: moves },
  },
})
