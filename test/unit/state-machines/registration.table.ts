// Every move of the machine `registration`.

import { initialRegistration, registrationMachine } from '../../../src/state-machines/registration.ts'
import { defineTable } from './table.ts'

const unverified = { emailVerified: false } as const
const verified = { emailVerified: true } as const

export const table = defineTable({
  machine: registrationMachine,
  starts: ['requested'],
  context: initialRegistration.context,
  settings: null,
  rows: [
    { from: 'requested', event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'requested', with: unverified, event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'requested', event: { type: 'REJECTED' }, to: 'rejected' },
    { from: 'requested', event: { type: 'DELETED' }, to: 'deleted' },
    { from: 'requested', with: unverified, event: { type: 'LINK_ASKED' }, to: 'requested' },
    { from: 'requested', event: { type: 'LINK_ASKED' }, to: 'illegal' },
    { from: 'requested', with: unverified, event: { type: 'EMAIL_VERIFIED' }, to: 'verified', gives: verified },
    { from: 'requested', event: { type: 'EMAIL_VERIFIED' }, to: 'illegal' },

    { from: 'verified', with: verified, event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'verified', with: verified, event: { type: 'REJECTED' }, to: 'rejected' },
    { from: 'verified', with: verified, event: { type: 'DELETED' }, to: 'deleted' },
    { from: 'verified', with: verified, event: { type: 'EMAIL_VERIFIED' }, to: 'verified' },

    { from: 'accepted', event: { type: 'DELETED' }, to: 'deleted' },
    { from: 'rejected', event: { type: 'DELETED' }, to: 'deleted' },
  ],
  dues: [
    { state: 'requested', ms: null },
    { state: 'verified', ms: null },
    { state: 'accepted', ms: null },
    { state: 'rejected', ms: null },
    { state: 'deleted', ms: null },
  ],
})
