// A video that is offered to another user, who accepts or refuses.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type OwnershipChangeState = 'waiting' | 'accepted' | 'refused'

export type OwnershipChangeContext = Record<string, never>

export type OwnershipChangeEvent = { type: 'ACCEPTED' } | { type: 'REFUSED' }

export const initialOwnershipChange: Snapshot<OwnershipChangeState, OwnershipChangeContext> = {
  state: 'waiting',
  context: {},
}

export const ownershipChangeMachine = setup({
  types: {
    context: {} as OwnershipChangeContext,
    events: {} as OwnershipChangeEvent,
    meta: {} as StateMeta,
  },
}).createMachine({
  id: 'ownership-change',
  context: initialOwnershipChange.context,
  initial: 'waiting',
  states: {
    waiting: {
      meta: { owner: 'who is to have the video decides; the offer goes with the video and with either account' },
      on: { ACCEPTED: { target: 'accepted' }, REFUSED: { target: 'refused' } },
    },
    accepted: { meta: { end: true } },
    refused: { meta: { end: true } },
  },
})
