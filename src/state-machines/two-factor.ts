// Two-factor login of a user: requested, confirmed with a first code, disabled.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type TwoFactorState = 'off' | 'requested' | 'on'
export type TwoFactorContext = Record<string, never>

/** From `vireo.lifetimes` of the configuration. */
export interface TwoFactorSettings {
  /** How long a request may wait for its first code, in ms. */
  two_factor_request: number
}

export type TwoFactorEvent =
  /** A new secret was issued; it replaces an earlier one that was not confirmed. */
  | { type: 'REQUESTED' }
  /** The app showed a code of that secret. */
  | { type: 'CONFIRMED' }
  | { type: 'DISABLED' }
  | { type: 'TIMED_OUT' }

export const initialTwoFactor: Snapshot<TwoFactorState, TwoFactorContext> = { state: 'off', context: {} }

export const twoFactorMachine = setup({
  types: { context: {} as TwoFactorContext, events: {} as TwoFactorEvent, meta: {} as StateMeta },
}).createMachine({
  id: 'two-factor',
  context: initialTwoFactor.context,
  initial: 'off',
  states: {
    off: { meta: { end: true }, on: { REQUESTED: { target: 'requested' } } },
    requested: {
      meta: { due: 'a request that is not confirmed in 10 min', owner: 'the user confirms with a code' },
      on: {
        REQUESTED: { target: 'requested', description: 'with another secret' },
        CONFIRMED: { target: 'on' },
        TIMED_OUT: { target: 'off' },
      },
    },
    on: { meta: { owner: 'the user, or who may manage the user' }, on: { DISABLED: { target: 'off' } } },
  },
})

/** Time in ms until a request expires; null if none waits. */
export function dueIn(state: TwoFactorState, _context: TwoFactorContext, settings: TwoFactorSettings): number | null {
  return state === 'requested' ? settings.two_factor_request : null
}
