// Every move of the machine `delivery`.

import { deliveryMachine, dueIn, initialDelivery } from '../../../src/state-machines/delivery.ts'
import { defineTable } from './table.ts'

const minute = 60_000
const settings = {
  missing_inbox_strikes: 3,
  attempts: 8,
  initial_backoff: minute,
  max_backoff: 12 * 60 * minute,
}
export const failed = { type: 'FAILED', at: 1000, tookOthers: false, isBusy: false, settings } as const
const tried = { tries: 5 }

export const table = defineTable({
  machine: deliveryMachine,
  starts: ['waiting'],
  context: initialDelivery.context,
  settings,
  dueIn,
  rows: [
    { from: 'waiting', event: { type: 'SENT' }, to: 'sent', gives: { tries: 1 } },
    { from: 'waiting', with: tried, event: failed, to: 'waiting', gives: { tries: 6, failedAt: 1000 } },
    {
      from: 'waiting',
      with: { tries: 1, failedAt: 500 },
      event: { ...failed, tookOthers: true },
      to: 'waiting',
      gives: { tries: 2, failedAt: 1000, refusals: 1, waits: 1, wait: minute },
    },
    {
      from: 'waiting',
      with: { tries: 2, failedAt: 500, refusals: 1, waits: 1, wait: minute },
      event: { ...failed, tookOthers: true, retryAfter: 10 * minute },
      to: 'waiting',
      gives: { tries: 3, failedAt: 1000, refusals: 2, waits: 2, wait: 10 * minute },
    },
    {
      from: 'waiting',
      with: { tries: 9, refusals: 7, waits: 7, wait: 64 * minute },
      event: { ...failed, tookOthers: true, isBusy: true },
      to: 'waiting',
      gives: { tries: 10, failedAt: 1000, refusals: 7, waits: 8, wait: 128 * minute },
    },
    {
      from: 'waiting',
      with: { tries: 2, failedAt: 500, refusals: 1, waits: 1, wait: minute },
      event: failed,
      to: 'waiting',
      gives: { tries: 3, failedAt: 1000, refusals: 1, waits: 2, wait: 2 * minute },
    },
    {
      from: 'waiting',
      with: { tries: 9, refusals: 7, waits: 9, wait: 256 * minute },
      event: { ...failed, tookOthers: true },
      to: 'parked',
      gives: { tries: 10, failedAt: 1000, refusals: 8, reason: 'poisoned' },
    },
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
      event: { type: 'NOT_FOUND', at: 1000, settings },
      to: 'waiting',
      gives: { tries: 2, notFound: 2, failedAt: 1000, waits: 1, wait: minute },
    },
    {
      from: 'waiting',
      with: { tries: 4, notFound: 2 },
      event: { type: 'NOT_FOUND', at: 1000, settings },
      to: 'parked',
      gives: { tries: 5, notFound: 3, reason: 'not-found' },
    },
    { from: 'waiting', event: { type: 'GONE' }, to: 'parked', gives: { tries: 1, reason: 'inbox-gone' } },
    { from: 'waiting', with: tried, event: { type: 'BLOCKED' }, to: 'parked', gives: { reason: 'blocked' } },
    {
      from: 'waiting',
      with: tried,
      event: { type: 'INBOX_LOST', reason: 'not-found' },
      to: 'parked',
      gives: { reason: 'not-found' },
    },
    {
      from: 'waiting',
      with: { ...tried, waits: 3, wait: 4 * minute },
      event: { type: 'HOST_RETRIED' },
      to: 'waiting',
      gives: { wait: 0 },
    },
    { from: 'waiting', with: { ...tried, waits: 3, wait: 4 * minute }, event: { type: 'TIMED_OUT' }, to: 'waiting' },

    {
      from: 'parked',
      with: { tries: 5, notFound: 3, profile: 1, reason: 'not-found' },
      event: { type: 'RETRIED' },
      to: 'waiting',
      gives: initialDelivery.context,
    },
  ],
  dues: [
    { state: 'waiting', ms: null },
    { state: 'waiting', with: { wait: 4 * minute }, ms: 4 * minute },
    { state: 'sent', ms: null },
    { state: 'parked', ms: null },
  ],
})
