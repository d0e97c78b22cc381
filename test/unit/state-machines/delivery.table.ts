// Every move of the machine `delivery`.

import { deliveryMachine, dueIn, initialDelivery } from '../../../src/state-machines/delivery.ts'
import { defineTable } from './table.ts'

const month = 30 * 86_400_000
const settings = { drop_after: month, missing_inbox_strikes: 3 }
const tried = { tries: 5 }

export const table = defineTable({
  machine: deliveryMachine,
  starts: ['waiting'],
  context: initialDelivery.context,
  settings,
  dueIn,
  rows: [
    { from: 'waiting', event: { type: 'SENT' }, to: 'sent', gives: { tries: 1 } },
    { from: 'waiting', with: tried, event: { type: 'FAILED' }, to: 'waiting', gives: { tries: 6 } },
    { from: 'waiting', event: { type: 'UNAUTHORIZED' }, to: 'waiting', gives: { tries: 1, profile: 1 } },
    {
      from: 'waiting',
      with: { tries: 1, profile: 1 },
      event: { type: 'UNAUTHORIZED' },
      to: 'parked',
      gives: { tries: 2, reason: 'refused' },
    },
    { from: 'waiting', event: { type: 'UNSUPPORTED' }, to: 'parked', gives: { tries: 1, reason: 'unsupported' } },
    {
      from: 'waiting',
      with: { tries: 1, notFound: 1 },
      event: { type: 'NOT_FOUND', settings },
      to: 'waiting',
      gives: { tries: 2, notFound: 2 },
    },
    {
      from: 'waiting',
      with: { tries: 4, notFound: 2 },
      event: { type: 'NOT_FOUND', settings },
      to: 'parked',
      gives: { tries: 5, notFound: 3, reason: 'not-found' },
    },
    { from: 'waiting', event: { type: 'GONE' }, to: 'parked', gives: { tries: 1, reason: 'inbox-gone' } },
    { from: 'waiting', with: tried, event: { type: 'BLOCKED' }, to: 'parked', gives: { reason: 'blocked' } },
    { from: 'waiting', with: tried, event: { type: 'TIMED_OUT' }, to: 'parked', gives: { reason: 'expired' } },

    {
      from: 'parked',
      with: { tries: 5, notFound: 3, profile: 1, reason: 'not-found' },
      event: { type: 'RETRIED' },
      to: 'waiting',
      gives: initialDelivery.context,
    },
  ],
  dues: [
    { state: 'waiting', ms: month },
    { state: 'sent', ms: null },
    { state: 'parked', ms: null },
  ],
})
