// Every move of the machine `two-factor`.

import { dueIn, initialTwoFactor, twoFactorMachine } from '../../../src/state-machines/two-factor.ts'
import { defineTable } from './table.ts'

const minute = 60_000

export const table = defineTable({
  machine: twoFactorMachine,
  starts: ['off'],
  context: initialTwoFactor.context,
  settings: { two_factor_request: 10 * minute },
  dueIn,
  rows: [
    { from: 'off', event: { type: 'REQUESTED' }, to: 'requested' },
    { from: 'off', event: { type: 'CONFIRMED' }, to: 'illegal' },
    { from: 'off', event: { type: 'DISABLED' }, to: 'illegal' },
    { from: 'off', event: { type: 'TIMED_OUT' }, to: 'illegal' },

    { from: 'requested', event: { type: 'REQUESTED' }, to: 'requested' },
    { from: 'requested', event: { type: 'CONFIRMED' }, to: 'on' },
    { from: 'requested', event: { type: 'DISABLED' }, to: 'illegal' },
    { from: 'requested', event: { type: 'TIMED_OUT' }, to: 'off' },

    { from: 'on', event: { type: 'REQUESTED' }, to: 'illegal' },
    { from: 'on', event: { type: 'CONFIRMED' }, to: 'illegal' },
    { from: 'on', event: { type: 'DISABLED' }, to: 'off' },
    { from: 'on', event: { type: 'TIMED_OUT' }, to: 'illegal' },
  ],
  dues: [
    { state: 'off', ms: null },
    { state: 'requested', ms: 10 * minute },
    { state: 'on', ms: null },
  ],
})
