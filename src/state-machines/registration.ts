// A registration request: the applicant verifies the address if required, moderators decide.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type RegistrationState = 'requested' | 'verified' | 'accepted' | 'rejected' | 'deleted'

export interface RegistrationContext {
  /** True if the address is verified; null if no verification is required. */
  emailVerified: boolean | null
}

export type RegistrationEvent =
  /** The applicant requests the verification link again. */
  { type: 'LINK_ASKED' } | { type: 'EMAIL_VERIFIED' } | { type: 'ACCEPTED' } | { type: 'REJECTED' } | { type: 'DELETED' }

export const initialRegistration: Snapshot<RegistrationState, RegistrationContext> = {
  state: 'requested',
  context: { emailVerified: null },
}

const decision = { ACCEPTED: { target: 'accepted' }, REJECTED: { target: 'rejected' } } as const
const deletion = { DELETED: { target: 'deleted' } } as const

export const registrationMachine = setup({
  types: { context: {} as RegistrationContext, events: {} as RegistrationEvent, meta: {} as StateMeta },
  guards: { unverified: ({ context }) => context.emailVerified === false },
}).createMachine({
  id: 'registration',
  context: initialRegistration.context,
  initial: 'requested',
  states: {
    requested: {
      meta: { owner: 'the applicant verifies the address (the link may be requested again), a moderator decides' },
      on: {
        ...decision,
        ...deletion,
        LINK_ASKED: { guard: 'unverified', target: 'requested', description: 'another mail with a link' },
        EMAIL_VERIFIED: { guard: 'unverified', target: 'verified', actions: assign({ emailVerified: true }) },
      },
    },
    verified: {
      meta: { owner: 'a moderator decides' },
      on: {
        ...decision,
        ...deletion,
        EMAIL_VERIFIED: { target: 'verified', description: 'the link was followed again' },
      },
    },
    accepted: { meta: { owner: 'a moderator deletes it; the account stays' }, on: deletion },
    rejected: { meta: { owner: 'a moderator deletes it, so that it can be requested again' }, on: deletion },
    deleted: { meta: { end: true } },
  },
})
