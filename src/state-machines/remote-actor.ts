// A remote actor: known, removed while its content is being deleted, or removed except for what blocks refer to.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type RemoteActorState = 'known' | 'leaving' | 'left'
export type RemoteActorContext = Record<string, never>

export type RemoteActorEvent =
  /** It removed itself, or its server does not know it any more. */
  | { type: 'GONE' }
  /** All its content is deleted here. */
  | { type: 'EMPTIED' }
  /** It exists again. */
  | { type: 'MET' }

export const initialRemoteActor: Snapshot<RemoteActorState, RemoteActorContext> = { state: 'known', context: {} }

export const remoteActorMachine = setup({
  types: { context: {} as RemoteActorContext, events: {} as RemoteActorEvent, meta: {} as StateMeta },
}).createMachine({
  id: 'remote-actor',
  context: initialRemoteActor.context,
  initial: 'known',
  states: {
    known: {
      meta: { owner: 'its server' },
      on: { GONE: { target: 'leaving' } },
    },
    leaving: {
      meta: { owner: 'the job `remote-actor-removal`, which is queued again until it is done' },
      on: { EMPTIED: { target: 'left' } },
    },
    // The row is deleted at once, or when nobody blocks the account any more.
    left: {
      meta: { owner: 'those who block its account; its server' },
      on: { MET: { target: 'known' } },
    },
  },
})
